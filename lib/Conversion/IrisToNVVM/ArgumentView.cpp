// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArgumentView.cpp - Buffers as windows of arguments -----------------===//

#include "ArgumentView.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::iris;

/// Returns why a subview has no coordinates in its source; empty if it has.
static std::string checkSubview(memref::SubViewOp op) {
  if (op.getSourceType().getRank() != 2 || op.getType().getRank() != 2)
    return "is a subview of a buffer with " +
           std::to_string(op.getSourceType().getRank()) +
           " dimensions; expected 2";
  if (llvm::any_of(op.getStaticStrides(), [](int64_t n) { return n != 1; }))
    return "is a subview with strides other than 1; expected strides of 1";
  return {};
}

/// Returns why `argument` has no tensor map; empty if it can have one.
static std::string checkArgument(BlockArgument argument) {
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock())
    return "is a buffer selected by control flow; expected a view of an "
           "argument of the kernel";
  if (argument.getArgNumber() >= function.getNumArguments())
    return "is workgroup memory; expected a view of an argument of the kernel";
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = cast<MemRefType>(argument.getType());
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return "is a view of an argument whose type has an offset; expected none";
  return {};
}

ArgumentView mlir::iris::findArgument(Value buffer) {
  ArgumentView view;
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto translate = dyn_cast<TranslateOp>(op)) {
      view.translate = translate;
      buffer = translate.getSource();
    } else if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
      view.missed = checkSubview(subview);
      view.subviews.push_back(subview);
      buffer = subview.getSource();
    } else if (auto cast = dyn_cast<memref::CastOp>(op)) {
      buffer = cast.getSource();
    } else {
      view.missed = ("comes from '" + op->getName().getStringRef() +
                     "'; expected a view of an argument of the kernel")
                        .str();
    }
    if (!view.missed.empty())
      return view;
  }
  auto argument = cast<BlockArgument>(buffer);
  view.missed = checkArgument(argument);
  if (view.missed.empty())
    view.argument = argument;
  return view;
}

Value ArgumentView::emitOffset(ImplicitLocOpBuilder &b, unsigned dim) const {
  Value sum;
  for (memref::SubViewOp subview : subviews) {
    OpFoldResult offset = subview.getMixedOffsets()[dim];
    if (isZeroInteger(offset))
      continue;
    Value value = getValueOrCreateConstantIndexOp(b, b.getLoc(), offset);
    sum = sum ? b.createOrFold<arith::AddIOp>(sum, value) : value;
  }
  return sum;
}

Value ArgumentView::emitIsExact(ImplicitLocOpBuilder &b, Value buffer,
                                Value start, unsigned dim,
                                int64_t extent) const {
  // Without an argument there is no map, and no copy.
  if (!argument || subviews.empty())
    return {};
  using Predicate = arith::CmpIPredicate;
  auto compare = [&](Predicate predicate, Value lhs, Value rhs) {
    return b.createOrFold<arith::CmpIOp>(predicate, lhs, rhs);
  };
  Value size = b.createOrFold<memref::DimOp>(buffer, static_cast<int64_t>(dim));
  Value whole =
      b.createOrFold<memref::DimOp>(argument, static_cast<int64_t>(dim));
  Value offset = emitOffset(b, dim);
  // The argument may extend beyond the end of the window.
  Value end = b.createOrFold<arith::AddIOp>(
      start, arith::ConstantIndexOp::create(b, extent));
  Value endsWithArgument = compare(
      Predicate::eq,
      offset ? b.createOrFold<arith::AddIOp>(offset, size) : size, whole);
  Value result = b.createOrFold<arith::OrIOp>(
      compare(Predicate::sle, end, size), endsWithArgument);
  if (!offset)
    return result;
  // It may also begin before the window.
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value beginsInside =
      b.createOrFold<arith::OrIOp>(compare(Predicate::sge, start, zero),
                                   compare(Predicate::eq, offset, zero));
  return b.createOrFold<arith::AndIOp>(result, beginsInside);
}
