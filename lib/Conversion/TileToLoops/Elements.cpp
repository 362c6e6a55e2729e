// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Elements.cpp - Elements, loop nests and buffers of tiles -----------===//

#include "TileLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Clones an elementwise op on scalars.
static Value cloneOnScalars(ImplicitLocOpBuilder &b, Operation *op,
                            ValueRange operands) {
  Type type = getElementTypeOrSelf(op->getResult(0));
  Operation *clone = Operation::create(
      op->getLoc(), op->getName(), type, operands,
      op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
      /*successors=*/{}, /*numRegions=*/0);
  b.insert(clone);
  return clone->getResult(0);
}

/// Emits the element of `view`'s source that is its result's element at
/// `point`.
Value TileLowering::viewElement(ImplicitLocOpBuilder &b, Operation *view,
                                const Point &point, ElementCache &cache) {
  Value source = view->getOperand(0);
  // A dimension of extent 1 does not change the row-major index.
  bool sameIndex =
      isa<tile::ExpandDimsOp>(view) ||
      tileType(source).getShape() == tileType(view->getResult(0)).getShape();
  if (isa<tile::ExpandDimsOp, tile::BroadcastOp>(view) && sameIndex &&
      point.coordinates.empty())
    return element(b, source, point);

  SmallVector<Value> coordinates;
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(view)) {
    coordinates = point.coordinates;
    coordinates.erase(coordinates.begin() + expand.getDim());
  } else if (auto transpose = dyn_cast<tile::TransposeOp>(view)) {
    coordinates.resize(point.coordinates.size());
    for (auto [dim, from] : llvm::enumerate(transpose.getPermutation()))
      coordinates[from] = point.coordinates[dim];
  } else {
    Value zero = arith::ConstantIndexOp::create(b, 0);
    for (auto [extent, coordinate] :
         llvm::zip_equal(tileType(source).getShape(), point.coordinates))
      coordinates.push_back(extent == 1 ? zero : coordinate);
  }
  // The cache is valid at the consumer's point only.
  return element(b, source,
                 pointAt(b, tileType(source).getShape(), coordinates));
}

Value TileLowering::element(ImplicitLocOpBuilder &b, Value tile,
                            const Point &point) {
  ElementCache cache;
  return element(b, tile, point, cache);
}

Value TileLowering::element(ImplicitLocOpBuilder &b, Value tile,
                            const Point &point, ElementCache &cache) {
  if (!isTile(tile))
    return tile;
  if (Value buffer = buffers.lookup(tile))
    return read(b, buffer, tileType(tile).getElementType(), point.linear);
  Value &cached = cache[tile];
  if (cached)
    return cached;

  Operation *op = tile.getDefiningOp();
  Value result;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    result = arith::ConstantOp::create(b, splat.getSplatValue<TypedAttr>());
  } else if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    result = splat.getInput();
  } else if (auto range = dyn_cast<tile::RangeOp>(op)) {
    result = point.coordinates[range.getDim()];
    Type type = tileType(tile).getElementType();
    if (!type.isIndex())
      result = arith::IndexCastOp::create(b, type, result);
  } else if (isViewOp(op)) {
    result = viewElement(b, op, point, cache);
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(element(b, operand, point, cache));
    result = cloneOnScalars(b, op, operands);
  }
  // Caching operands may have invalidated the reference.
  return cache[tile] = result;
}

bool TileLowering::anyOfExpression(
    Value tile, function_ref<bool(Value, bool viaView)> holds) {
  // In the order in which they are found, each once: paths are exponential.
  llvm::SetVector<std::pair<Value, unsigned>> tiles;
  auto add = [&](Value value, bool viaView) {
    if (isTile(value))
      tiles.insert({value, viaView});
  };
  add(tile, /*viaView=*/false);
  for (size_t i = 0; i < tiles.size(); ++i) {
    auto [value, viaView] = tiles[i];
    if (holds(value, viaView))
      return true;
    if (buffers.contains(value))
      continue;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      add(operand, viaView || isViewOp(op));
  }
  return false;
}

bool TileLowering::needsCoordinates(Value tile) {
  return anyOfExpression(tile, [&](Value value, bool) {
    if (buffers.contains(value))
      return false;
    Operation *op = value.getDefiningOp();
    return isa<tile::RangeOp, tile::TransposeOp>(op) ||
           (isa<tile::BroadcastOp>(op) &&
            tileType(op->getOperand(0)).getShape() !=
                tileType(value).getShape());
  });
}

