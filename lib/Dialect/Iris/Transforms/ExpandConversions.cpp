// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandConversions.cpp - bf16, rounded once -------------------------===//
//
// LLVM converts integers to bf16 by way of f32 or f64, and rounds twice: 2^24 +
// 2^16 + 1 becomes 2^24 + 2^16 in f32, a tie, which is rounded to 2^24.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "Arithmetic.h"
#include "iris/Dialect/Iris/Utils/RewriteOps.h"
#include "iris/Dialect/Iris/Utils/RoundToOdd.h"

#define DEBUG_TYPE "iris-expand-conversions"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISEXPANDCONVERSIONSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// Bits of precision of f32.
static constexpr unsigned kPrecision = 24;
static constexpr unsigned kFractionBits = kPrecision - 1;
static constexpr unsigned kExponentBias = 127;

/// Converts `magnitude`, an unsigned integer of `bits` bits, to f32, rounded to
/// odd: its first 24 bits, of which the last is set if any other bit is.
/// Rounding the result again gives what rounding once does.
static Value convertToOdd(Arithmetic &a, Value magnitude, unsigned bits) {
  ImplicitLocOpBuilder &b = a.b;
  Type i32 = a.like(b.getI32Type());
  Value zeros = math::CountLeadingZerosOp::create(b, magnitude);
  Value shift =
      arith::SubIOp::create(b, a.integer(bits, bits - kPrecision), zeros);
  shift = arith::MaxSIOp::create(b, shift, a.integer(bits, 0));
  Value kept = arith::ShRUIOp::create(b, magnitude, shift);
  Value back = arith::ShLIOp::create(b, kept, shift);
  Value isInexact =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, back, magnitude);
  Value sticky = arith::ExtUIOp::create(b, kept.getType(), isInexact);
  Value odd = arith::OrIOp::create(b, kept, sticky);
  if (bits > 32) {
    odd = arith::TruncIOp::create(b, i32, odd);
    shift = arith::TruncIOp::create(b, i32, shift);
  }
  Value number = arith::UIToFPOp::create(b, a.like(b.getF32Type()), odd);
  Value exponent =
      arith::AddIOp::create(b, shift, a.integer(32, kExponentBias));
  exponent = arith::ShLIOp::create(b, exponent, a.integer(32, kFractionBits));
  Value scale = arith::BitcastOp::create(b, a.like(b.getF32Type()), exponent);
  return a.mul(number, scale);
}

namespace {
template <typename OpT>
struct ConvertOnce : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    constexpr bool isSigned = std::is_same_v<OpT, arith::SIToFPOp>;
    Value value = op.getIn();
    unsigned width =
        getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
    if (!getElementTypeOrSelf(op.getType()).isBF16() || width <= kPrecision ||
        width > 64)
      return rewriter.notifyMatchFailure(op, "f32 holds the integer");
    Arithmetic a(op.getLoc(), rewriter, op.getType());
    unsigned bits = width > 32 ? 64 : 32;
    if (width != bits) {
      Type wide = a.like(rewriter.getIntegerType(bits));
      value = isSigned ? arith::ExtSIOp::create(a.b, wide, value).getResult()
                       : arith::ExtUIOp::create(a.b, wide, value).getResult();
    }
    Value result;
    if (isSigned) {
      Value zero = a.integer(bits, 0);
      Value isNegative =
          arith::CmpIOp::create(a.b, arith::CmpIPredicate::slt, value, zero);
      Value negated = arith::SubIOp::create(a.b, zero, value);
      result = convertToOdd(a, a.select(isNegative, negated, value), bits);
      result = a.select(isNegative, arith::NegFOp::create(a.b, result), result);
    } else {
      result = convertToOdd(a, value, bits);
    }
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), result);
    return success();
  }
};

/// The first magnitude that f16 rounds to infinity and that is a power of two:
/// larger ones may become it.
static constexpr double kOverflowOfF16 = 65536.0;
/// Integers of fewer bits, with their sign, do not overflow f16.
static constexpr unsigned kOverflowBits = 16;

template <typename OpT>
static bool mayOverflowF16(OpT op) {
  return op &&
         getElementTypeOrSelf(op.getIn().getType()).getIntOrFloatBitWidth() >=
             kOverflowBits;
}

/// Narrows a converted integer to f16. LLVM takes a conversion to f16 that is
/// widened again for one to the wider type if f16 has the bits, and forgets
/// that it may not have the exponent. It does not look through the clamp.
static Value narrowToF16(Arithmetic &a, Type type, Value number) {
  Type element = getElementTypeOrSelf(number.getType());
  Value clamped = arith::MinimumFOp::create(
      a.b, number, a.floating(element, kOverflowOfF16));
  clamped = arith::MaximumFOp::create(a.b, clamped,
                                      a.floating(element, -kOverflowOfF16));
  return arith::TruncFOp::create(a.b, type, clamped);
}

template <typename OpT>
struct ConvertToF16 : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF16() || !mayOverflowF16(op))
      return rewriter.notifyMatchFailure(op, "does not overflow f16");
    Arithmetic a(op.getLoc(), rewriter, op.getType());
    // f32 holds the integers that do not overflow.
    Value number = OpT::create(a.b, a.like(rewriter.getF32Type()), op.getIn());
    rewriter.replaceOp(op, narrowToF16(a, op.getType(), number));
    return success();
  }
};

struct NarrowToF16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Value in = op.getIn();
    if (!getElementTypeOrSelf(op.getType()).isF16() ||
        !(mayOverflowF16(in.getDefiningOp<arith::SIToFPOp>()) ||
          mayOverflowF16(in.getDefiningOp<arith::UIToFPOp>())))
      return rewriter.notifyMatchFailure(op, "not of a large integer");
    Arithmetic a(op.getLoc(), rewriter, op.getType());
    rewriter.replaceOp(op, narrowToF16(a, op.getType(), in));
    return success();
  }
};

/// LLVM computes fma of bf16 in f32, and rounds twice.
struct FmaOnce : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isBF16())
      return rewriter.notifyMatchFailure(op, "not on bf16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value sum = emitFmaRoundedToOdd(b, op.getA(), op.getB(), op.getC());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(),
                                                 emitRoundToOdd(b, sum));
    return success();
  }
};

struct ExpandConversionsPass
    : iris::impl::IrisExpandConversionsPassBase<ExpandConversionsPass> {
  using Base = iris::impl::IrisExpandConversionsPassBase<ExpandConversionsPass>;
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvertOnce<arith::SIToFPOp>, ConvertOnce<arith::UIToFPOp>>(
        &getContext());
    patterns.add<ConvertToF16<arith::SIToFPOp>, ConvertToF16<arith::UIToFPOp>,
                 NarrowToF16>(&getContext());
    if (fmaBf16)
      patterns.add<FmaOnce>(&getContext());
    if (failed(rewriteOps(getOperation(), std::move(patterns),
                          llvm::IsaPred<arith::SIToFPOp, arith::UIToFPOp,
                                        arith::TruncFOp, math::FmaOp>)))
      signalPassFailure();
  }
};
} // namespace
