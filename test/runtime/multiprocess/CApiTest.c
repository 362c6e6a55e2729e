/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C API from C: one rank of a world that gathers and checks.  Returns 0,
 * or the line that went wrong. */
#include "iris/iris.h"
#include "support/CChecks.h"

#include <stdio.h>
#include <string.h>

/* Imports the second half of 8192 bytes, and passes what is no memory. */
static int useImports(IrisRtWorld *world, uint64_t memory) {
  const uint32_t rank = irisrtWorldRank(world), n = irisrtWorldNumRanks(world);
  uint64_t imported = 0, next = 0;
  int ordinary = 0;
  CHECK(irisrtImport(NULL, memory, 4096, &imported) == IRISRT_INVALID_ARGUMENT);
  CHECK(irisrtImport(world, memory, 4096, NULL) == IRISRT_INVALID_ARGUMENT);
  CHECK(irisrtImport(world, (uint64_t)(uintptr_t)&ordinary, 4, &imported) ==
        IRISRT_UNAVAILABLE);
  CHECK(strstr(irisrtLastError(), "ordinary memory"));
  CHECK(irisrtImport(world, memory, 0, &imported) == IRISRT_INVALID_ARGUMENT);
  CHECK(imported == 0);
  TRY(irisrtImport(world, memory + 4096, 4096, &imported));
  CHECK(irisrtImport(world, memory + 8188, 4, &next) ==
        IRISRT_INVALID_ARGUMENT);
  CHECK(strstr(irisrtLastError(), "imported already"));
  CHECK(irisrtIsSymmetric(world, imported, 4096));
  CHECK(!irisrtIsSymmetric(world, imported, 4097));
  TRY(irisrtTranslate(world, imported + 8, (rank + 1) % n, &next));
  *(uint32_t *)(uintptr_t)next = 77 + rank;
  TRY(irisrtSync(world));
  CHECK(*(uint32_t *)(uintptr_t)(memory + 4104) == 77 + (rank + n - 1) % n);
  CHECK(irisrtRelease(world, imported + 8) == IRISRT_INVALID_ARGUMENT);
  CHECK(irisrtRelease(NULL, imported) == IRISRT_INVALID_ARGUMENT);
  TRY(irisrtRelease(world, imported));
  CHECK(irisrtRelease(world, imported) == IRISRT_INVALID_ARGUMENT);
  CHECK(irisrtWorldFailure(world) == IRISRT_OK);
  return 0;
}

