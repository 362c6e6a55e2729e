// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandPositions.cpp - Positions of elements become selections ------===//
//
// `fold` of vector.insert and vector.extract makes a constant position an
// attribute of the op, and may give a constant result at once. Constant
// propagation, which folds ops for the first iteration of a loop to see what
// comes out, undoes such a change only if there is no result: the position
// stays what it was in the first iteration. Where all passes look, there must
// be no position that is not constant.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "iris/Dialect/Iris/Utils/RewriteOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-expand-positions"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISEXPANDPOSITIONSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// Whether the op has the only position that vectors of one dimension have, and
/// it is not constant.
template <typename Op>
static bool hasDynamicPosition(Op op) {
  return op.getDynamicPosition().size() == 1 &&
         op.getStaticPosition().size() == 1;
}

static Value isPosition(OpBuilder &b, Location loc, Value position, int64_t n) {
  Value number = arith::ConstantIndexOp::create(b, loc, n);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, position,
                               number);
}

namespace {
struct ExtractAtPattern : OpRewritePattern<vector::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ExtractOp op,
                                PatternRewriter &rewriter) const override {
    if (!hasDynamicPosition(op))
      return rewriter.notifyMatchFailure(op, "has a constant position");
    LDBG() << op << ": selects among all elements";
    Location loc = op.getLoc();
    Value position = op.getDynamicPosition().front();
    Value result =
        vector::ExtractOp::create(rewriter, loc, op.getSource(), int64_t(0));
    int64_t size = op.getSourceVectorType().getNumElements();
    for (int64_t n = 1; n < size; ++n) {
      Value element =
          vector::ExtractOp::create(rewriter, loc, op.getSource(), n);
      result = arith::SelectOp::create(rewriter, loc,
                                       isPosition(rewriter, loc, position, n),
                                       element, result);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct InsertAtPattern : OpRewritePattern<vector::InsertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::InsertOp op,
                                PatternRewriter &rewriter) const override {
    if (!hasDynamicPosition(op))
      return rewriter.notifyMatchFailure(op, "has a constant position");
    LDBG() << op << ": selects for all elements";
    Location loc = op.getLoc();
    Value position = op.getDynamicPosition().front();
    SmallVector<Value> elements;
    int64_t size = op.getDestVectorType().getNumElements();
    for (int64_t n = 0; n < size; ++n) {
      Value element = vector::ExtractOp::create(rewriter, loc, op.getDest(), n);
      elements.push_back(arith::SelectOp::create(
          rewriter, loc, isPosition(rewriter, loc, position, n),
          op.getValueToStore(), element));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(
        op, op.getDestVectorType(), elements);
    return success();
  }
};

struct ExpandPositionsPass
    : iris::impl::IrisExpandPositionsPassBase<ExpandPositionsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExtractAtPattern, InsertAtPattern>(&getContext());
    if (failed(rewriteOps(getOperation(), std::move(patterns),
                          llvm::IsaPred<vector::ExtractOp, vector::InsertOp>)))
      signalPassFailure();
  }
};
} // namespace
