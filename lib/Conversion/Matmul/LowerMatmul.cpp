// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerMatmul.cpp - Lowers matmuls to per-thread code ----------------===//

#include "iris/Conversion/Matmul.h"

#include "iris/Analysis/TileLayout.h"
#include "iris/Analysis/WorkgroupMemory.h"
#include "iris/Conversion/IrisToNVVM.h"
#include "iris/Conversion/IrisToROCDL.h"
#include "iris/Conversion/MatmulTarget.h"
#include "iris/Conversion/ReducePlan.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tile-lower-matmul"

namespace mlir::iris {
#define GEN_PASS_DEF_TILELOWERMATMULPASS
#include "iris/Conversion/Matmul.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// Casts `value` to `type`: from a tile to its registers, or the reverse.
static Value castTo(OpBuilder &b, Location loc, Type type, Value value) {
  return UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
}

static LogicalResult lowerMatmul(tile::MatmulOp op, const MatmulTarget &target,
                                 const KernelInfo &kernel) {
  OpBuilder builder(op);
  ThreadBuilder thread(builder, op.getLoc(), kernel);
  RankedTensorType type = op.getResult().getType();
  Value init;
  if (op.getInit())
    init = castTo(builder, op.getLoc(), getThreadType(type), op.getInit());
  FailureOr<Value> registers = target.emit(op, thread, init);
  if (failed(registers))
    return failure();
  op.getResult().replaceAllUsesWith(
      castTo(builder, op.getLoc(), type, *registers));
  op.erase();
  return success();
}

/// Upper bound of the workgroup memory for layout conversions.
static uint64_t estimateExchangeBytes(FunctionOpInterface function) {
  uint64_t bytes = 0;
  function->walk([&](Operation *op) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      bytes = std::max(bytes, getReductionBytes(reduce));
      return;
    }
    if (!isa<tile::BroadcastOp, tile::ConvertLayoutOp, tile::ExpandDimsOp,
             tile::TransposeOp>(op))
      return;
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    uint64_t width =
        getStorageType(type.getElementType()).getIntOrFloatBitWidth();
    bytes = std::max<uint64_t>(bytes, type.getNumElements() * width / 8);
  });
  return bytes;
}

static LogicalResult lowerFunction(FunctionOpInterface function,
                                   const MatmulTarget *target,
                                   StringRef targetName, unsigned warpSize,
                                   uint64_t maxScratchBytes) {
  SmallVector<tile::MatmulOp> ops;
  function->walk([&](tile::MatmulOp op) { ops.push_back(op); });
  if (ops.empty())
    return success();
  if (!target)
    return reportNoMatmulTarget(ops.front(), targetName);

  KernelInfo kernel = getKernelInfo(function, warpSize);
  uint64_t bytes = 0;
  // The kernel's declared buffers reduce the memory available for scratch.
  uint64_t declared = getWorkgroupAttributionBytes(function);
  maxScratchBytes -= std::min(declared, maxScratchBytes);
  for (tile::MatmulOp op : ops) {
    RankedTensorType type = op.getResult().getType();
    Attribute natural = op->getAttr(tile::kResultLayoutAttr);
    if (!natural || !type.getEncoding() ||
        getLinearLayout(type) != getLinearLayout(natural, type.getShape()))
      return op.emitOpError("gives ")
             << type
             << "; expected the target's layout, from "
                "tile-assign-matmul-layouts and tile-assign-layouts";
    if (target->lowersKernels())
      continue;
    uint64_t needed = target->getWorkgroupBytes(op, kernel.numWarps);
    if (needed > maxScratchBytes)
      return op.emitOpError("needs ")
             << needed << " bytes of workgroup memory for a k-block of "
             << op.getNumRows() << " rows and " << op.getNumColumns()
             << " columns; expected at most " << maxScratchBytes;
    LDBG() << type << ": " << needed << " of " << maxScratchBytes
           << " bytes of workgroup memory for a k-block";
    bytes = std::max(bytes, needed);
  }
  if (target->lowersKernels())
    return target->lowerKernel(
        function, kernel,
        std::min(estimateExchangeBytes(function), maxScratchBytes));
  emitThreadNumbers(function, kernel);
  if (bytes)
    kernel.scratch = getScratch(function, bytes);
  for (tile::MatmulOp op : ops)
    if (failed(lowerMatmul(op, *target, kernel)))
      return failure();
  return success();
}

namespace {
struct TileLowerMatmulPass
    : iris::impl::TileLowerMatmulPassBase<TileLowerMatmulPass> {
  using TileLowerMatmulPassBase::TileLowerMatmulPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    TileLowerMatmulPassBase::getDependentDialects(registry);
    registerNVVMDialect(registry);
    registerROCDLDialect(registry);
  }

  void runOnOperation() override {
    std::unique_ptr<MatmulTarget> matmul = createMatmulTarget(target);
    WalkResult walk = getOperation()->walk([&](FunctionOpInterface function) {
      return failed(lowerFunction(function, matmul.get(), target, warpSize,
                                  maxScratchBytes))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