/* `memory` are 8192 bytes that peers can map. */
int irisTestCApi(const char *job, uint32_t rank, uint32_t numRanks,
                 const void *packageBytes, uint64_t packageSize,
                 uint64_t memory) {
  IrisRtWorldOptions options;
  memset(&options, 0, sizeof(options));
  IrisRtWorld *world = NULL;
  CHECK(irisrtWorldCreate(&options, &world) == IRISRT_INVALID_ARGUMENT);
  CHECK(strstr(irisrtLastError(), "structBytes"));
  CHECK(strcmp(irisrtStatusName(IRISRT_TIMEOUT), "timeout") == 0);
  options.structBytes = sizeof(options);
  options.device = IRISRT_DEVICE_EMULATED; /* without a chip */
  CHECK(irisrtWorldCreate(&options, &world) == IRISRT_INVALID_ARGUMENT);
  options.device = IRISRT_DEVICE_HOST;
  options.emulatedChip = "gfx942";
  CHECK(irisrtWorldCreate(&options, &world) == IRISRT_INVALID_ARGUMENT);
  memset(&options, 0, sizeof(options));

  options.structBytes = sizeof(options);
  options.job = job;
  options.rank = rank;
  options.numRanks = numRanks;
  options.heapBytes = 16 << 20;
  TRY(irisrtWorldCreate(&options, &world));
  CHECK(irisrtWorldRank(world) == rank);
  CHECK(irisrtWorldNumRanks(world) == numRanks);
  CHECK(strcmp(irisrtWorldTarget(world), "host") == 0);
  IrisRtContext context;
  TRY(irisrtWorldContext(world, &context));
  CHECK(context.numRanks == numRanks);

  IrisRtPackage *package = NULL;
  TRY(irisrtPackageFromBytes(packageBytes, packageSize, &package));
  TRY(irisrtLoad(world, package));
  irisrtPackageClose(package);
  CHECK(irisrtPackageOpen("/nowhere", &package) != IRISRT_OK);
  CHECK(package == NULL);
  IrisRtKernel *fill = NULL, *gather = NULL, *check = NULL;
  TRY(irisrtKernelFind(world, "fill", &fill));
  TRY(irisrtKernelFind(world, "kernels::all_gather", &gather));
  TRY(irisrtKernelFind(world, "check_gathered", &check));
  CHECK(irisrtKernelFind(world, "nothing", &fill) != IRISRT_OK);
  uint32_t most = 0;
  TRY(irisrtKernelMaxCoresident(world, gather, &most));
  CHECK(most == 1024);

  int64_t count = 1000, total = count * numRanks;
  uint64_t a, b, peer;
  TRY(irisrtAlloc(world, count * 4, &a));
  TRY(irisrtAlloc(world, total * 4, &b));
  CHECK(irisrtIsSymmetric(world, b, total * 4));
  CHECK(!irisrtIsSymmetric(world, b, total * 4 + 4096));
  TRY(irisrtTranslate(world, a, rank, &peer));
  CHECK(peer == a);
  IrisRtArg args[5] = {
      irisrtContextArg(), irisrtMemrefArg(IRISRT_ELT_I32, a, 1, &count),
      irisrtMemrefArg(IRISRT_ELT_I32, b, 1, &total),
      irisrtScalarArg(IRISRT_ELT_I32, 0), irisrtScalarArg(IRISRT_ELT_I32, 0)};
  uint64_t programs[3] = {2, 1, 1};
  CHECK(irisrtLaunch(world, fill, programs, args, 4, 0) ==
        IRISRT_INVALID_ARGUMENT);

  uint64_t stream, start, end, graph;
  double ms = -1;
  TRY(irisrtStreamCreate(world, &stream));
  /* The ranks run on the host, which has no default stream of its own. */
  CHECK(irisrtStreamAdopt(world, NULL, &end) == IRISRT_INVALID_ARGUMENT);
  CHECK(irisrtStreamAdopt(world, NULL, NULL) == IRISRT_INVALID_ARGUMENT);
  TRY(irisrtEventCreate(world, &start));
  TRY(irisrtEventCreate(world, &end));
  TRY(irisrtEventRecord(world, start, 0));
  TRY(irisrtLaunch(world, fill, programs, args, 5, 0));
  TRY(irisrtEventRecord(world, end, 0));
  TRY(irisrtStreamWaitEvent(world, stream, end));
  TRY(irisrtCaptureBegin(world, stream));
  TRY(irisrtLaunch(world, gather, programs, args, 5, stream));
  TRY(irisrtCaptureEnd(world, stream, &graph));
  TRY(irisrtGraphLaunch(world, graph, stream));
  TRY(irisrtSync(world));
  TRY(irisrtEventElapsedMs(world, start, end, &ms));
  CHECK(ms >= 0);
  TRY(irisrtLaunch(world, check, programs, args, 5, 0));
  TRY(irisrtVerify(world));
  uint64_t checked = 0, failed = 1;
  irisrtExpects(world, &checked, &failed);
  CHECK(checked == (uint64_t)total && failed == 0);

  int32_t word = 7;
  TRY(irisrtCopyToDevice(world, a, &word, 4, 0));
  TRY(irisrtCopyOnDevice(world, b, a, 4, 0));
  TRY(irisrtZero(world, a, 4, 0));
  TRY(irisrtCopyToHost(world, &word, a, 4, 0));
  TRY(irisrtSynchronize(world, 0));
  CHECK(word == 0);
  TRY(irisrtBarrier(world));
  TRY(irisrtGraphDestroy(world, graph));
  TRY(irisrtEventDestroy(world, start));
  TRY(irisrtEventDestroy(world, end));
  TRY(irisrtStreamDestroy(world, stream));
  TRY(irisrtFree(world, a));
  CHECK(irisrtFree(world, a) == IRISRT_INVALID_ARGUMENT);
  TRY(irisrtFree(world, b));
  CHECK(irisrtAlloc(NULL, 1, &a) == IRISRT_INVALID_ARGUMENT);
  CHECK(irisrtWorldFailure(world) == IRISRT_OK);
  CHECK(irisrtWorldPoll(world) == IRISRT_OK);
  void *native = NULL;
  uint64_t adopted = 0;
  CHECK(irisrtHostStreamCreate(&native) == IRISRT_OK);
  CHECK(irisrtStreamAdopt(world, native, &adopted) == IRISRT_OK);
  CHECK(irisrtStreamForget(world, adopted) == IRISRT_OK);
  CHECK(irisrtStreamForget(world, adopted) == IRISRT_INVALID_ARGUMENT);
  CHECK(irisrtHostStreamSynchronize(native) == IRISRT_OK);
  CHECK(irisrtHostStreamDestroy(native) == IRISRT_OK);
  CHECK(irisrtHostStreamDestroy(native) == IRISRT_INVALID_ARGUMENT);
  CHECK(irisrtHostStreamCreate(NULL) == IRISRT_INVALID_ARGUMENT);
  int wrong = useImports(world, memory);
  if (wrong != 0)
    return wrong;
  TRY(irisrtWorldDestroy(world));
  return 0;
}
