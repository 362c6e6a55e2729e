// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AssignMatmulLayouts.cpp - Layouts of matmul results ----------------===//

#include "iris/Conversion/Matmul.h"

#include "iris/Conversion/MatmulTarget.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tile-assign-matmul-layouts"

namespace mlir::iris {
#define GEN_PASS_DEF_TILEASSIGNMATMULLAYOUTSPASS
#include "iris/Conversion/Matmul.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

namespace {
struct TileAssignMatmulLayoutsPass
    : iris::impl::TileAssignMatmulLayoutsPassBase<TileAssignMatmulLayoutsPass> {
  using TileAssignMatmulLayoutsPassBase::TileAssignMatmulLayoutsPassBase;

  void runOnOperation() override {
    std::unique_ptr<MatmulTarget> matmul = createMatmulTarget(target);
    if (matmul)
      getOperation()->walk([&](FunctionOpInterface function) {
        if (function
                ->walk([](tile::MatmulOp) { return WalkResult::interrupt(); })
                .wasInterrupted())
          matmul->prepareKernel(function);
      });
    WalkResult walk = getOperation()->walk([&](tile::MatmulOp op) {
      if (!matmul) {
        (void)reportNoMatmulTarget(op, target);
        return WalkResult::interrupt();
      }
      auto function = op->getParentOfType<FunctionOpInterface>();
      FailureOr<tile::LinearAttr> layout = matmul->getResultLayout(
          op, getKernelInfo(function, /*warpSize=*/0).numWarps);
      if (failed(layout))
        return WalkResult::interrupt();
      LDBG() << op.getType() << " at " << op.getLoc() << ": " << *layout;
      op->setAttr(tile::kResultLayoutAttr, *layout);
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
