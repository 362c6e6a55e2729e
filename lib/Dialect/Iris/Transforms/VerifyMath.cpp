// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VerifyMath.cpp - The math functions all targets have ---------------===//
//
// The table of docs/math.md. Keep the two in step.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"

#define DEBUG_TYPE "iris-verify-math"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISVERIFYMATHPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

namespace {
/// The element types a function is supported for.
enum class Support {
  None,
  /// f16, bf16 and f32: a polynomial.
  UpToF32,
  /// f16, bf16, f32 and f64: an instruction.
  AllFloats,
  /// i8, i16, i32, i64 and index.
  Integers
};
} // namespace

static Support supportOf(StringRef function) {
  return llvm::StringSwitch<Support>(function)
      .Cases({"acos", "asin", "atan", "atan2", "cbrt", "cos", "erf", "erfc"},
             Support::UpToF32)
      .Cases({"exp", "exp2", "expm1", "log", "log1p", "log2", "powf", "sin",
              "tanh"},
             Support::UpToF32)
      .Cases({"absf", "ceil", "copysign", "floor", "fma", "round"},
             Support::AllFloats)
      .Cases({"roundeven", "rsqrt", "sqrt", "trunc"}, Support::AllFloats)
      .Cases({"isfinite", "isinf", "isnan", "isnormal"}, Support::AllFloats)
      .Cases({"absi", "ctlz", "ctpop", "cttz"}, Support::Integers)
      .Default(Support::None);
}

static bool isSupported(Support support, Type type) {
  switch (support) {
  case Support::None:
    return false;
  case Support::UpToF32:
    return type.isF16() || type.isBF16() || type.isF32();
  case Support::AllFloats:
    return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
  case Support::Integers:
    return type.isIndex() || type.isInteger(8) || type.isInteger(16) ||
           type.isInteger(32) || type.isInteger(64);
  }
  llvm_unreachable("unknown support");
}

static StringRef describe(Support support) {
  switch (support) {
  case Support::UpToF32:
    return "f16, bf16 or f32";
  case Support::AllFloats:
    return "f16, bf16, f32 or f64";
  default:
    return "i8, i16, i32, i64 or index";
  }
}

namespace {
struct VerifyMathPass : iris::impl::IrisVerifyMathPassBase<VerifyMathPass> {
  void runOnOperation() override {
    bool valid = true;
    getOperation()->walk([&](Operation *op) {
      // The only op of arith that is a function of libm.
      if (isa<arith::RemFOp>(op)) {
        valid = false;
        op->emitOpError("is not available on all targets; expected x - "
                        "trunc(x / y) * y where that is exact enough");
      }
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()))
        return;
      Support support = supportOf(op->getName().stripDialect());
      Type type = getElementTypeOrSelf(op->getOperand(0));
      if (isSupported(support, type))
        return;
      valid = false;
      if (support == Support::None)
        op->emitOpError("is not among the math functions all targets have; "
                        "see docs/math.md for those");
      else
        op->emitOpError("works on ")
            << type << "; expected " << describe(support);
    });
    if (!valid)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
