// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulKernels.cpp - From an op to its kernel -----------------------===//

#include "iris/Kernels/MatmulKernels.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::iris;

static void buildBody(MatmulBuilder &k) {
  switch (k.config.kind) {
  case MatmulKind::Matmul:
    return buildMatmul(k);
  default:
    return;
  }
}

/// What the runtime must know to launch the kernel.
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
      b.getNamedAttr("variant", b.getStringAttr(config.variant)),
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
  return b.getDictionaryAttr(entries);
}

FailureOr<gpu::GPUModuleOp> mlir::iris::buildMatmulKernel(MatmulKernelOp op) {
  FailureOr<MatmulConfig> config = getConfig(op);
  if (failed(config))
    return failure();
  OpBuilder b(op);
  auto module = gpu::GPUModuleOp::create(b, op.getLoc(), op.getSymName());
  MatmulBuilder k(module, *config);
  k.setDescription(describe(*config, b.getContext()));
  buildBody(k);
  k.finish();
  return module;
}
