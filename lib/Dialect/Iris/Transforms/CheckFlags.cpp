// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckFlags.cpp - Constant indices of flags -------------------------===//
//
// A wait for a flag outside of its buffer ends only by its time limit, and a
// signal there changes other memory. Both are found here if the index and the
// size are constants. Accesses and launches under a condition are not checked:
// the condition may be that the flag exists.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-check-flags"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISCHECKFLAGSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

namespace {
/// One constant index of a signal or wait.
struct FlagIndex {
  Operation *op;
  Value buffer;
  unsigned dim;
  int64_t index;
};
} // namespace

/// The constant indices of the signals and waits that every program executes.
static SmallVector<FlagIndex> findFlags(gpu::GPUFuncOp kernel) {
  SmallVector<FlagIndex> flags;
  auto collect = [&](auto op) {
    for (auto [dim, offset] : llvm::enumerate(op.getOffsets()))
      if (std::optional<int64_t> index = getConstantIntValue(offset))
        flags.push_back({op, op.getBuffer(), unsigned(dim), *index});
  };
  for (Operation &op : kernel.getBody().front())
    llvm::TypeSwitch<Operation *>(&op).Case<SignalOp, WaitOp>(collect);
  return flags;
}

/// Checks an index by the type of the buffer alone.
static LogicalResult checkType(const FlagIndex &flag) {
  int64_t size = cast<MemRefType>(flag.buffer.getType()).getDimSize(flag.dim);
  if (flag.index >= 0 && (ShapedType::isDynamic(size) || flag.index < size))
    return success();
  InFlightDiagnostic error = flag.op->emitOpError("accesses index ")
                             << flag.index << " of dimension " << flag.dim
                             << " of the flags; expected ";
  if (ShapedType::isDynamic(size))
    return error << "0 or more";
  return error << "0 to " << size - 1;
}

/// The size of a dimension of what an iris.alloc returns, if it is constant.
static std::optional<int64_t> getAllocatedSize(Value buffer, unsigned dim) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  auto alloc = buffer.getDefiningOp<AllocOp>();
  if (!alloc)
    return std::nullopt;
  auto type = cast<MemRefType>(alloc.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  return getConstantIntValue(alloc.getSizes()[type.getDynamicDimIndex(dim)]);
}

/// Checks an index by the buffer that a launch passes.
static LogicalResult checkLaunch(LaunchOp launch, gpu::GPUFuncOp kernel,
                                 const FlagIndex &flag) {
  auto argument = dyn_cast<BlockArgument>(flag.buffer);
  if (!argument || argument.getOwner() != &kernel.getBody().front() ||
      argument.getArgNumber() >= launch.getKernelOperands().size())
    return success();
  unsigned number = argument.getArgNumber();
  std::optional<int64_t> size =
      getAllocatedSize(launch.getKernelOperands()[number], flag.dim);
  LDBG() << *flag.op << ": argument " << number << " has "
         << size.value_or(ShapedType::kDynamic) << " flags";
  if (!size || flag.index < *size)
    return success();
  InFlightDiagnostic error =
      launch.emitOpError("passes as argument ")
      << number << " flags of size " << *size << " in dimension " << flag.dim
      << "; expected at least " << flag.index + 1 << ", because "
      << launch.getKernel() << " accesses index " << flag.index;
  error.attachNote(flag.op->getLoc()) << "the access is here";
  return error;
}

namespace {
struct CheckFlagsPass : iris::impl::IrisCheckFlagsPassBase<CheckFlagsPass> {
  void runOnOperation() override {
    getOperation()->walk([&](gpu::GPUFuncOp kernel) {
      for (const FlagIndex &flag : findFlags(kernel))
        if (failed(checkType(flag)))
          signalPassFailure();
    });
    SymbolTableCollection symbols;
    getOperation()->walk([&](LaunchOp launch) {
      auto kernel = symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(
          launch, launch.getKernelAttr());
      if (!kernel || launch->getParentOfType<scf::IfOp>())
        return;
      for (const FlagIndex &flag : findFlags(kernel))
        if (failed(checkLaunch(launch, kernel, flag)))
          signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
