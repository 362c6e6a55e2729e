// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveKernels.cpp - Builds the kernel of an op -----------------===//

#include "iris/Kernels/CollectiveKernels.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::iris;

static void buildBody(KernelBuilder &k) {
  switch (k.config.kind) {
#define IRIS_COLLECTIVE(Name, name, NAME, Generator, ...)                      \
  case CollectiveKind::Name:                                                   \
    return build##Generator(k);
#include "iris/Plan/Collectives.def"
  }
}

void mlir::iris::buildBarrier(KernelBuilder &k) { k.barrier(); }

/// What the runtime must know to launch the kernel.
static DictionaryAttr describe(const CollectiveConfig &config, MLIRContext *c) {
  Builder b(c);
  std::string element;
  llvm::raw_string_ostream(element) << config.element;
  SmallVector<NamedAttribute> entries = {
      b.getNamedAttr("collective",
                     b.getStringAttr(stringifyCollectiveKind(config.kind))),
      b.getNamedAttr("element", b.getStringAttr(element)),
      b.getNamedAttr("group", b.getI64IntegerAttr(config.size)),
      b.getNamedAttr("variant", b.getStringAttr(config.variant->name)),
      b.getNamedAttr("tile", b.getI64IntegerAttr(config.tile)),
      b.getNamedAttr("programs", b.getI64IntegerAttr(config.programs)),
      b.getNamedAttr("warps", b.getI64IntegerAttr(config.warps)),
      b.getNamedAttr("xcds", b.getI64IntegerAttr(config.xcds)),
      b.getNamedAttr("staged", b.getBoolAttr(config.staged)),
      b.getNamedAttr("in_place", b.getBoolAttr(config.canBeInPlace())),
      b.getNamedAttr("workspace_bytes",
                     b.getI64IntegerAttr(config.workspace.bytes)),
      b.getNamedAttr("workspace_layout",
                     b.getI64IntegerAttr(Workspace::layout))};
  if (config.reduction)
    entries.push_back(b.getNamedAttr(
        "reduction", b.getStringAttr(stringifyReduction(*config.reduction))));
  return b.getDictionaryAttr(entries);
}

FailureOr<gpu::GPUModuleOp> mlir::iris::buildCollective(CollectiveOp op) {
  FailureOr<CollectiveConfig> config = getConfig(op);
  if (failed(config))
    return failure();
  OpBuilder b(op);
  auto module = gpu::GPUModuleOp::create(b, op.getLoc(), op.getSymName());
  KernelBuilder k(module, *config);
  k.setDescription(describe(*config, b.getContext()));
  buildBody(k);
  k.finish();
  return module;
}
