// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeFloat8.cpp - Lowers f8 values to i8 ------------------------===//
//
// LLVM has no f8 types. Conversions are integer arithmetic, with the same bits
// on every target; all other ops on f8 in kernels only move bits.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "iris/Dialect/Iris/Utils/Float8.h"
#include "iris/Dialect/Iris/Utils/RoundToOdd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"

#define DEBUG_TYPE "iris-legalize-float8"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISLEGALIZEFLOAT8PASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType,
             Float8E5M2FNUZType>(getElementTypeOrSelf(type));
}

/// `type` with other elements.
static Type withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(element)) : element;
}

namespace {

struct ConstantPattern : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    auto codeOf = [&](const APFloat &value) {
      return IntegerAttr::get(rewriter.getI8Type(), value.bitcastToAPInt());
    };
    TypedAttr codes;
    if (auto scalar = dyn_cast<FloatAttr>(op.getValue()))
      codes = codeOf(scalar.getValue());
    else if (auto splat = dyn_cast<SplatElementsAttr>(op.getValue()))
      codes = DenseElementsAttr::get(cast<ShapedType>(type),
                                     codeOf(splat.getSplatValue<APFloat>()));
    else
      return rewriter.notifyMatchFailure(op, "not a splat");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, codes);
    return success();
  }
};

/// A bitcast between f8 and i8 is a no-op.
struct BitcastPattern : OpConversionPattern<arith::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::BitcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getIn());
    return success();
  }
};

/// Widening is exact, so it may go through f32.
struct ExtendPattern : OpConversionPattern<arith::ExtFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ExtFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = cast<FloatType>(getElementTypeOrSelf(op.getIn().getType()));
    auto to = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    Value value = emitFromFloat8(b, type, adaptor.getIn());
    if (to.getWidth() > 32)
      value = arith::ExtFOp::create(b, op.getType(), value);
    else if (to.getWidth() < 32)
      value = arith::TruncFOp::create(b, op.getType(), value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// Rounds once: f16 and bf16 are exact in f32, f64 is first rounded to odd f32.
struct TruncatePattern : OpConversionPattern<arith::TruncFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value value = adaptor.getIn();
    unsigned width =
        getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
    if (width > 32)
      value = emitRoundToOdd(b, value);
    else if (width < 32)
      value = arith::ExtFOp::create(
          b, withElement(value.getType(), b.getF32Type()), value);
    auto type = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    rewriter.replaceOp(op, emitToFloat8(b, type, value));
    return success();
  }
};

/// Ops that move values are applied to the encodings.
template <typename OpT>
struct MovePattern : OpConversionPattern<OpT> {
  using OpConversionPattern<OpT>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = this->getTypeConverter()->convertType(op.getType());
    rewriter.replaceOpWithNewOp<OpT>(op, type, adaptor.getOperands());
    return success();
  }
};

struct LegalizeFloat8Pass
    : iris::impl::IrisLegalizeFloat8PassBase<LegalizeFloat8Pass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](Type type) -> std::optional<Type> {
      if (isa<MemRefType>(type) || !isFloat8(type))
        return std::nullopt;
      return withElement(type, IntegerType::get(type.getContext(), 8));
    });

    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal(
        [&](Operation *op) { return converter.isLegal(op); });
    RewritePatternSet patterns(context);
    patterns.add<BitcastPattern, ConstantPattern, ExtendPattern,
                 MovePattern<arith::SelectOp>, MovePattern<tensor::SplatOp>,
                 TruncatePattern>(converter, context);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    ConversionConfig config;
    config.allowPatternRollback = false;
    // MLIR's fold of arith.truncf keeps infinities, which the kernel language
    // makes the largest number.
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
