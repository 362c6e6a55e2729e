// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulConfig.cpp - Config of a matmul ------------------------------===//

#include "iris/Kernels/MatmulConfig.h"

#include "ConfigReader.h"
#include "iris/Plan/FusedWorkspace.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

using Layout = MatmulConfig::Layout;

static constexpr StringLiteral kKeys =
    "variant, shard, tile_m, tile_n, tile_k, group_m, xcds, warps, programs, "
    "a, b, bias, scale, activation, k_per_flag, num_fetch_programs, "
    "tiles_per_comm_program, split_k, num_fetch_stages, "
    "first_stage_fetch_programs, "
    "staged_layout or share";
static constexpr StringRef kLayouts[] = {"row", "pitched", "column", "strided"};

ArrayRef<StringRef> mlir::iris::getVariants(MatmulKind kind) {
  static constexpr StringRef alone[] = {"tiles"};
  static constexpr StringRef gathers[] = {"pull", "hbm_buffer", "push",
                                          "gathered", "copy_engine"};
  static constexpr StringRef gathersResult[] = {"push", "specialized",
                                                "copy_engine"};
  static constexpr StringRef scatters[] = {"push", "specialized",
                                           "copy_engine"};
  static constexpr StringRef reduces[] = {"two_shot", "one_shot", "atomic",
                                          "specialized", "copy_engine"};
  switch (kind) {
  case MatmulKind::Matmul:
    return alone;
  case MatmulKind::AllGatherMatmul:
    return gathers;
  case MatmulKind::MatmulAllGather:
    return gathersResult;
  case MatmulKind::MatmulReduceScatter:
    return scatters;
  case MatmulKind::MatmulAllReduce:
    return reduces;
  }
  llvm_unreachable("all kinds are listed");
}

/// The dimensions that may be sharded; the first is the default.
static ArrayRef<StringRef> getShards(MatmulKind kind) {
  static constexpr StringRef inputs[] = {"k", "m"};
  static constexpr StringRef outputs[] = {"m", "n"};
  static constexpr StringRef rows[] = {"m"};
  static constexpr StringRef sums[] = {"k"};
  switch (kind) {
  case MatmulKind::AllGatherMatmul:
    return inputs;
  case MatmulKind::MatmulAllGather:
    return outputs;
  case MatmulKind::Matmul:
  case MatmulKind::MatmulReduceScatter:
    return rows;
  case MatmulKind::MatmulAllReduce:
    return sums;
  }
  llvm_unreachable("all kinds are listed");
}

int64_t MatmulConfig::getTileWidth() const {
  return static_cast<int64_t>(llvm::PowerOf2Ceil(tileN));
}

StringRef mlir::iris::stringifyLayout(Layout layout) {
  return kLayouts[static_cast<size_t>(layout)];
}

std::optional<Layout> mlir::iris::getLayout(MemRefType type) {
  if (type.getLayout().isIdentity())
    return Layout::Row;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return std::nullopt;
  if (strides[1] == 1)
    return Layout::Pitched;
  return strides[0] == 1 ? Layout::Column : Layout::Strided;
}

MemRefType MatmulConfig::matrix(Type element, Layout layout) {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  MLIRContext *context = element.getContext();
  MemRefLayoutAttrInterface strides;
  if (layout != Layout::Row)
    strides = StridedLayoutAttr::get(context, /*offset=*/0,
                                     {layout == Layout::Column ? 1 : dynamic,
                                      layout == Layout::Pitched ? 1 : dynamic});
  return MemRefType::get({dynamic, dynamic}, element, strides,
                         SymmetricAttr::get(context));
}

SmallVector<Type> MatmulConfig::argumentTypes() const {
  MLIRContext *context = element.getContext();
  auto vector = [&](Type type) {
    return MemRefType::get({ShapedType::kDynamic}, type, AffineMap(),
                           SymmetricAttr::get(context));
  };
  SmallVector<Type> types = {matrix(storage, a), matrix(storage, b),
                             matrix(result, Layout::Row)};
  if (bias != Bias::None)
    types.push_back(vector(result));
  if (scale)
    types.push_back(Float32Type::get(context));
  if (hasStaging())
    types.push_back(stagingType());
  if (hasWorkspace())
    types.push_back(vector(IntegerType::get(context, 8)));
  return types;
}

