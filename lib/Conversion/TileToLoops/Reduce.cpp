// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reduce.cpp - Reductions in the order of the dialect ----------------===//

#include "TileLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::iris;

/// The accumulator type of a reduction of `element`.
static Type accumulatorType(Type element) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  return element;
}

static Value convertFloat(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, type, value);
  return arith::TruncFOp::create(b, type, value);
}

static Value combine(ImplicitLocOpBuilder &b, tile::ReduceKind kind, Value lhs,
                     Value rhs) {
  bool isFloat = isa<FloatType>(lhs.getType());
  switch (kind) {
  case tile::ReduceKind::sum:
    if (isFloat)
      return arith::AddFOp::create(b, lhs, rhs);
    return arith::AddIOp::create(b, lhs, rhs);
  case tile::ReduceKind::prod:
    if (isFloat)
      return arith::MulFOp::create(b, lhs, rhs);
    return arith::MulIOp::create(b, lhs, rhs);
  case tile::ReduceKind::min:
    if (isFloat)
      return arith::MinimumFOp::create(b, lhs, rhs);
    return arith::MinSIOp::create(b, lhs, rhs);
  case tile::ReduceKind::max:
    if (isFloat)
      return arith::MaximumFOp::create(b, lhs, rhs);
    return arith::MaxSIOp::create(b, lhs, rhs);
  case tile::ReduceKind::umin:
    return arith::MinUIOp::create(b, lhs, rhs);
  case tile::ReduceKind::umax:
    return arith::MaxUIOp::create(b, lhs, rhs);
  case tile::ReduceKind::And:
    return arith::AndIOp::create(b, lhs, rhs);
  case tile::ReduceKind::Or:
    return arith::OrIOp::create(b, lhs, rhs);
  case tile::ReduceKind::Xor:
    return arith::XOrIOp::create(b, lhs, rhs);
  }
  llvm_unreachable("unknown kind of reduction");
}

/// The order of `tile.reduce`: the upper half of the dimension is combined with
/// the lower half until one element is left.
void TileLowering::lowerReduce(tile::ReduceOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RankedTensorType type = op.getSource().getType();
  Type accumulator = accumulatorType(type.getElementType());
  int64_t dim = op.getDim();
  SmallVector<int64_t> shape(type.getShape());
  int64_t half = shape[dim] / 2;

  // The first step reads the source, the later ones work in place.
  SmallVector<int64_t> partShape = shape;
  partShape[dim] = std::max<int64_t>(half, 1);
  Value parts = allocate(b, partShape, accumulator);
  forAll(b, partShape, /*flat=*/false,
         [&](ImplicitLocOpBuilder &b, const Point &point) {
           auto sourceAt = [&](ArrayRef<Value> coordinates) {
             Value value =
                 element(b, op.getSource(), pointAt(b, shape, coordinates));
             return convertFloat(b, value, accumulator);
           };
           Value value = sourceAt(point.coordinates);
           if (half != 0) {
             SmallVector<Value> upper = point.coordinates;
             upper[dim] = arith::AddIOp::create(
                 b, upper[dim], arith::ConstantIndexOp::create(b, half));
             value = combine(b, op.getKind(), value, sourceAt(upper));
           }
           write(b, parts, point.linear, value);
         });
  SmallVector<int64_t> foldShape = partShape;
  for (half /= 2; half != 0; half /= 2) {
    foldShape[dim] = half;
    forAll(b, foldShape, /*flat=*/false,
           [&](ImplicitLocOpBuilder &b, const Point &point) {
             SmallVector<Value> upper = point.coordinates;
             upper[dim] = arith::AddIOp::create(
                 b, upper[dim], arith::ConstantIndexOp::create(b, half));
             Value to = pointAt(b, partShape, point.coordinates).linear;
             Value from = pointAt(b, partShape, upper).linear;
             write(b, parts, to,
                   combine(b, op.getKind(), read(b, parts, accumulator, to),
                           read(b, parts, accumulator, from)));
           });
  }

  auto total = [&](ImplicitLocOpBuilder &b, ArrayRef<Value> coordinates) {
    SmallVector<Value> source(coordinates);
    source.insert(source.begin() + dim, arith::ConstantIndexOp::create(b, 0));
    Value linear = pointAt(b, partShape, source).linear;
    return convertFloat(b, read(b, parts, accumulator, linear),
                        getElementTypeOrSelf(op.getResult()));
  };
  if (!isTile(op.getResult())) {
    op.getResult().replaceAllUsesWith(total(b, {}));
    return;
  }
  Value buffer = allocate(b, op.getResult());
  forAll(b, tileType(op.getResult()).getShape(), /*flat=*/false,
         [&](ImplicitLocOpBuilder &b, const Point &point) {
           write(b, buffer, point.linear, total(b, point.coordinates));
         });
  buffers[op.getResult()] = buffer;
}
