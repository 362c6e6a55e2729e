// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reduce.cpp - Reductions in the order of the dialect ----------------===//

#include "TileLowering.h"

#include "iris/Dialect/Tile/Utils/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::iris;

/// The coordinates of the two elements of one step that become element `at`:
/// neighbours, or elements of two halves where the order does not matter and
/// the loop is to be vectorized.
static std::pair<SmallVector<Value>, SmallVector<Value>>
getOperands(ImplicitLocOpBuilder &b, tile::ReduceOp op, ArrayRef<Value> at,
            int64_t half) {
  SmallVector<Value> low(at), high(at);
  Value &first = low[op.getDim()], &second = high[op.getDim()];
  bool isNeighbour = tile::dependsOnOrder(op);
  if (isNeighbour)
    first = arith::MulIOp::create(b, first, constantIndex(b, 2));
  second =
      arith::AddIOp::create(b, first, constantIndex(b, isNeighbour ? 1 : half));
  return {low, high};
}

/// Halves the number of elements until one is left.
void TileLowering::lowerReduce(tile::ReduceOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Type accumulator = tile::getAccumulatorType(op);
  int64_t dim = op.getDim();
  SmallVector<int64_t> shape(op.getSource().getType().getShape());
  int64_t half = shape[dim] / 2;

  // The first step reads the source, the later ones work in place: no element
  // is read after it was written.
  SmallVector<int64_t> partShape = shape;
  partShape[dim] = std::max<int64_t>(half, 1);
  Value parts = allocate(b, partShape, accumulator);
  auto sourceAt = [&](ImplicitLocOpBuilder &b, ArrayRef<Value> at) {
    Value value = element(b, op.getSource(), pointAt(b, shape, at));
    return tile::convertPartial(b, b.getLoc(), value, accumulator);
  };
  auto partAt = [&](ImplicitLocOpBuilder &b, ArrayRef<Value> at) {
    return read(b, parts, accumulator, pointAt(b, partShape, at).linear);
  };
  SmallVector<int64_t> leftShape = partShape;
  auto step = [&](auto &&load) {
    forAll(b, leftShape, /*flat=*/false,
           [&](ImplicitLocOpBuilder &b, const Point &point) {
             auto [low, high] = getOperands(b, op, point.coordinates, half);
             Value lhs = load(b, low);
             write(b, parts, pointAt(b, partShape, point.coordinates).linear,
                   tile::combinePartials(b, b.getLoc(), op.getKind(), lhs,
                                         load(b, high)));
           });
  };
  if (half == 0)
    forAll(b, partShape, /*flat=*/false,
           [&](ImplicitLocOpBuilder &b, const Point &point) {
             write(b, parts, point.linear, sourceAt(b, point.coordinates));
           });
  else
    step(sourceAt);
  for (half /= 2; half != 0; half /= 2) {
    leftShape[dim] = half;
    step(partAt);
  }

  auto total = [&](ImplicitLocOpBuilder &b, ArrayRef<Value> coordinates) {
    SmallVector<Value> at(coordinates);
    at.insert(at.begin() + dim, constantIndex(b, 0));
    return tile::convertPartial(b, b.getLoc(), partAt(b, at),
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