/// Rejects combinations that no generator supports.
static LogicalResult checkCombination(MatmulKernelOp op,
                                      const MatmulConfig &config) {
  if (config.isNarrow() && config.tileN % MatmulConfig::columnUnit != 0)
    return op.emitOpError("config has tile_n = ")
           << config.tileN << "; expected a power of two or a multiple of "
           << MatmulConfig::columnUnit << ", from 1 to 256";
  if (config.isGathered() && config.shard != "k")
    return op.emitOpError("variant gathered takes shards that are below each "
                          "other; with shard = \"")
           << config.shard << "\" they are one matrix, expected matmul";
  if (config.isCopied() && config.kind == MatmulKind::MatmulAllGather &&
      config.shard == "n")
    return op.emitOpError("variant copy_engine copies whole rows of c; with "
                          "shard = \"n\" expected push or specialized");
  if ((config.isStaged() || config.isGathered()) && config.a != Layout::Row)
    return op.emitOpError("variant ")
           << config.variant << " copies a in its memory layout; expected a = "
           << "\"row\", not \"" << stringifyLayout(config.a) << "\"";
  if (config.firstStageFetchPrograms < config.fetchPrograms)
    return op.emitOpError("config has first_stage_fetch_programs = ")
           << config.firstStageFetchPrograms
           << "; expected at least num_fetch_programs, "
           << config.fetchPrograms;
  if (config.result.isInteger() &&
      (config.scale || config.activation == MatmulConfig::Activation::Gelu))
    return op.emitOpError("has a result of ")
           << config.result << "; expected no scale and no gelu for integers";
  // Integer sums are converted to float once, after all partial sums are added.
  if (config.partialType != config.sum && config.sum.isInteger())
    return op.emitOpError("config has partial_type = \"result\" for sums of ")
           << config.sum << "; expected \"sum\"";
  if (config.variant != "atomic")
    return success();
  if (config.result != config.sum ||
      config.activation != MatmulConfig::Activation::None)
    return op.emitOpError("variant atomic adds up in the result; expected a "
                          "result of ")
           << config.sum << " and no activation";
  return success();
}

FailureOr<MatmulConfig> mlir::iris::getConfig(MatmulKernelOp op) {
  MatmulConfig config;
  config.kind = *symbolizeMatmulKind(op.getKind());
  config.element = op.getElement();
  config.storage = config.element.getIntOrFloatBitWidth() == 8
                       ? IntegerType::get(op.getContext(), 8)
                       : config.element;
  config.sum = getSumElement(config.element);
  config.result = op.getResultElement();
  config.partialType = config.sum;
  config.size = op.getSize().value_or(0);

  ConfigReader reader(op, op.getConfigAttr());
  StringRef kind = op.getKind();
  ArrayRef<StringRef> variants = getVariants(config.kind);
  config.variant = variants.front().str();
  ArrayRef<StringRef> shards = getShards(config.kind);
  config.shard = shards.front().str();
  if (failed(reader.readName("variant", variants, kind, config.variant)) ||
      failed(reader.readName("shard", shards, kind, config.shard)) ||
      failed(reader.readEnum("a", kLayouts, "matrices", config.a)) ||
      failed(reader.readEnum("b", kLayouts, "matrices", config.b)) ||
      failed(reader.readEnum("bias", {"none", "row", "column"}, "the bias",
                             config.bias)) ||
      failed(reader.readEnum("activation", {"none", "relu", "gelu"},
                             "activations", config.activation)) ||
      failed(reader.readBool("scale", config.scale)))
    return failure();
  constexpr bool powerOfTwo = true;
  constexpr int64_t most = plan::FusedWorkspace::maxPrograms;
  if (failed(reader.readInteger("tile_m", 1, 256, powerOfTwo, config.tileM)) ||
      failed(reader.readInteger("tile_n", 1, 256, false, config.tileN)) ||
      failed(reader.readInteger("tile_k", 16, 256, powerOfTwo, config.tileK)) ||
      failed(reader.readInteger("group_m", 1, 1024, false, config.groupM)) ||
      failed(reader.readInteger("xcds", 1, 64, false, config.xcds)) ||
      failed(reader.readInteger("warps", 1, 16, powerOfTwo, config.warps)) ||
      failed(reader.readInteger("programs", 1, most, false, config.programs)))
    return failure();
  if (config.kind == MatmulKind::Matmul &&
      failed(reader.readInteger("split_k", 1, 32, powerOfTwo, config.splitK)))
    return failure();
  if (config.hasCommPrograms()) {
    config.fetchPrograms =
        std::clamp<int64_t>(config.programs / 4, 1, config.fetchPrograms);
    if (failed(reader.readInteger("num_fetch_programs", 1, config.programs,
                                  false, config.fetchPrograms)) ||
        failed(reader.readInteger("tiles_per_comm_program", 0, 1 << 20, false,
                                  config.tilesPerCommProgram)))
      return failure();
    config.firstStageFetchPrograms = config.fetchPrograms;
  }
  if (config.movesUnits()) {
    bool isColumn = false;
    if (failed(reader.readInteger("k_per_flag", 1, 1024, false,
                                  config.kPerFlag)) ||
        failed(reader.readInteger("num_fetch_stages", 1, 1024, false,
                                  config.fetchStages)) ||
        failed(reader.readInteger("first_stage_fetch_programs", 1,
                                  config.programs, false,
                                  config.firstStageFetchPrograms)) ||
        failed(reader.readEnum("staged_layout",
                               {"k_contiguous", "m_contiguous"}, "the staging",
                               isColumn)))
      return failure();
    config.staged = isColumn ? Layout::Column : Layout::Row;
  }
  if (config.hasPartialSums()) {
    bool isResult = false;
    if (failed(reader.readEnum("partial_type", {"sum", "result"},
                               "partial sums", isResult)))
      return failure();
    config.partialType = isResult ? config.result : config.sum;
  }
  if (failed(reader.finish(kKeys)) || failed(checkCombination(op, config)))
    return failure();
  return config;
}
