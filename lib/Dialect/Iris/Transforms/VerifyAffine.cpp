// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VerifyAffine.cpp - Verifies divisors in affine maps ----------------===//
//
// Upstream's lowering supports only positive constant divisors, and reports
// others without failing; its range analysis divides by zero before that.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IntegerSet.h"

#define DEBUG_TYPE "iris-verify-affine"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISVERIFYAFFINEPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// True if the expression has no division or remainder, or a positive constant
/// as its divisor. Does not check subexpressions.
static bool hasValidDivisors(AffineExpr expr) {
  switch (expr.getKind()) {
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
  case AffineExprKind::Mod: {
    AffineExpr divisor = cast<AffineBinaryOpExpr>(expr).getRHS();
    auto constant = dyn_cast<AffineConstantExpr>(divisor);
    return constant && constant.getValue() > 0;
  }
  default:
    return true;
  }
}

/// True if all maps and sets of the op have valid divisors.
static bool hasValidDivisors(Operation *op) {
  bool good = true;
  auto visit = [&](AffineExpr expr) { good &= hasValidDivisors(expr); };
  op->getAttrDictionary().walk([&](Attribute attribute) {
    if (auto map = dyn_cast<AffineMapAttr>(attribute))
      map.getValue().walkExprs(visit);
    else if (auto set = dyn_cast<IntegerSetAttr>(attribute))
      set.getValue().walkExprs(visit);
  });
  return good;
}

namespace {
struct VerifyAffinePass
    : iris::impl::IrisVerifyAffinePassBase<VerifyAffinePass> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (!isa_and_nonnull<affine::AffineDialect>(op->getDialect()) ||
          hasValidDivisors(op))
        return;
      op->emitOpError(
          "has a map that does not divide by a positive constant; expected "
          "floordiv, ceildiv and mod by constants of at least 1");
      signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
