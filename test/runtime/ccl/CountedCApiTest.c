/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Collectives with counts through the C API: C itself compiles this.  Returns
 * the line of what did not hold, or 0. */
#include "iris/ccl.h"
#include "iris/iris.h"

#include <string.h>

#include "support/CChecks.h"

/* Rank i sends i + j elements to rank j. */
int irisTestCountedCApi(const char *job, uint32_t rank, uint32_t numRanks,
                        const char *cacheDirectory, const char *compiler) {
  enum { most = 16 };
  IrisRtWorldOptions options;
  memset(&options, 0, sizeof options);
  options.structBytes = sizeof options;
  options.job = job;
  options.rank = rank;
  options.numRanks = numRanks;
  options.heapBytes = 128 << 20;
  IrisRtWorld *world = NULL;
  TRY(irisrtWorldCreate(&options, &world));
  IrisCclCommOptions commOptions;
  memset(&commOptions, 0, sizeof commOptions);
  commOptions.structBytes = sizeof commOptions;
  commOptions.cacheDirectory = cacheDirectory;
  commOptions.compiler = compiler;
  IrisCclComm *comm = NULL;
  TRY(iriscclCommCreate(world, &commOptions, &comm));

  /* The host's memory is the device's. */
  uint64_t buffers[3];
  for (int i = 0; i < 3; ++i)
    TRY(irisrtAlloc(world, 4096, &buffers[i]));
  int32_t *in = (int32_t *)buffers[0], *out = (int32_t *)buffers[1];
  int64_t *counts = (int64_t *)buffers[2], *offsets = counts + numRanks;
  const size_t size = (size_t)numRanks * most;
  for (uint32_t j = 0; j < numRanks; ++j) {
    counts[j] = rank + j; /* of what is sent and of what is received */
    offsets[j] = (int64_t)most * j;
    for (int i = 0; i < most; ++i) {
      in[most * j + i] = (int32_t)(1000 * rank + 100 * j) + i;
      out[most * j + i] = -1;
    }
  }
  TRY(iriscclBarrier(comm, 0));
  TRY(iriscclAllToAllV(comm, in, size, counts, offsets, out, size, counts,
                       offsets, 1, IRISCCL_I32, 0, NULL));
  TRY(irisrtSynchronize(world, 0));
  for (uint32_t j = 0; j < numRanks; ++j)
    for (int i = 0; i < most; ++i)
      CHECK(out[most * j + i] ==
            (i < (int)(rank + j) ? (int32_t)(1000 * j + 100 * rank) + i : -1));

  /* Rank i contributes i rows of two elements. */
  TRY(iriscclBarrier(comm, 0));
  for (uint32_t j = 0; j < numRanks; ++j) {
    counts[j] = j;
    offsets[j] = (int64_t)most / 2 * j;
    for (int i = 0; i < most; ++i)
      out[most * j + i] = -1;
  }
  TRY(iriscclBarrier(comm, 0));
  TRY(iriscclAllGatherV(comm, in, most, out, size, counts, offsets, 2,
                        IRISCCL_I32, 0, NULL));
  TRY(irisrtSynchronize(world, 0));
  for (uint32_t j = 0; j < numRanks; ++j)
    for (int i = 0; i < most; ++i)
      CHECK(out[most * j + i] ==
            (i < (int)(2 * j) ? (int32_t)(1000 * j) + i : -1));

  CHECK(iriscclAllToAllV(NULL, in, size, counts, offsets, out, size, counts,
                         offsets, 1, IRISCCL_I32, 0, NULL) != IRISRT_OK);
  for (int i = 0; i < 3; ++i)
    TRY(irisrtFree(world, buffers[i]));
  TRY(iriscclCommDestroy(comm));
  return irisrtWorldDestroy(world) == IRISRT_OK ? 0 : __LINE__;
}
