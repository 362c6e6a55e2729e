// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulConfig.cpp - Config of a matmul ------------------------------===//

#include "iris/Kernels/MatmulConfig.h"

#include "ConfigReader.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::iris;

using Layout = MatmulConfig::Layout;

static constexpr StringRef kLayouts[] = {"row", "pitched", "column", "strided"};

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
static LogicalResult checkCombination(Operation *op,
                                      const MatmulConfig &config) {
  if (!plan::isTileWidth(config.tileN))
    return op->emitOpError("config has tile_n = ")
           << config.tileN << "; expected a power of two or a multiple of "
           << plan::matmulColumnUnit << ", from 1 to 256";
  if (config.has(plan::takesGathered) && config.shard != "k")
    return op->emitOpError("variant gathered takes shards that are below each "
                           "other; with shard = \"")
           << config.shard << "\" they are one matrix, expected matmul";
  if (config.copiesRowsOfC() && config.shard == "n")
    return op->emitOpError("variant copy_engine copies whole rows of c; with "
                           "shard = \"n\" expected push or specialized");
  if (config.copiesA() && config.a != Layout::Row)
    return op->emitOpError("variant ")
           << config.variantName()
           << " copies a in its memory layout; expected a = "
           << "\"row\", not \"" << stringifyLayout(config.a) << "\"";
  if (config.firstStageFetchPrograms < config.fetchPrograms)
    return op->emitOpError("config has first_stage_fetch_programs = ")
           << config.firstStageFetchPrograms
           << "; expected at least num_fetch_programs, "
           << config.fetchPrograms;
  if (config.result.isInteger() &&
      (config.scale || config.activation == MatmulConfig::Activation::Gelu))
    return op->emitOpError("has a result of ")
           << config.result << "; expected no scale and no gelu for integers";
  // Integer sums are converted to float once, after all partial sums are added.
  if (config.partialType != config.sum && config.sum.isInteger())
    return op->emitOpError("config has partial_type = \"result\" for sums of ")
           << config.sum << "; expected \"sum\"";
  if (!config.has(plan::addsInResult))
    return success();
  if (config.result != config.sum ||
      config.activation != MatmulConfig::Activation::None)
    return op->emitOpError("variant atomic adds up in the result; expected a "
                           "result of ")
           << config.sum << " and no activation";
  return success();
}

/// Reads the fields that every variant has.
static LogicalResult readTiles(ConfigReader &reader, MatmulConfig &config) {
  namespace numbers = plan::matmul_numbers;
  return success(
      succeeded(reader.readInteger(numbers::tileM, config.tileM)) &&
      succeeded(reader.readInteger(numbers::tileN, config.tileN)) &&
      succeeded(reader.readInteger(numbers::tileK, config.tileK)) &&
      succeeded(reader.readInteger(numbers::groupM, config.groupM)) &&
      succeeded(reader.readInteger(numbers::xcds, config.xcds)) &&
      succeeded(reader.readInteger(numbers::warps, config.warps)) &&
      succeeded(reader.readInteger(numbers::programs, config.programs)));
}

/// Communication programs are some of the programs.
static LogicalResult readCommPrograms(ConfigReader &reader,
                                      plan::ConfigNumber number,
                                      const MatmulConfig &config,
                                      int64_t &value) {
  number.most = config.programs;
  return reader.readInteger(number, value);
}

/// Reads the fields that only some variants have.
static LogicalResult readVariantFields(ConfigReader &reader,
                                       MatmulConfig &config) {
  namespace numbers = plan::matmul_numbers;
  if (config.has(plan::splitsK) &&
      failed(reader.readInteger(numbers::splitK, config.splitK)))
    return failure();
  if (config.hasCommPrograms()) {
    config.fetchPrograms =
        std::clamp<int64_t>(config.programs / 4, 1, config.fetchPrograms);
    if (failed(readCommPrograms(reader, numbers::fetchPrograms, config,
                                config.fetchPrograms)) ||
        failed(reader.readInteger(numbers::tilesPerCommProgram,
                                  config.tilesPerCommProgram)))
      return failure();
    config.firstStageFetchPrograms = config.fetchPrograms;
  }
  if (config.has(plan::movesUnits)) {
    bool isColumn = false;
    if (failed(reader.readInteger(numbers::kPerFlag, config.kPerFlag)) ||
        failed(reader.readInteger(numbers::fetchStages, config.fetchStages)) ||
        failed(readCommPrograms(reader, numbers::firstStageFetchPrograms,
                                config, config.firstStageFetchPrograms)) ||
        failed(reader.readEnum("staged_layout",
                               {"k_contiguous", "m_contiguous"}, "the staging",
                               isColumn)))
      return failure();
    config.staged = isColumn ? Layout::Column : Layout::Row;
  }
  if (!config.hasPartialSums())
    return success();
  bool isResult = false;
  if (failed(reader.readEnum("partial_type", {"sum", "result"}, "partial sums",
                             isResult)))
    return failure();
  config.partialType = isResult ? config.result : config.sum;
  return success();
}

/// Reads the layouts of the matrices and the epilogue.
static LogicalResult readOperands(ConfigReader &reader, MatmulConfig &config) {
  return success(
      succeeded(reader.readEnum("a", kLayouts, "matrices", config.a)) &&
      succeeded(reader.readEnum("b", kLayouts, "matrices", config.b)) &&
      succeeded(reader.readEnum("bias", {"none", "row", "column"}, "the bias",
                                config.bias)) &&
      succeeded(reader.readEnum("activation", {"none", "relu", "gelu"},
                                "activations", config.activation)) &&
      succeeded(reader.readBool("scale", config.scale)));
}

FailureOr<MatmulConfig> mlir::iris::getConfig(MatmulKernelOp op,
                                              Operation *call) {
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

  Operation *written = call ? call : op;
  ConfigReader reader(written, op.getConfigAttr());
  StringRef kind = op.getKind();
  config.variant = config.matmul().begin();
  SmallVector<StringRef> shards;
  for (std::string_view shard : config.matmul().shards)
    if (!shard.empty())
      shards.push_back(shard);
  config.shard = shards.front().str();
  if (failed(
          reader.readNamed("variant", config.matmul(), kind, config.variant)) ||
      failed(reader.readName("shard", shards, kind, config.shard)) ||
      failed(readTiles(reader, config)) ||
      failed(readVariantFields(reader, config)) ||
      failed(readOperands(reader, config)))
    return failure();
  // The operands of a call determine these.
  SmallVector<StringRef> internalKeys;
  if (call)
    internalKeys = {"a", "b", "scale"};
  if (failed(reader.finish(internalKeys)) ||
      failed(checkCombination(written, config)))
    return failure();
  return config;
}
