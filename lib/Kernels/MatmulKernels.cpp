// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulKernels.cpp - Builds the kernel of an op ---------------------===//

#include "iris/Kernels/MatmulKernels.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::iris;

void mlir::iris::barrierBeforeCopies(MatmulBuilder &k, Value isFirstTile,
                                     Value entered) {
  k.ifThen(isFirstTile, [&] {
    k.barrier();
    k.countDown(entered);
  });
}

/// In the order of `plan::matmulVariants`; null if a variant has no kernel.
static constexpr void (*generators[])(MatmulBuilder &k) = {
#define IRIS_MATMUL_VARIANT(Kind, variant, Generator, ...) build##Generator,
#define IRIS_UNFUSED_VARIANT(...) nullptr,
#include "iris/Plan/Matmuls.def"
};
static_assert(std::size(generators) == std::size(plan::matmulVariants));

/// The kernel's "config" metadata, which the runtime needs to launch it.
static DictionaryAttr describe(const MatmulConfig &config, MLIRContext *c) {
  Builder b(c);
  auto spell = [&](Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return b.getStringAttr(text);
  };
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  static constexpr StringRef biases[] = {"none", "row", "column"};
  static constexpr StringRef activations[] = {"none", "relu", "gelu"};
  SmallVector<NamedAttribute> entries = {
      b.getNamedAttr("matmul",
                     b.getStringAttr(stringifyMatmulKind(config.kind))),
      b.getNamedAttr("element", spell(config.element)),
      b.getNamedAttr("result", spell(config.result)),
      b.getNamedAttr("variant", b.getStringAttr(config.variant->name)),
      b.getNamedAttr("shard", b.getStringAttr(config.shard)),
      b.getNamedAttr("a", b.getStringAttr(stringifyLayout(config.a))),
      b.getNamedAttr("b", b.getStringAttr(stringifyLayout(config.b))),
      b.getNamedAttr("bias",
                     b.getStringAttr(biases[static_cast<size_t>(config.bias)])),
      b.getNamedAttr("scale", b.getBoolAttr(config.scale)),
      b.getNamedAttr(
          "activation",
          b.getStringAttr(activations[static_cast<size_t>(config.activation)])),
      number("group", config.size),
      number("tile_m", config.tileM),
      number("tile_n", config.tileN),
      number("tile_k", config.tileK),
      number("group_m", config.groupM),
      number("xcds", config.xcds),
      number("warps", config.warps),
      number("programs", config.programs)};
  if (config.has(plan::splitsK))
    entries.push_back(number("split_k", config.splitK));
  if (config.hasCommPrograms())
    entries.append(
        {number("num_fetch_programs", config.fetchPrograms),
         number("tiles_per_comm_program", config.tilesPerCommProgram)});
  if (config.hasPartialSums())
    entries.push_back(b.getNamedAttr(
        "partial_type",
        b.getStringAttr(config.partialType == config.sum ? "sum" : "result")));
  if (config.has(plan::movesUnits)) {
    bool isColumn = config.staged == MatmulConfig::Layout::Column;
    entries.push_back(b.getNamedAttr(
        "staged_layout",
        b.getStringAttr(isColumn ? "m_contiguous" : "k_contiguous")));
    entries.append(
        {number("k_per_flag", config.kPerFlag),
         number("num_fetch_stages", config.fetchStages),
         number("first_stage_fetch_programs", config.firstStageFetchPrograms)});
  }
  return b.getDictionaryAttr(entries);
}

FailureOr<gpu::GPUModuleOp> mlir::iris::buildMatmulKernel(MatmulKernelOp op) {
  FailureOr<MatmulConfig> config = getConfig(op);
  if (failed(config))
    return failure();
  auto *build = generators[plan::getIndex(*config->variant)];
  assert(build && "a config names a variant with a kernel");
  OpBuilder b(op);
  auto module = gpu::GPUModuleOp::create(b, op.getLoc(), op.getSymName());
  MatmulBuilder k(module, *config);
  k.setDescription(describe(*config, b.getContext()));
  build(k);
  k.finish();
  return module;
}
