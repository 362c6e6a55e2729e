// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandMath.cpp - Math functions as arithmetic -----------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "iris-expand-math"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISEXPANDMATHPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// Functions that every target has an instruction for, in all float types.
static bool hasInstruction(StringRef name) {
  static constexpr StringLiteral names[] = {
      "math.absf",  "math.ceil",      "math.copysign", "math.floor", "math.fma",
      "math.round", "math.roundeven", "math.sqrt",     "math.trunc"};
  return llvm::is_contained(names, name);
}

/// f16 and bf16 functions in f32, rounded once at the end.
static LogicalResult widen(Operation *root) {
  MLIRContext *context = root->getContext();
  TypeConverter converter;
  SetVector<Type> narrow;
  narrow.insert(Float16Type::get(context));
  narrow.insert(BFloat16Type::get(context));
  math::populateExtendToSupportedTypesTypeConverter(
      converter, narrow, Float32Type::get(context));
  ConversionTarget target(*context);
  math::populateExtendToSupportedTypesConversionTarget(target, converter);
  // These work on the bits, or are exact, in the narrow type as well.
  target.addLegalOp<math::AbsFOp, math::CopySignOp, math::IsFiniteOp,
                    math::IsInfOp, math::IsNaNOp, math::IsNormalOp>();
  RewritePatternSet patterns(context);
  math::populateExtendToSupportedTypesPatterns(patterns, converter);
  return applyPartialConversion(root, target, std::move(patterns));
}

namespace {
struct ExpandMathPass : iris::impl::IrisExpandMathPassBase<ExpandMathPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    if (failed(widen(getOperation())))
      return signalPassFailure();
    RewritePatternSet patterns(context);
    populateMathPolynomialApproximationPatterns(
        patterns, [](StringRef name) { return !hasInstruction(name); });
    math::populateExpansionPatterns(patterns, {"exp2", "powf", "rsqrt"});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
