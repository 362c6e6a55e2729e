// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveKernels.cpp - Builds the kernel of an op -----------------===//

#include "iris/Kernels/CollectiveKernels.h"

#include "iris/Plan/Transfers.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
using Generator = void (*)(KernelBuilder &k);
/// The generators of a variant's kernels; null if there is no such kernel.
struct Generators {
  Generator onHeap = nullptr, staged = nullptr;
};
} // namespace

/// In the order of `plan::variants`.
static constexpr Generators generators[] = {
#define IRIS_VARIANT(Name, variant, Generator, Staged, ...)                    \
  {build##Generator, build##Staged},
#define IRIS_HEAP_VARIANT(Name, variant, Generator, ...) {build##Generator},
#define IRIS_ENGINE_VARIANT(...) {},
#include "iris/Plan/Collectives.def"
};
static_assert(std::size(generators) == std::size(plan::variants));

static Generator getGenerator(const CollectiveConfig &config) {
  const Generators &both = generators[plan::getIndex(*config.variant)];
  return config.staged ? both.staged : both.onHeap;
}

void mlir::iris::buildBarrier(KernelBuilder &k) { k.barrier(); }

/// The most programs of a launch.
static int64_t countPrograms(const CollectiveConfig &config) {
  if (!config.variant->has(plan::grouped))
    return config.programs;
  return config.programs * plan::countConnections(config.maxMembers());
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
      b.getNamedAttr("variant", b.getStringAttr(config.variant->name)),
      b.getNamedAttr("tile", b.getI64IntegerAttr(config.tile)),
      b.getNamedAttr("programs", b.getI64IntegerAttr(countPrograms(config))),
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

FailureOr<gpu::GPUModuleOp> mlir::iris::buildCollective(CollectiveOp op,
                                                        unsigned waveSize) {
  FailureOr<CollectiveConfig> config = getConfig(op, waveSize);
  if (failed(config))
    return failure();
  Generator build = getGenerator(*config);
  assert(build && "a config names a variant with such a kernel");
  OpBuilder b(op);
  auto module = gpu::GPUModuleOp::create(b, op.getLoc(), op.getSymName());
  KernelBuilder k(module, *config);
  k.setDescription(describe(*config, b.getContext()));
  build(k);
  k.finish();
  return module;
}
