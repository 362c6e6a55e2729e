// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VerifyAffine.cpp - What affine maps divide by ----------------------===//
//
// Upstream's lowering divides by positive constants only, and says so without
// failing; its analysis of ranges divides by zero before that.
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

/// True if it divides by, or takes the remainder of, a positive constant or not
/// at all.  Its parts are others' business.
static bool dividesWell(AffineExpr expr) {
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

/// True if all maps and sets of the op divide well.
static bool dividesWell(Operation *op) {
  bool good = true;
  auto visit = [&](AffineExpr expr) { good &= dividesWell(expr); };
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
          dividesWell(op))
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
