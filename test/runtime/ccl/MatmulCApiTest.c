/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Matmuls through the C API: compiled as C. Returns the line of the first
 * failure, or 0.
 */
#include "iris/ccl.h"
#include "iris/iris.h"

#include <string.h>

#include "support/CChecks.h"

enum { M = 9, N = 7, K = 5 };

/* a(i, k) = i + k + rank, b(k, j) = k - j: the sum over ranks is computed here.
 */
static float expected(uint32_t numRanks, int i, int j) {
  float sum = 0;
  for (uint32_t rank = 0; rank < numRanks; ++rank)
    for (int k = 0; k < K; ++k)
      sum += (float)(i + k + (int)rank) * (float)(k - j);
  return sum;
}

int irisTestMatmulCApi(const char *job, uint32_t rank, uint32_t numRanks,
                       const char *cacheDirectory, const char *compiler) {
  IrisRtWorldOptions options;
  memset(&options, 0, sizeof options);
  options.structBytes = sizeof options;
  options.job = job;
  options.rank = rank;
  options.numRanks = numRanks;
  IrisRtWorld *world = NULL;
  TRY(irisrtWorldCreate(&options, &world));

  IrisCclMatmulProblem problem;
  memset(&problem, 0, sizeof problem);
  problem.kind = IRISCCL_MATMUL_ALL_REDUCE;
  problem.m = M, problem.n = N, problem.k = K;
  problem.element = problem.result = IRISCCL_F32;
  problem.variant = "one_shot";
  problem.tileM = problem.tileN = 16;
  problem.programs = 2;
  problem.cacheDirectory = cacheDirectory;
  problem.compiler = compiler;
  IrisCclMatmul *matmul = NULL;
  CHECK(iriscclMatmulCreate(world, &problem, &matmul) != IRISRT_OK);
  CHECK(strstr(irisrtLastError(), "structBytes"));
  problem.structBytes = sizeof problem;
  TRY(iriscclMatmulCreate(world, &problem, &matmul));
  CHECK(iriscclMatmulSharedBytes(matmul) > M * N * sizeof(float));
  CHECK(iriscclMatmulSharedBytes(NULL) == 0);
  CHECK(strstr(iriscclMatmulExplain(matmul), "one_shot, tile 16x16"));
  CHECK(strcmp(iriscclMatmulExplain(NULL), "") == 0);
  IrisCclMatmulConfig config;
  memset(&config, 0, sizeof config);
  CHECK(iriscclMatmulGetConfig(matmul, &config) != IRISRT_OK);
  config.structBytes = sizeof config;
  TRY(iriscclMatmulGetConfig(matmul, &config));
  CHECK(strcmp(config.variant, "one_shot") == 0 &&
        strcmp(config.partialType, "sum") == 0 && config.tileM == 16 &&
        config.programs == 2 && config.warps > 0);

  float a[M * K], b[K * N], c[M * N];
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
      a[i * K + k] = (float)(i + k + (int)rank);
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N; ++j)
      b[k * N + j] = (float)(k - j);
  uint64_t left, right, result;
  TRY(irisrtAlloc(world, sizeof a, &left));
  TRY(irisrtAlloc(world, sizeof b, &right));
  TRY(irisrtAlloc(world, sizeof c, &result));
  TRY(irisrtCopyToDevice(world, left, a, sizeof a, 0));
  TRY(irisrtCopyToDevice(world, right, b, sizeof b, 0));
  TRY(iriscclMatmulRun(matmul, (void *)left, (void *)right, (void *)result,
                       NULL, 1, 0));
  TRY(irisrtCopyToHost(world, c, result, sizeof c, 0));
  TRY(irisrtSync(world));
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      CHECK(c[i * N + j] == expected(numRanks, i, j));
  CHECK(iriscclMatmulRun(matmul, NULL, (void *)right, (void *)result, NULL, 1,
                         0) != IRISRT_OK);
  CHECK(iriscclMatmulRun(NULL, NULL, NULL, NULL, NULL, 1, 0) != IRISRT_OK);
  TRY(iriscclMatmulDestroy(matmul));
  TRY(iriscclMatmulDestroy(NULL));
  TRY(irisrtWorldDestroy(world));
  return 0;
}
