// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulCApi.cpp - C API of matmuls ----------------------------------===//
//
// Every function is a thin wrapper around one C++ function.
#include "iris/ccl.h"

#include "core/CApiImpl.h"
#include "iris/ccl/Matmul.h"

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::capi;

struct IrisCclMatmul {
  std::unique_ptr<Matmul> matmul;
};

static_assert(static_cast<int>(MatmulKind::matmulAllReduce) ==
                      IRISCCL_MATMUL_ALL_REDUCE &&
                  static_cast<int>(Bias::column) == IRISCCL_COLUMN_BIAS &&
                  static_cast<int>(Activation::gelu) == IRISCCL_GELU,
              "the enumerators of both APIs are equal");

static MatmulProblem convert(const IrisCclMatmulProblem &from) {
  auto text = [](const char *given) { return given ? given : ""; };
  MatmulProblem to;
  to.kind = static_cast<MatmulKind>(from.kind);
  to.m = from.m;
  to.n = from.n;
  to.k = from.k;
  to.element = static_cast<DType>(from.element);
  to.result = static_cast<DType>(from.result);
  to.aIsColumnMajor = from.aIsColumnMajor != 0;
  to.bIsColumnMajor = from.bIsColumnMajor != 0;
  to.bias = static_cast<Bias>(from.bias);
  to.hasScale = from.hasScale != 0;
  to.activation = static_cast<Activation>(from.activation);
  MatmulConfig &config = to.config;
  config.variant = text(from.variant);
  config.shard = text(from.shard);
  config.stagedLayout = text(from.stagedLayout);
  config.partialType = text(from.partialType);
  config.tileM = from.tileM;
  config.tileN = from.tileN;
  config.tileK = from.tileK;
  config.groupM = from.groupM;
  config.xcds = from.xcds;
  config.warps = from.warps;
  config.programs = from.programs;
  config.kPerFlag = from.kPerFlag;
  config.numFetchPrograms = from.numFetchPrograms;
  config.numFetchStages = from.numFetchStages;
  config.firstStageFetchPrograms = from.firstStageFetchPrograms;
  config.tilesPerCommProgram = from.tilesPerCommProgram;
  config.splitK = from.splitK;
  return to;
}

IrisRtStatusCode iriscclMatmulCreate(IrisRtWorld *world,
                                     const IrisCclMatmulProblem *problem,
                                     IrisCclMatmul **matmul) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(problem);
  IRISRT_REQUIRE(matmul);
  *matmul = nullptr;
  if (problem->structBytes != sizeof(IrisCclMatmulProblem))
    return finish(
        makeStatus(StatusCode::invalidArgument,
                   "IrisCclMatmulProblem.structBytes is %llu; expected %zu",
                   static_cast<unsigned long long>(problem->structBytes),
                   sizeof(IrisCclMatmulProblem)));
  std::shared_ptr<KernelCache> cache;
  if (problem->cacheDirectory || problem->compiler) {
    KernelCacheOptions options;
    options.directory = problem->cacheDirectory ? problem->cacheDirectory : "";
    options.compiler = problem->compiler ? problem->compiler : "";
    cache = std::make_shared<KernelCache>(options);
  }
  Expected<std::unique_ptr<Matmul>> created =
      Matmul::create(*world->world, convert(*problem), cache);
  if (!created.ok())
    return finish(created.status());
  *matmul = new IrisCclMatmul{created.take()};
  return IRISRT_OK;
}

IrisRtStatusCode iriscclMatmulDestroy(IrisCclMatmul *matmul) {
  if (!matmul)
    return IRISRT_OK;
  Status status = matmul->matmul->destroy();
  delete matmul;
  return finish(status);
}

IrisRtStatusCode iriscclMatmulRun(IrisCclMatmul *matmul, const void *a,
                                  const void *b, void *c, const void *bias,
                                  float scale, uint64_t stream) {
  IRISRT_REQUIRE(matmul);
  return finish(matmul->matmul->run(a, b, c, {bias, scale}, Stream{stream}));
}

uint64_t iriscclMatmulSharedBytes(const IrisCclMatmul *matmul) {
  return matmul ? matmul->matmul->sharedBytes() : 0;
}

IrisRtStatusCode iriscclMatmulGetConfig(const IrisCclMatmul *matmul,
                                        IrisCclMatmulConfig *config) {
  IRISRT_REQUIRE(matmul);
  IRISRT_REQUIRE(config);
  if (config->structBytes != sizeof(IrisCclMatmulConfig))
    return finish(
        makeStatus(StatusCode::invalidArgument,
                   "IrisCclMatmulConfig.structBytes is %llu; expected %zu",
                   static_cast<unsigned long long>(config->structBytes),
                   sizeof(IrisCclMatmulConfig)));
  const MatmulConfig &from = matmul->matmul->config();
  config->variant = from.variant.c_str();
  config->shard = from.shard.c_str();
  config->stagedLayout = from.stagedLayout.c_str();
  config->partialType = from.partialType.c_str();
  config->tileM = from.tileM;
  config->tileN = from.tileN;
  config->tileK = from.tileK;
  config->groupM = from.groupM;
  config->xcds = from.xcds;
  config->warps = from.warps;
  config->programs = from.programs;
  config->kPerFlag = from.kPerFlag;
  config->numFetchPrograms = from.numFetchPrograms;
  config->numFetchStages = from.numFetchStages;
  config->firstStageFetchPrograms = from.firstStageFetchPrograms;
  config->tilesPerCommProgram = from.tilesPerCommProgram;
  config->splitK = from.splitK;
  return IRISRT_OK;
}

const char *iriscclMatmulExplain(const IrisCclMatmul *matmul) {
  return matmul ? matmul->matmul->explain().c_str() : "";
}
