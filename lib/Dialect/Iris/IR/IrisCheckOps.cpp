// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisCheckOps.cpp - Checks in debug mode ----------------------------===//

#include "iris/Dialect/Iris/IR/IrisChecks.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::iris;

/// Erases a check that is known to hold.
LogicalResult CheckOp::canonicalize(CheckOp op, PatternRewriter &rewriter) {
  APInt value, bound;
  if (!matchPattern(op.getValue(), m_ConstantInt(&value)) ||
      !matchPattern(op.getBound(), m_ConstantInt(&bound)))
    return rewriter.notifyMatchFailure(op, "not constant");
  bool holds = op.getAtLeast() ? value.sge(bound) : value.ult(bound);
  if (!holds)
    return rewriter.notifyMatchFailure(op, "fails");
  rewriter.eraseOp(op);
  return success();
}

#define GET_OP_CLASSES
#include "iris/Dialect/Iris/IR/IrisCheckOps.cpp.inc"
