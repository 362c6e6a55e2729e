// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandMath.cpp - Math functions as arithmetic ----------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "ExpandFunctions.h"
#include "iris/Dialect/Iris/Transforms/WidenFloats.h"
#include "iris/Dialect/Iris/Utils/RewriteOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#define DEBUG_TYPE "iris-expand-math"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISEXPANDMATHPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// Functions of f32 for which upstream's polynomials are accurate enough.
/// Listed explicitly, because its approximation of `rsqrt` is an x86
/// instruction.
static bool isUpstreamPolynomial(StringRef name) {
  static constexpr StringLiteral names[] = {
      "math.acos",  "math.asin",  "math.erf", "math.erfc",
      "math.expm1", "math.log1p", "math.tanh"};
  return llvm::is_contained(names, name);
}

namespace {
/// Computes f16 and bf16 functions in f32, rounded once at the end.
struct Widen : RewritePattern {
  Widen(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/3, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
        !llvm::any_of(op->getOperandTypes(), isNarrowFloat))
      return rewriter.notifyMatchFailure(op, "not a function of f16 or bf16");
    // These work on the bits, or round once in the narrow type too.
    if (isa<math::AbsFOp, math::CopySignOp, math::FmaOp, math::IsFiniteOp,
            math::IsInfOp, math::IsNaNOp, math::IsNormalOp>(op))
      return rewriter.notifyMatchFailure(op, "computed in its own type");
    computeInF32(op, rewriter);
    return success();
  }
};
} // namespace

namespace {
/// `vector.fma` rounds once, as `math.fma` does; MLIR lowers it to `fmuladd`,
/// whose product LLVM may round, too.
struct RoundFmaOnce : OpRewritePattern<vector::FMAOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::FMAOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<math::FmaOp>(op, op.getLhs(), op.getRhs(),
                                             op.getAcc());
    return success();
  }
};
} // namespace

namespace {
struct ExpandMathPass : iris::impl::IrisExpandMathPassBase<ExpandMathPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<RoundFmaOnce, Widen>(context);
    populateMathPolynomialApproximationPatterns(patterns, isUpstreamPolynomial);
    populateExpandExponentialsPatterns(patterns);
    populateExpandTrigonometryPatterns(patterns);
    math::populateExpansionPatterns(patterns, {"rsqrt"});
    if (failed(
            rewriteOps(getOperation(), std::move(patterns), [](Operation *op) {
              return isa<vector::FMAOp>(op) ||
                     isa_and_nonnull<math::MathDialect>(op->getDialect());
            })))
      signalPassFailure();
  }
};
} // namespace
