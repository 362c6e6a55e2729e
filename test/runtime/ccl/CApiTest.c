/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C API of the collectives from C: one rank of a world on the host, with
 * buffers on the heap. Returns 0, or the line of the failure. */
#include "iris/ccl.h"
#include "support/CChecks.h"

#include <stdio.h>
#include <string.h>

#define REFUSES(expr, text)                                                    \
  do {                                                                         \
    CHECK((expr) != IRISRT_OK);                                                \
    if (!strstr(irisrtLastError(), text)) {                                    \
      fprintf(stderr, "%s: %s\n", #expr, irisrtLastError());                   \
      return __LINE__;                                                         \
    }                                                                          \
  } while (0)

enum { count = 50 };

static int useGroup(IrisRtWorld *world, IrisCclComm *comm, int32_t *in,
                    int32_t *out, uint32_t n) {
  const int32_t me = iriscclCommIndex(comm);
  for (int i = 0; i < count; ++i)
    in[i] = 1000 * me + i;
  TRY(iriscclPrepare(comm, IRISCCL_ALL_REDUCE, IRISCCL_I32, IRISCCL_SUM, NULL,
                     IRISCCL_ON_HEAP));
  TRY(iriscclPrepare(comm, IRISCCL_ALL_GATHER, IRISCCL_I8, IRISCCL_SUM, NULL,
                     IRISCCL_ANYWHERE));
  TRY(iriscclBarrier(comm, 0));
  TRY(iriscclAllReduce(comm, in, out, count, IRISCCL_I32, IRISCCL_SUM, 0,
                       NULL));
  TRY(irisrtSynchronize(world, 0));
  for (int32_t i = 0; i < count; ++i)
    CHECK(out[i] == (int32_t)n * i + 1000 * (int32_t)(n * (n - 1) / 2));
  TRY(iriscclAllGather(comm, in, out, count, IRISCCL_I32, 0, NULL));
  TRY(irisrtSynchronize(world, 0));
  for (int32_t i = 0; i < (int32_t)n * count; ++i)
    CHECK(out[i] == 1000 * (i / count) + i % count);
  TRY(iriscclBroadcast(comm, in, out, count, IRISCCL_I32, n - 1, 0, NULL));
  TRY(irisrtSynchronize(world, 0));
  for (int32_t i = 0; i < count; ++i)
    CHECK(out[i] == 1000 * (int32_t)(n - 1) + i);
  return 0;
}

int irisTestCclCApi(const char *job, uint32_t rank, uint32_t numRanks,
                    const char *cacheDirectory, const char *compiler) {
  IrisRtWorldOptions worldOptions;
  memset(&worldOptions, 0, sizeof(worldOptions));
  worldOptions.structBytes = sizeof(worldOptions);
  worldOptions.job = job;
  worldOptions.rank = rank;
  worldOptions.numRanks = numRanks;
  worldOptions.heapBytes = 16 << 20;
  IrisRtWorld *world = NULL;
  TRY(irisrtWorldCreate(&worldOptions, &world));

  IrisCclComm *comm = NULL;
  IrisCclCommOptions options;
  memset(&options, 0, sizeof(options));
  REFUSES(iriscclCommCreate(world, &options, &comm), "structBytes");
  CHECK(!comm && iriscclCommSize(comm) == 0 && iriscclCommIndex(comm) == -1);
  options.structBytes = sizeof(options);
  options.numRanks = 1;
  REFUSES(iriscclCommCreate(world, &options, &comm), "given together");
  REFUSES(iriscclCommCreate(NULL, NULL, &comm), "'world' is NULL");
  REFUSES(iriscclCommCreate(world, NULL, NULL), "'comm' is NULL");
  options.numRanks = 0;
  options.workspaceBytes = 65536;
  REFUSES(iriscclCommCreate(world, &options, &comm), "65536 bytes; expected");
  options.workspaceBytes = 1 << 20;
  options.cacheDirectory = cacheDirectory;
  options.compiler = compiler;
  options.checkCalls = 1;
  TRY(iriscclCommCreate(world, &options, &comm));
  CHECK(iriscclCommSize(comm) == numRanks);
  CHECK(iriscclCommIndex(comm) == (int32_t)rank);

  uint64_t in = 0, out = 0;
  TRY(irisrtAlloc(world, 1 << 16, &in));
  TRY(irisrtAlloc(world, 1 << 16, &out));
  void *a = (void *)(uintptr_t)in, *b = (void *)(uintptr_t)out;
  int line = useGroup(world, comm, a, b, numRanks);
  CHECK(line == 0);

  /* Arguments that every function rejects. */
  const IrisCclType type = (IrisCclType)15;
  const IrisCclReduction sum = IRISCCL_SUM;
  const char *why = "15 is no element type";
  REFUSES(iriscclAllGather(comm, a, b, 1, type, 0, NULL), why);
  REFUSES(iriscclAllReduce(comm, a, b, 1, type, sum, 0, NULL), why);
  REFUSES(iriscclReduceScatter(comm, a, b, 1, type, sum, 0, NULL), why);
  REFUSES(iriscclAllToAll(comm, a, b, 1, type, 0, NULL), why);
  REFUSES(iriscclBroadcast(comm, a, b, 1, type, 0, 0, NULL), why);
  REFUSES(iriscclReduce(comm, a, b, 1, type, sum, 0, 0, NULL), why);
  REFUSES(iriscclGather(comm, a, b, 1, type, 0, 0, NULL), why);
  REFUSES(iriscclScatter(comm, a, b, 1, type, 0, 0, NULL), why);
  REFUSES(iriscclSend(comm, a, 1, type, 0, 0, NULL), why);
  REFUSES(iriscclRecv(comm, b, 1, type, 0, 0, NULL), why);
  REFUSES(iriscclBarrier(NULL, 0), "'comm' is NULL");
  REFUSES(iriscclCommAddPackage(comm, NULL), "'package' is NULL");
  REFUSES(iriscclAddPackage(NULL), "'package' is NULL");
  IrisCclConfig config;
  memset(&config, 0, sizeof(config));
  REFUSES(iriscclAllGather(comm, a, b, 1, IRISCCL_F64, 0, &config),
          "IrisCclConfig.structBytes is 0");
  config.structBytes = sizeof(config);
  config.variant = "magic";
  REFUSES(iriscclAllGather(comm, a, b, 1, IRISCCL_F64, 0, &config),
          "no variant 'magic'");
  config.variant = "push";
  config.xcds = 100;
  REFUSES(iriscclAllGather(comm, a, b, 1, IRISCCL_F64, 0, &config),
          "xcds is 100");
  config.xcds = 8;
  TRY(iriscclAllGather(comm, a, b, 1, IRISCCL_F64, 0, &config));
  config.variant = NULL;
  config.staged = 1;
  TRY(iriscclAllReduce(comm, a, a, 1, IRISCCL_I32, sum, 0, &config));
  TRY(irisrtSync(world));

  TRY(iriscclCommDestroy(comm));
  TRY(iriscclCommDestroy(NULL));

  /* The odd ranks in descending order. */
  uint32_t ranks[4], n = 0;
  for (uint32_t i = numRanks; i-- > 0;)
    if (i % 2 == 1)
      ranks[n++] = i;
  if (n != 0) {
    options.ranks = ranks;
    options.numRanks = n;
    TRY(iriscclCommCreate(world, &options, &comm));
    CHECK(iriscclCommSize(comm) == n);
    if (iriscclCommIndex(comm) < 0)
      REFUSES(iriscclBarrier(comm, 0), "is no member");
    else
      CHECK(useGroup(world, comm, a, b, n) == 0);
    TRY(iriscclCommDestroy(comm));
  }
  TRY(irisrtSync(world));
  TRY(irisrtWorldDestroy(world));
  return 0;
}
