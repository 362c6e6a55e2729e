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

/// Copies the numbers of a config, which have the same names in the structures
/// of both APIs.
template <typename From, typename To>
static void copyNumbers(const From &from, To &to) {
  to.tileM = from.tileM;
  to.tileN = from.tileN;
  to.tileK = from.tileK;
  to.groupM = from.groupM;
  to.xcds = from.xcds;
  to.warps = from.warps;
  to.programs = from.programs;
  to.kPerFlag = from.kPerFlag;
  to.numFetchPrograms = from.numFetchPrograms;
  to.numFetchStages = from.numFetchStages;
  to.firstStageFetchPrograms = from.firstStageFetchPrograms;
  to.tilesPerCommProgram = from.tilesPerCommProgram;
  to.splitK = from.splitK;
}

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
  config.library = text(from.library);
  copyNumbers(from, config);
  return to;
}

static_assert(static_cast<int>(TuneLevel::off) + 1 == IRISCCL_TUNE_OFF &&
                  static_cast<int>(TuneLevel::full) + 1 == IRISCCL_TUNE_FULL,
              "the levels of both APIs are in the same order");

static Expected<MatmulTuning> tuningOf(const IrisCclMatmulProblem &from) {
  auto value = static_cast<int>(from.tuning);
  if (value < IRISCCL_TUNE_DEFAULT || value > IRISCCL_TUNE_FULL ||
      !(from.tuningLimitMs >= 0))
    return makeStatus(StatusCode::invalidArgument,
                      "matmul: tuning %d, at most %g ms; expected an "
                      "IrisCclTuning and a time",
                      value, from.tuningLimitMs);
  MatmulTuning to;
  if (value != IRISCCL_TUNE_DEFAULT)
    to.level = static_cast<TuneLevel>(value - 1);
  to.limitMs = from.tuningLimitMs;
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
    return finish(wrongSize("IrisCclMatmulProblem", problem->structBytes,
                            sizeof(IrisCclMatmulProblem)));
  std::shared_ptr<KernelCache> cache;
  if (problem->cacheDirectory || problem->compiler) {
    KernelCacheOptions options;
    options.directory = problem->cacheDirectory ? problem->cacheDirectory : "";
    options.compiler = problem->compiler ? problem->compiler : "";
    cache = std::make_shared<KernelCache>(options);
  }
  Expected<MatmulTuning> tuning = tuningOf(*problem);
  if (!tuning.ok())
    return finish(tuning.status());
  Expected<std::unique_ptr<Matmul>> created =
      Matmul::create(*world->world, convert(*problem), cache, *tuning);
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
    return finish(wrongSize("IrisCclMatmulConfig", config->structBytes,
                            sizeof(IrisCclMatmulConfig)));
  const MatmulConfig &from = matmul->matmul->config();
  config->variant = from.variant.c_str();
  config->shard = from.shard.c_str();
  config->stagedLayout = from.stagedLayout.c_str();
  config->partialType = from.partialType.c_str();
  config->library = from.library.c_str();
  copyNumbers(from, *config);
  return IRISRT_OK;
}

const char *iriscclMatmulExplain(const IrisCclMatmul *matmul) {
  return matmul ? matmul->matmul->explain().c_str() : "";
}
