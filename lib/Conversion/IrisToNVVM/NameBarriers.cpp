// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NameBarriers.cpp - Barriers of the consumer warps ------------------===//

#include "iris/Conversion/IrisToNVVM.h"

#include "Warp.h"
#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISNVVMNAMEBARRIERSPASS
#include "iris/Conversion/IrisToNVVM.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// Barrier 0 includes all warps.
static constexpr int64_t kConsumerBarrier = 1;

namespace {
struct NameBarriersPass
    : iris::impl::IrisNVVMNameBarriersPassBase<NameBarriersPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>()) {
      if (!kernel->hasAttr(kProducerWarpsAttr))
        continue;
      int64_t threads = getNumWarps(kernel) * kWarpSize;
      SmallVector<gpu::BarrierOp> barriers;
      kernel.walk([&](gpu::BarrierOp op) { barriers.push_back(op); });
      for (gpu::BarrierOp op : barriers) {
        ImplicitLocOpBuilder b(op.getLoc(), op);
        NVVM::BarrierOp::create(
            b, TypeRange(),
            arith::ConstantIntOp::create(b, kConsumerBarrier, 32),
            arith::ConstantIntOp::create(b, threads, 32),
            NVVM::BarrierReductionAttr(), Value());
        op.erase();
      }
    }
  }
};
} // namespace
