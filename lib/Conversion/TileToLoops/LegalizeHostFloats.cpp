// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeHostFloats.cpp - f16 and bf16 on x86 -----------------------===//

#include "iris/Conversion/TileToLoops.h"

#include "iris/Dialect/Iris/Transforms/WidenFloats.h"
#include "iris/Dialect/Iris/Utils/RewriteOps.h"
#include "iris/Dialect/Iris/Utils/RoundToOdd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>

#define DEBUG_TYPE "iris-legalize-host-floats"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISLEGALIZEHOSTFLOATSPASS
#include "iris/Conversion/TileToLoopsPasses.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

namespace {
/// x86 converts f64 to f16 or bf16 only by a library call.
struct NarrowOnce : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isF64() ||
        !isNarrowFloat(op.getType()))
      return rewriter.notifyMatchFailure(op, "not f64 to a 16-bit float");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(),
                                                 emitRoundToOdd(b, op.getIn()));
    return success();
  }
};

/// Widening also goes through f32; it is exact.
struct WidenInSteps : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType();
    if (!op.getType().isF64() || !(from.isF16() || from.isBF16()))
      return rewriter.notifyMatchFailure(op, "not a 16-bit float to f64");
    Value wide = arith::ExtFOp::create(rewriter, op.getLoc(),
                                       rewriter.getF32Type(), op.getIn());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), wide);
    return success();
  }
};

/// Integers also round once: they go through f64, which represents every i32.
template <typename OpT>
struct ConvertIntegerOnce : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    Type to = op.getType();
    if (!to.isF16() && !to.isBF16())
      return rewriter.notifyMatchFailure(op, "not to a 16-bit float");
    Value wide =
        OpT::create(rewriter, op.getLoc(), rewriter.getF64Type(), op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, to, wide);
    return success();
  }
};

/// fma rounds once.
struct WidenFma : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    if (!isNarrowFloat(op.getType()))
      return rewriter.notifyMatchFailure(op, "not on 16-bit floats");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value sum = emitFmaRoundedToOdd(b, op->getOperand(0), op->getOperand(1),
                                    op->getOperand(2));
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), sum);
    return success();
  }
};

/// Operations on the sign of a bf16 become operations on its bits.
struct SignOfBf16 : RewritePattern {
  SignOfBf16(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<arith::NegFOp, math::AbsFOp, math::CopySignOp>(op) ||
        !op->getResult(0).getType().isBF16())
      return rewriter.notifyMatchFailure(op, "not on the sign of a bf16");
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    Type i16 = b.getI16Type();
    auto bitsOf = [&](Value value) -> Value {
      return arith::BitcastOp::create(b, i16, value);
    };
    Value sign = arith::ConstantIntOp::create(
        b, i16, std::numeric_limits<int16_t>::min());
    Value bits = bitsOf(op->getOperand(0));
    if (isa<arith::NegFOp>(op)) {
      bits = arith::XOrIOp::create(b, bits, sign);
    } else {
      Value rest = arith::ConstantIntOp::create(
          b, i16, std::numeric_limits<int16_t>::max());
      bits = arith::AndIOp::create(b, bits, rest);
      if (isa<math::CopySignOp>(op)) {
        Value from = arith::AndIOp::create(b, bitsOf(op->getOperand(1)), sign);
        bits = arith::OrIOp::create(b, bits, from);
      }
    }
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, b.getBF16Type(), bits);
    return success();
  }
};

/// The class of a bf16 is that of the f32 with the same upper bits.
struct ClassifyBf16 : RewritePattern {
  ClassifyBf16(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<math::IsFiniteOp, math::IsInfOp, math::IsNaNOp, math::IsNormalOp>(
            op) ||
        !op->getOperand(0).getType().isBF16())
      return rewriter.notifyMatchFailure(op, "not a class of a bf16");
    computeInF32(op, rewriter);
    return success();
  }
};

/// Arithmetic on 16-bit floats becomes arithmetic on f32.
struct WidenArithmetic : RewritePattern {
  WidenArithmetic(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()) ||
        op->getNumResults() != 1)
      return rewriter.notifyMatchFailure(op, "not arithmetic");
    // Conversions, and ops on the bits.
    if (isa<arith::BitcastOp, arith::ConstantOp, arith::ExtFOp, arith::NegFOp,
            arith::SelectOp, arith::SIToFPOp, arith::TruncFOp, arith::UIToFPOp>(
            op))
      return rewriter.notifyMatchFailure(op, "needs no arithmetic");
    if (!llvm::any_of(op->getOperandTypes(), isNarrowFloat))
      return rewriter.notifyMatchFailure(op, "not on 16-bit floats");
    computeInF32(op, rewriter);
    return success();
  }
};

/// Computes `minnum` and `maxnum` by comparisons, those of f16 in f32: LLVM
/// would narrow them to f16 where their operands are widened f16, which x86
/// supports only as math library calls.
struct CompareNumbers : RewritePattern {
  CompareNumbers(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<arith::MinNumFOp, arith::MaxNumFOp>(op) ||
        getElementTypeOrSelf(op->getResult(0).getType()).isBF16())
      return rewriter.notifyMatchFailure(op, "not minnum or maxnum");
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    auto widen = [&](Value x) -> Value {
      if (!getElementTypeOrSelf(x.getType()).isF16())
        return x;
      Type wide = b.getF32Type();
      if (auto vector = dyn_cast<VectorType>(x.getType()))
        wide = vector.clone(wide);
      return arith::ExtFOp::create(b, wide, x);
    };
    Value first = widen(op->getOperand(0)), second = widen(op->getOperand(1));
    auto compare = [&](arith::CmpFPredicate predicate, Value x,
                       Value y) -> Value {
      return arith::CmpFOp::create(b, predicate, x, y);
    };
    Value isFirst =
        compare(isa<arith::MinNumFOp>(op) ? arith::CmpFPredicate::OLT
                                          : arith::CmpFPredicate::OGT,
                first, second);
    Value isNaN = compare(arith::CmpFPredicate::UNO, second, second);
    // A NaN is selected only if both are NaN.
    Value number = arith::SelectOp::create(b, isFirst, op->getOperand(0),
                                           op->getOperand(1));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNaN, op->getOperand(0),
                                                 number);
    return success();
  }
};

/// Ops of types that x86 does not have, and the ones of `CompareNumbers`.
bool mayBeIllegal(Operation *op) {
  return isa<arith::MinNumFOp, arith::MaxNumFOp>(op) ||
         llvm::any_of(op->getOperandTypes(), isNarrowFloat) ||
         llvm::any_of(op->getResultTypes(), isNarrowFloat);
}

struct LegalizeHostFloatsPass
    : iris::impl::IrisLegalizeHostFloatsPassBase<LegalizeHostFloatsPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet conversions(context);
    conversions.add<ClassifyBf16, CompareNumbers, NarrowOnce, SignOfBf16,
                    WidenArithmetic, WidenInSteps, WidenFma,
                    ConvertIntegerOnce<arith::SIToFPOp>,
                    ConvertIntegerOnce<arith::UIToFPOp>>(context);
    if (failed(
            rewriteOps(getOperation(), std::move(conversions), mayBeIllegal)))
      return signalPassFailure();

    RewritePatternSet bf16(context);
    arith::populateExpandBFloat16Patterns(bf16);
    if (failed(rewriteOps(getOperation(), std::move(bf16),
                          llvm::IsaPred<arith::ExtFOp, arith::TruncFOp>)))
      signalPassFailure();
  }
};
} // namespace
