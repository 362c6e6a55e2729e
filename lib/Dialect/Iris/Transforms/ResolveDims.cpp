// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ResolveDims.cpp - Resolves dimensions of memref.dim ----------------===//
//
// For upstream, a dimension that a buffer does not have is undefined behavior,
// but not all of its patterns check before they use one: gpu.alloc's
// canonicalization reads outside of the type's shape for a negative dimension.
// So the IR must not contain one, and folding must not create one: a dimension
// that is not constant becomes a selection among the existing dimensions.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-resolve-dims"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISRESOLVEDIMSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// The dimension, if it is the same in every execution of the op.
static std::optional<int64_t> findConstant(memref::DimOp op,
                                           DataFlowSolver &solver) {
  // The analysis has no result for dead code.
  if (std::optional<int64_t> constant = op.getConstantIndex())
    return constant;
  using State = dataflow::Lattice<dataflow::ConstantValue>;
  const auto *state = solver.lookupState<State>(op.getIndex());
  if (!state || state->getValue().isUninitialized())
    return std::nullopt;
  auto constant =
      dyn_cast_or_null<IntegerAttr>(state->getValue().getConstantValue());
  return constant ? std::optional(constant.getInt()) : std::nullopt;
}

/// The size of the dimension given by the op's operand; of the last one if
/// there is no such dimension.
static Value selectSize(memref::DimOp op, int64_t rank) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value size = memref::DimOp::create(b, loc, op.getSource(), rank - 1);
  for (int64_t dim = rank - 2; dim >= 0; --dim) {
    Value number = arith::ConstantIndexOp::create(b, loc, dim);
    Value isDim = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        op.getIndex(), number);
    Value dimSize = memref::DimOp::create(b, loc, op.getSource(), dim);
    size = arith::SelectOp::create(b, loc, isDim, dimSize, size);
  }
  return size;
}

static LogicalResult resolve(memref::DimOp op, std::optional<int64_t> dim) {
  auto type = dyn_cast<MemRefType>(op.getSource().getType());
  if (!type)
    return op.emitOpError("takes a dimension of ")
           << op.getSource().getType() << "; expected a buffer with a rank";
  int64_t rank = type.getRank();
  LDBG() << op << ": "
         << (dim ? "a constant dimension" : "selects among all dimensions");
  if (!dim) {
    op.replaceAllUsesWith(selectSize(op, rank));
    op.erase();
    return success();
  }
  if (*dim < 0 || *dim >= rank) {
    InFlightDiagnostic error = op.emitOpError("has dimension ")
                               << *dim << "; expected 0";
    if (rank > 1)
      error << " to " << rank - 1;
    return error;
  }
  if (!op.getConstantIndex()) {
    OpBuilder b(op);
    op.getIndexMutable().assign(
        arith::ConstantIndexOp::create(b, op.getLoc(), *dim));
  }
  return success();
}

namespace {
struct ResolveDimsPass : iris::impl::IrisResolveDimsPassBase<ResolveDimsPass> {
  void runOnOperation() override {
    DataFlowSolver solver;
    dataflow::loadBaselineAnalyses(solver);
    if (failed(solver.initializeAndRun(getOperation())))
      return signalPassFailure();
    // The analysis is valid only for the unchanged IR.
    SmallVector<std::pair<memref::DimOp, std::optional<int64_t>>> ops;
    getOperation()->walk([&](memref::DimOp op) {
      ops.emplace_back(op, findConstant(op, solver));
    });
    for (auto [op, dim] : ops)
      if (failed(resolve(op, dim)))
        signalPassFailure();
  }
};
} // namespace
