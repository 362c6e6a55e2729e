// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ShortLoops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

/// The number of iterations, if it is known. The difference of two constants
/// may need a bit more than their type has.
static std::optional<APInt> getTripCount(scf::ForOp loop) {
  APInt lower, upper, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&upper))) {
    if (loop.getUnsignedCmp())
      return std::nullopt; // MLIR takes the constant for a signed one
    return loop.getStaticTripCount(); // of `lower + constant` without overflow
  }
  auto widen = [&](const APInt &value) {
    unsigned width = value.getBitWidth() + 1;
    return loop.getUnsignedCmp() ? value.zext(width) : value.sext(width);
  };
  APInt distance = widen(upper) - widen(lower);
  if (distance.sle(0))
    return APInt(distance.getBitWidth(), 0);
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || widen(step).sle(0))
    return std::nullopt;
  return llvm::APIntOps::RoundingUDiv(distance, widen(step),
                                      APInt::Rounding::UP);
}

/// Moves the body of a loop of a single iteration in front of it.
static void inlineBody(scf::ForOp loop, PatternRewriter &rewriter) {
  SmallVector<Value> arguments = {loop.getLowerBound()};
  llvm::append_range(arguments, loop.getInitArgs());
  Operation *yield = loop.getBody()->getTerminator();
  SmallVector<Value> results;
  rewriter.inlineBlockBefore(loop.getBody(), loop, arguments);
  llvm::append_range(results, yield->getOperands());
  rewriter.replaceOp(loop, results);
  rewriter.eraseOp(yield);
}

/// Whether the body computes nothing, and yields values from outside.
static bool isEmpty(scf::ForOp loop) {
  return llvm::hasSingleElement(*loop.getBody()) &&
         llvm::all_of(loop.getYieldedValues(), [&](Value value) {
           return loop.isDefinedOutsideOfLoop(value);
         });
}

namespace {
struct SimplifyShortLoop : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop,
                                PatternRewriter &rewriter) const override {
    if (loop.getLowerBound() == loop.getUpperBound()) {
      rewriter.replaceOp(loop, loop.getInitArgs());
      return success();
    }
    std::optional<APInt> count = getTripCount(loop);
    if (!count)
      return rewriter.notifyMatchFailure(loop, "unknown trip count");
    if (count->isZero())
      rewriter.replaceOp(loop, loop.getInitArgs());
    else if (count->isOne())
      inlineBody(loop, rewriter);
    else if (isEmpty(loop))
      rewriter.replaceOp(loop, SmallVector<Value>(loop.getYieldedValues()));
    else
      return rewriter.notifyMatchFailure(loop, "several iterations");
    return success();
  }
};
} // namespace

void mlir::iris::populateShortLoopPatterns(RewritePatternSet &patterns) {
  patterns.add<SimplifyShortLoop>(patterns.getContext());
}
