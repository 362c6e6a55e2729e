// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileToLoops.cpp - Lowers tiles to loops over buffers ---------------===//
//
// The lowering of tiles on the host, where one OS thread holds whole tiles. It
// does not use one-shot bufferization: a tile loaded from a buffer is a copy
// independent of later stores, and a loop-carried tile needs one buffer for the
// whole loop, in an arena with a size known at compile time. See
// TileLowering.h.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/TileToLoops.h"

#include "TileLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#define DEBUG_TYPE "convert-tile-to-loops"

namespace mlir::iris {
#define GEN_PASS_DEF_CONVERTTILETOLOOPSPASS
#include "iris/Conversion/TileToLoopsPasses.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

static Type withoutLayout(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile || !tile.getEncoding())
    return type;
  return RankedTensorType::get(tile.getShape(), tile.getElementType());
}

/// Removes the layouts of all tiles: a thread holds whole tiles.
static void stripLayouts(func::FuncOp func) {
  func.walk([](Operation *op) {
    for (Value result : op->getResults())
      result.setType(withoutLayout(result.getType()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(withoutLayout(argument.getType()));
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue())) {
        auto type = cast<ShapedType>(withoutLayout(elements.getType()));
        // `reshape` does not support splats of the same shape.
        constant.setValueAttr(elements.isSplat() ? elements.resizeSplat(type)
                                                 : elements.reshape(type));
      }
    if (auto convert = dyn_cast<tile::ConvertLayoutOp>(op))
      convert.getResult().replaceAllUsesWith(convert.getSource());
  });
  func.walk([](tile::ConvertLayoutOp op) { op.erase(); });
}

/// Rejects tile parameters: no launch can pass one.
static LogicalResult verifyParameters(func::FuncOp func) {
  for (auto [number, type] : llvm::enumerate(func.getArgumentTypes()))
    if (isa<TensorType>(type))
      return func.emitError("parameter ")
             << number << " is a tile of type " << type
             << "; expected a scalar, a memref or !iris.ctx";
  return success();
}

/// Reports the first remaining tile.
static LogicalResult verifyNoTiles(func::FuncOp func) {
  WalkResult result = func.walk([](Operation *op) -> WalkResult {
    for (Type type :
         llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                  SmallVector<Type>(op->getResultTypes())))
      if (isa<TensorType>(type))
        return op->emitOpError("has a tile of type ")
               << type << "; expected none after convert-tile-to-loops";
    return success();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct ConvertTileToLoopsPass
    : iris::impl::ConvertTileToLoopsPassBase<ConvertTileToLoopsPass> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      if (failed(verifyParameters(func)))
        return signalPassFailure();
      stripLayouts(func);
      // A program is one thread, so barriers are no-ops.
      func.walk([](gpu::BarrierOp barrier) { barrier.erase(); });
      if (failed(TileLowering(func).run()) || failed(verifyNoTiles(func)))
        return signalPassFailure();
    }
  }
};
} // namespace
