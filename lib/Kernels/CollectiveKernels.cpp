// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveKernels.cpp - Builds the kernel of an op -----------------===//

#include "iris/Kernels/CollectiveKernels.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::iris;

static void buildBody(KernelBuilder &k) {
  switch (k.config.kind) {
  case CollectiveKind::AllGather:
    return buildAllGather(k);
  case CollectiveKind::AllReduce:
    return buildAllReduce(k);
  case CollectiveKind::ReduceScatter:
    return buildReduceScatter(k);
  case CollectiveKind::AllToAll:
    return buildAllToAll(k);
  case CollectiveKind::Broadcast:
  case CollectiveKind::Reduce:
  case CollectiveKind::Gather:
  case CollectiveKind::Scatter:
    return buildRooted(k);
  case CollectiveKind::Send:
  case CollectiveKind::Recv:
    return buildSendRecv(k);
  case CollectiveKind::Barrier:
    return k.barrier();
  }
}

/// The kernel's "config" metadata, which the runtime needs to launch it.
static DictionaryAttr describe(const CollectiveConfig &config, MLIRContext *c) {
  Builder b(c);
  std::string element;
  llvm::raw_string_ostream(element) << config.element;
  SmallVector<NamedAttribute> entries = {
      b.getNamedAttr("collective",
                     b.getStringAttr(stringifyCollectiveKind(config.kind))),
      b.getNamedAttr("element", b.getStringAttr(element)),
      b.getNamedAttr("group", b.getI64IntegerAttr(config.size)),
      b.getNamedAttr("variant", b.getStringAttr(config.variant)),
      b.getNamedAttr("tile", b.getI64IntegerAttr(config.tile)),
      b.getNamedAttr("programs", b.getI64IntegerAttr(config.programs)),
      b.getNamedAttr("warps", b.getI64IntegerAttr(config.warps)),
      b.getNamedAttr("xcds", b.getI64IntegerAttr(config.xcds)),
      b.getNamedAttr("staged", b.getBoolAttr(config.staged)),
      b.getNamedAttr("in_place", b.getBoolAttr(config.inPlace)),
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
