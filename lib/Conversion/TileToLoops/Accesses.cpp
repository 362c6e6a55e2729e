// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Accesses.cpp - Loads, stores, gathers and scatters -----------------===//
//
// Windows have two paths, selected at run time. If the window is inside the
// buffer, all loop bounds are constants and whole rows are copied. Otherwise
// the loops cover only the part inside the buffer.
//
// Cache modifiers have no counterpart on the host and do not change values, so
// they are ignored.
//
//===----------------------------------------------------------------------===//

#include "TileLowering.h"
#include "Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::iris;

static Value zeroOf(ImplicitLocOpBuilder &b, Type type) {
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

static SmallVector<Bound> wholeTile(ImplicitLocOpBuilder &b,
                                    ArrayRef<int64_t> shape) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  SmallVector<Bound> bounds;
  for (int64_t extent : shape)
    bounds.push_back({zero, arith::ConstantIndexOp::create(b, extent)});
  return bounds;
}

/// Calls `row` for every row of the part of a tile of `shape` within `bounds`,
/// with the coordinates of the row's first element and its length in elements.
static void forRows(
    ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape, ArrayRef<Bound> bounds,
    function_ref<void(ImplicitLocOpBuilder &, ArrayRef<Value>, Value)> row) {
  OpBuilder::InsertionGuard guard(b);
  Value one = arith::ConstantIndexOp::create(b, 1);
  SmallVector<Value> coordinates;
  for (Bound bound : bounds.drop_back()) {
    auto loop = scf::ForOp::create(b, bound.low, bound.high, one);
    coordinates.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  coordinates.push_back(bounds.back().low);
  row(b, coordinates,
      arith::SubIOp::create(b, bounds.back().high, bounds.back().low));
}

static void copyBytes(ImplicitLocOpBuilder &b, Value to, Value from,
                      Value elements, Type element) {
  Value bytes = arith::ConstantIntOp::create(
      b, b.getI64Type(), element.getIntOrFloatBitWidth() / 8);
  Value count = arith::IndexCastOp::create(b, b.getI64Type(), elements);
  bytes = arith::MulIOp::create(b, count, bytes);
  LLVM::MemcpyOp::create(b, to, from, bytes, /*isVolatile=*/false);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

void TileLowering::lowerLoad(tile::LoadOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RankedTensorType type = op.getType();
  ArrayRef<int64_t> shape = type.getShape();
  Type element = type.getElementType();
  bool isVolatile = op.getIsVolatile();
  Window window(b, op.getSource(), op.getOffsets(), shape);
  Value buffer = allocate(b, op.getResult());

  auto copy = [&](ImplicitLocOpBuilder &b, ArrayRef<Bound> bounds) {
    if (window.hasContiguousRows() && !isVolatile) {
      forRows(
          b, shape, bounds,
          [&](ImplicitLocOpBuilder &b, ArrayRef<Value> first, Value elements) {
            Value to =
                bufferAddress(b, buffer, pointAt(b, shape, first).linear);
            copyBytes(b, to, window.address(b, first), elements, element);
          });
      return;
    }
    forBounds(
        b, shape, bounds, [&](ImplicitLocOpBuilder &b, const Point &point) {
          Value from = window.address(b, point.coordinates);
          write(b, buffer, point.linear, window.load(b, from, isVolatile));
        });
  };

  auto branch = scf::IfOp::create(b, window.isInside(b),
                                  /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  copy(b, wholeTile(b, shape));
  b.setInsertionPointToStart(branch.elseBlock());
  Value other = op.getOther() ? op.getOther() : zeroOf(b, element);
  forAll(b, shape, /*flat=*/true,
         [&](ImplicitLocOpBuilder &b, const Point &point) {
           write(b, buffer, point.linear, other);
         });
  copy(b, window.insideBounds(b));
  buffers[op.getResult()] = buffer;
}

void TileLowering::lowerStore(tile::StoreOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RankedTensorType type = op.getValue().getType();
  ArrayRef<int64_t> shape = type.getShape();
  bool isVolatile = op.getIsVolatile();
  Window window(b, op.getDestination(), op.getOffsets(), shape);
  Value buffer = buffers.lookup(op.getValue());

  auto copy = [&](ImplicitLocOpBuilder &b, ArrayRef<Bound> bounds) {
    if (buffer && window.hasContiguousRows() && !isVolatile) {
      forRows(
          b, shape, bounds,
          [&](ImplicitLocOpBuilder &b, ArrayRef<Value> first, Value elements) {
            Value from =
                bufferAddress(b, buffer, pointAt(b, shape, first).linear);
            copyBytes(b, window.address(b, first), from, elements,
                      type.getElementType());
          });
      return;
    }
    forBounds(b, shape, bounds,
              [&](ImplicitLocOpBuilder &b, const Point &point) {
                window.store(b, element(b, op.getValue(), point),
                             window.address(b, point.coordinates), isVolatile);
              });
  };

  auto branch = scf::IfOp::create(b, window.isInside(b),
                                  /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  copy(b, wholeTile(b, shape));
  b.setInsertionPointToStart(branch.elseBlock());
  copy(b, window.insideBounds(b));
}

//===----------------------------------------------------------------------===//
// Indexed accesses
//===----------------------------------------------------------------------===//

void TileLowering::forIndexed(ImplicitLocOpBuilder &b, Operation *op,
                              Window &window, ValueRange tiles,
                              ArrayRef<int64_t> shape, Value mask,
                              IndexedBody body) {
  bool flat = llvm::none_of(op->getOperands(),
                            [&](Value tile) { return needsCoordinates(tile); });
  forAll(b, shape, flat, [&](ImplicitLocOpBuilder &b, const Point &point) {
    ElementCache cache;
    SmallVector<Value> indices;
    for (Value tile : tiles)
      indices.push_back(element(b, tile, point, cache));
    Value exists = window.contains(b, indices);
    if (mask)
      exists = arith::AndIOp::create(b, exists, element(b, mask, point, cache));
    body(b, point, cache, indices, exists);
  });
}

void TileLowering::lowerGather(tile::GatherOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RankedTensorType type = op.getType();
  Window window(b, op.getSource(), {}, {});
  Value other =
      op.getOther() ? op.getOther() : zeroOf(b, type.getElementType());
  Value buffer = allocate(b, op.getResult());
  forIndexed(b, op, window, op.getIndices(), type.getShape(), op.getMask(),
             [&](ImplicitLocOpBuilder &b, const Point &point, ElementCache &,
                 ArrayRef<Value> indices, Value exists) {
               auto branch = scf::IfOp::create(b, type.getElementType(), exists,
                                               /*withElseRegion=*/true);
               b.setInsertionPointToStart(branch.thenBlock());
               Value loaded = window.load(b, window.address(b, indices),
                                          op.getIsVolatile());
               scf::YieldOp::create(b, loaded);
               b.setInsertionPointToStart(branch.elseBlock());
               scf::YieldOp::create(b, other);
               b.setInsertionPointAfter(branch);
               write(b, buffer, point.linear, branch.getResult(0));
             });
  buffers[op.getResult()] = buffer;
}

void TileLowering::lowerScatter(tile::ScatterOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RankedTensorType type = op.getValue().getType();
  Window window(b, op.getDestination(), {}, {});
  forIndexed(b, op, window, op.getIndices(), type.getShape(), op.getMask(),
             [&](ImplicitLocOpBuilder &b, const Point &point,
                 ElementCache &cache, ArrayRef<Value> indices, Value exists) {
               auto branch =
                   scf::IfOp::create(b, exists, /*withElseRegion=*/false);
               b.setInsertionPointToStart(branch.thenBlock());
               window.store(b, element(b, op.getValue(), point, cache),
                            window.address(b, indices), op.getIsVolatile());
             });
}