//===----------------------------------------------------------------------===//
// Loop nests
//===----------------------------------------------------------------------===//

Point TileLowering::pointAt(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape,
                            ArrayRef<Value> coordinates) {
  Point point;
  point.coordinates.assign(coordinates.begin(), coordinates.end());
  for (auto [extent, coordinate] : llvm::zip_equal(shape, coordinates)) {
    if (!point.linear) {
      point.linear = coordinate;
      continue;
    }
    Value pitch = arith::ConstantIndexOp::create(b, extent);
    point.linear = arith::MulIOp::create(b, point.linear, pitch);
    point.linear = arith::AddIOp::create(b, point.linear, coordinate);
  }
  if (!point.linear)
    point.linear = arith::ConstantIndexOp::create(b, 0);
  return point;
}

void TileLowering::forBounds(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape,
                             ArrayRef<Bound> bounds, PointBody body) {
  OpBuilder::InsertionGuard guard(b);
  Value one = arith::ConstantIndexOp::create(b, 1);
  SmallVector<Value> coordinates;
  for (Bound bound : bounds) {
    auto loop = scf::ForOp::create(b, bound.low, bound.high, one);
    coordinates.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  if (coordinates.size() < shape.size())
    coordinates.append(shape.size() - coordinates.size(),
                       arith::ConstantIndexOp::create(b, 0));
  body(b, pointAt(b, shape, coordinates));
}

void TileLowering::forAll(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape,
                          bool flat, PointBody body) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  if (!flat) {
    SmallVector<Bound> bounds;
    for (int64_t extent : shape)
      bounds.push_back({zero, arith::ConstantIndexOp::create(b, extent)});
    forBounds(b, shape, bounds, body);
    return;
  }
  int64_t count = ShapedType::getNumElements(shape);
  Value high = arith::ConstantIndexOp::create(b, count);
  forBounds(b, {count}, Bound{zero, high},
            [&](ImplicitLocOpBuilder &b, const Point &point) {
              body(b, Point{{}, point.linear});
            });
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The type of elements in buffers: masks are bytes, which LLVM vectorizes.
static Type storageType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

Value TileLowering::allocate(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape,
                             Type element) {
  int64_t count = ShapedType::getNumElements(shape);
  return memref::AllocOp::create(
      b, MemRefType::get({count}, storageType(element)));
}

Value TileLowering::allocate(ImplicitLocOpBuilder &b, Value tile) {
  return allocate(b, tileType(tile).getShape(),
                  tileType(tile).getElementType());
}

Value TileLowering::read(ImplicitLocOpBuilder &b, Value buffer, Type element,
                         Value linear) {
  Value value = memref::LoadOp::create(b, buffer, linear);
  if (value.getType() != element)
    value = arith::TruncIOp::create(b, element, value);
  return value;
}

void TileLowering::write(ImplicitLocOpBuilder &b, Value buffer, Value linear,
                         Value value) {
  Type stored = cast<MemRefType>(buffer.getType()).getElementType();
  if (value.getType() != stored)
    value = arith::ExtUIOp::create(b, stored, value);
  memref::StoreOp::create(b, value, buffer, linear);
}

Value TileLowering::bufferAddress(ImplicitLocOpBuilder &b, Value buffer,
                                  Value linear) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  if (element.isIndex())
    element = b.getI64Type();
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  base = arith::IndexCastOp::create(b, b.getI64Type(), base);
  base = LLVM::IntToPtrOp::create(b, pointer, base);
  Value index = arith::IndexCastOp::create(b, b.getI64Type(), linear);
  return LLVM::GEPOp::create(b, pointer, element, base,
                             ArrayRef<LLVM::GEPArg>{index});
}

void TileLowering::fill(ImplicitLocOpBuilder &b, Value tile, Value buffer) {
  RankedTensorType type = tileType(tile);
  if (Value source = buffers.lookup(tile)) {
    if (source != buffer)
      memref::CopyOp::create(b, source, buffer);
    return;
  }
  forAll(b, type.getShape(), !needsCoordinates(tile),
         [&](ImplicitLocOpBuilder &b, const Point &point) {
           write(b, buffer, point.linear, element(b, tile, point));
         });
}
