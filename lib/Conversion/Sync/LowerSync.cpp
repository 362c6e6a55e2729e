// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerSync.cpp - Lowers synchronization to a target -----------------===//

#include "iris/Conversion/Sync.h"

#include "iris/Chips/ChipInfo.h"
#include "iris/Conversion/IrisToNVVM.h"
#include "iris/Conversion/IrisToROCDL.h"
#include "iris/Dialect/Iris/Utils/RewriteOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#define DEBUG_TYPE "iris-lower-sync"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISLOWERSYNCPASS
#include "iris/Conversion/Sync.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

namespace {
struct LowerSyncPass : iris::impl::IrisLowerSyncPassBase<LowerSyncPass> {
  using IrisLowerSyncPassBase::IrisLowerSyncPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    IrisLowerSyncPassBase::getDependentDialects(registry);
    registerNVVMDialect(registry);
    registerROCDLDialect(registry);
  }

  void runOnOperation() override {
    std::unique_ptr<TargetInfo> info = createTargetInfo(target);
    if (!info) {
      getOperation()->emitError(describeUnknownTarget(target));
      return signalPassFailure();
    }
    SmallVector<FunctionOpInterface> kernels;
    getOperation()->walk([&](FunctionOpInterface function) {
      if (isKernel(function))
        kernels.push_back(function);
    });
    for (FunctionOpInterface kernel : kernels) {
      if (failed(lowerSync(kernel, *info, translation)))
        return signalPassFailure();
      lowerGridDims(kernel, *info);
      if (!info->convertsBF16() && failed(expandBF16(kernel)))
        return signalPassFailure();
    }
  }

private:
  static bool isKernel(FunctionOpInterface function) {
    return isa<gpu::GPUFuncOp>(function.getOperation()) ||
           function->hasAttr(kHostKernelAttr);
  }

  /// Updates and comparisons of bf16 are computed in f32.
  static LogicalResult expandBF16(FunctionOpInterface kernel) {
    RewritePatternSet patterns(kernel.getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    return rewriteOps(kernel, std::move(patterns),
                      llvm::IsaPred<arith::ExtFOp, arith::TruncFOp>);
  }

  /// Kernels also use the grid size, which is not a register on every target.
  static void lowerGridDims(FunctionOpInterface kernel,
                            const TargetInfo &info) {
    SmallVector<gpu::GridDimOp> ops;
    kernel.walk([&](gpu::GridDimOp op) { ops.push_back(op); });
    for (gpu::GridDimOp op : ops) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      op.replaceAllUsesWith(info.emitGridDim(b, op.getDimension()));
      op.erase();
    }
  }
};
} // namespace
