// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WidenFloats.cpp - 16-bit floats computed in f32 --------------------===//

#include "iris/Dialect/Iris/Transforms/WidenFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::iris;

bool mlir::iris::isNarrowFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// `type` with f32 instead of a narrow float.
static Type widened(Type type) {
  if (!isNarrowFloat(type))
    return type;
  Type wide = Float32Type::get(type.getContext());
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(wide);
  return wide;
}

void mlir::iris::computeInF32(Operation *op, RewriterBase &rewriter) {
  Location loc = op->getLoc();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Type type = widened(operand.getType());
    operands.push_back(
        type == operand.getType()
            ? operand
            : arith::ExtFOp::create(rewriter, loc, type, operand).getResult());
  }
  Type resultType = op->getResult(0).getType();
  Operation *wide = Operation::create(
      loc, op->getName(), widened(resultType), operands,
      op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
      /*successors=*/{}, /*numRegions=*/0);
  rewriter.insert(wide);
  Value result = wide->getResult(0);
  if (result.getType() != resultType)
    result = arith::TruncFOp::create(rewriter, loc, resultType, result);
  rewriter.replaceOp(op, result);
}
