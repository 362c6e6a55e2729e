// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileOps.cpp - tile, but for the matmul -----------------------------===//
#include "Machine.h"

#include "iris/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace mlir::iris::interp;
using llvm::APFloat;
using llvm::APInt;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static Step load(Program &program, Operation *op) {
  auto access = cast<tile::LoadOp>(op);
  const Buffer &buffer = program.buffer(access.getSource());
  SmallVector<int64_t> offsets = program.indices(access.getOffsets());
  Element other = access.getOther() ? program.get(access.getOther()).elements[0]
                                    : Element();
  if (program.failed)
    return Step::Next;
  Type type = access.getResult().getType();
  program.set(op->getResult(0),
              Datum(loadWindow(program, buffer, elementOf(type), shapeOf(type),
                               offsets, other)));
  return Step::Next;
}

static Step store(Program &program, Operation *op) {
  auto access = cast<tile::StoreOp>(op);
  const Buffer &buffer = program.buffer(access.getDestination());
  SmallVector<int64_t> offsets = program.indices(access.getOffsets());
  const Datum &value = program.get(access.getValue());
  if (program.failed)
    return Step::Next;
  Type type = access.getValue().getType();
  storeWindow(program, buffer, elementOf(type), shapeOf(type), offsets,
              value.elements);
  return Step::Next;
}

SmallVector<Element, 1>
mlir::iris::interp::gatherElements(Program &program, const Buffer &buffer,
                                   Kind element, ValueRange indices, Value mask,
                                   Value other) {
  SmallVector<const Datum *, 4> coordinates;
  for (Value index : indices)
    coordinates.push_back(&program.get(index));
  const Datum *masks = mask ? &program.get(mask) : nullptr;
  Element outside = other ? program.get(other).elements[0] : Element();
  SmallVector<Element, 1> result;
  if (program.failed)
    return result;
  SmallVector<int64_t, 4> at(coordinates.size());
  for (size_t n = 0; n < coordinates[0]->elements.size(); ++n) {
    bool wanted = !masks || (program.requireValue(masks->elements[n]) &&
                             (masks->elements[n].bits & 1));
    // The coordinates of elements that are masked out do not matter.
    for (size_t dim = 0; wanted && dim < at.size(); ++dim) {
      Element coordinate = coordinates[dim]->elements[n];
      wanted = program.requireValue(coordinate);
      at[dim] = static_cast<int64_t>(coordinate.bits);
    }
    if (program.failed)
      break;
    result.push_back(wanted && Program::isInside(buffer, at)
                         ? program.load(buffer, element, at)
                         : outside);
  }
  return result;
}

void mlir::iris::interp::scatterElements(Program &program, const Buffer &buffer,
                                         Value value, ValueRange indices,
                                         Value mask) {
  SmallVector<const Datum *, 4> coordinates;
  for (Value index : indices)
    coordinates.push_back(&program.get(index));
  const Datum *masks = mask ? &program.get(mask) : nullptr;
  const Datum &values = program.get(value);
  Kind element = value.getType();
  SmallVector<int64_t, 4> at(coordinates.size());
  // Which of several elements with the same coordinates is stored is not
  // specified: if they differ, it is poison.
  llvm::DenseMap<int64_t, Element> stored;
  for (size_t n = 0; !program.failed && n < values.elements.size(); ++n) {
    if (masks && (!program.requireValue(masks->elements[n]) ||
                  (masks->elements[n].bits & 1) == 0))
      continue;
    for (size_t dim = 0; dim < at.size(); ++dim) {
      program.requireValue(coordinates[dim]->elements[n]);
      at[dim] = static_cast<int64_t>(coordinates[dim]->elements[n].bits);
    }
    if (program.failed || !Program::isInside(buffer, at))
      continue;
    int64_t byte = program.locate(buffer, element, at);
    if (program.failed)
      return;
    Element next = values.elements[n];
    auto [old, isNew] = stored.try_emplace(byte, next);
    if (!isNew && (old->second.bits != next.bits || old->second.poison))
      old->second = next = Element{0, program.current()};
    program.store(buffer, element, at, next);
  }
}

static Step gather(Program &program, Operation *op) {
  auto access = cast<tile::GatherOp>(op);
  const Buffer &buffer = program.buffer(access.getSource());
  program.set(op->getResult(0),
              Datum(gatherElements(
                  program, buffer, elementOf(op->getResult(0).getType()),
                  access.getIndices(), access.getMask(), access.getOther())));
  return Step::Next;
}

static Step scatter(Program &program, Operation *op) {
  auto access = cast<tile::ScatterOp>(op);
  scatterElements(program, program.buffer(access.getDestination()),
                  access.getValue(), access.getIndices(), access.getMask());
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static Step range(Program &program, Operation *op) {
  auto range = cast<tile::RangeOp>(op);
  SmallVector<Element, 1> result;
  forEachElement(shapeOf(op->getResult(0).getType()),
                 [&](int64_t, ArrayRef<int64_t> at) {
                   result.push_back(fromIndex(at[range.getDim()]));
                 });
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

/// `tile.expand_dims` and `tile.convert_layout`: the same elements.
static Step same(Program &program, Operation *op) {
  program.set(op->getResult(0), program.get(op->getOperand(0)));
  return Step::Next;
}

/// A tile whose element at `at` is the source's at `from(at)`.
template <typename Fn>
static Step rearrange(Program &program, Operation *op, Fn from) {
  const Datum &source = program.get(op->getOperand(0));
  if (program.failed)
    return Step::Next;
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0).getType());
  SmallVector<Element, 1> result;
  SmallVector<int64_t, 4> position(shape.size());
  forEachElement(
      shapeOf(op->getResult(0).getType()), [&](int64_t, ArrayRef<int64_t> at) {
        from(at, position);
        result.push_back(source.elements[linearIndex(shape, position)]);
      });
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

static Step broadcast(Program &program, Operation *op) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0).getType());
  return rearrange(program, op,
                   [&](ArrayRef<int64_t> at, MutableArrayRef<int64_t> from) {
                     for (size_t dim = 0; dim < at.size(); ++dim)
                       from[dim] = shape[dim] == 1 ? 0 : at[dim];
                   });
}

static Step transpose(Program &program, Operation *op) {
  ArrayRef<int64_t> permutation = cast<tile::TransposeOp>(op).getPermutation();
  return rearrange(program, op,
                   [&](ArrayRef<int64_t> at, MutableArrayRef<int64_t> from) {
                     for (size_t dim = 0; dim < at.size(); ++dim)
                       from[permutation[dim]] = at[dim];
                   });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Element mlir::iris::interp::combine(Combine combine, Kind kind, Element a,
                                    Element b) {
  if (a.poison || b.poison)
    return a.poison ? a : b;
  if (combine == Combine::Xchg)
    return b;
  auto bits = [](const APFloat &value) {
    return fromInt(value.bitcastToAPInt());
  };
  if (kind.isFloat()) {
    APFloat x = toFloat(kind, a), y = toFloat(kind, b);
    switch (combine) {
    case Combine::Add:
      return bits(x + y);
    case Combine::Sub:
      return bits(x - y);
    case Combine::Mul:
      return bits(x * y);
    case Combine::Min:
      return bits(llvm::minimum(x, y));
    case Combine::Max:
      return bits(llvm::maximum(x, y));
    default:
      break; // the bits, as integers
    }
  }
  APInt x = toInt(kind, a), y = toInt(kind, b);
  switch (combine) {
  case Combine::Add:
    return fromInt(x + y);
  case Combine::Sub:
    return fromInt(x - y);
  case Combine::Mul:
    return fromInt(x * y);
  case Combine::Min:
    return fromInt(llvm::APIntOps::smin(x, y));
  case Combine::Max:
    return fromInt(llvm::APIntOps::smax(x, y));
  case Combine::UMin:
    return fromInt(llvm::APIntOps::umin(x, y));
  case Combine::UMax:
    return fromInt(llvm::APIntOps::umax(x, y));
  case Combine::And:
    return fromInt(x & y);
  case Combine::Or:
    return fromInt(x | y);
  case Combine::Xor:
    return fromInt(x ^ y);
  case Combine::Xchg:
    break;
  }
  return b;
}

static Combine combineOf(tile::ReduceKind kind) {
  switch (kind) {
  case tile::ReduceKind::sum:
    return Combine::Add;
  case tile::ReduceKind::prod:
    return Combine::Mul;
  case tile::ReduceKind::min:
    return Combine::Min;
  case tile::ReduceKind::max:
    return Combine::Max;
  case tile::ReduceKind::umin:
    return Combine::UMin;
  case tile::ReduceKind::umax:
    return Combine::UMax;
  case tile::ReduceKind::And:
    return Combine::And;
  case tile::ReduceKind::Or:
    return Combine::Or;
  case tile::ReduceKind::Xor:
    return Combine::Xor;
  }
  llvm_unreachable("unknown kind of reduction");
}

/// Neighbours are combined until one element is left. Sums and products of f16
/// and bf16 are f32.
static Step reduce(Program &program, Operation *op) {
  auto reduce = cast<tile::ReduceOp>(op);
  const Datum &source = program.get(reduce.getSource());
  if (program.failed)
    return Step::Next;
  Kind from = reduce.getSource().getType(), sum = from;
  Kind to = reduce.getResult().getType();
  Combine kind = combineOf(reduce.getKind());
  if ((kind == Combine::Add || kind == Combine::Mul) && from.isFloat() &&
      from.width < 32)
    sum = Float32Type::get(op->getContext());
  auto convert = [](Kind before, Kind after, Element e) {
    return e.poison || before.semantics == after.semantics
               ? e
               : fromFloat(after, toFloat(before, e));
  };

  ArrayRef<int64_t> shape = shapeOf(reduce.getSource().getType());
  size_t dim = reduce.getDim();
  int64_t extent = shape[dim];
  SmallVector<int64_t> rest(shape);
  rest.erase(rest.begin() + dim);
  SmallVector<Element, 1> result;
  forEachElement(rest, [&](int64_t, ArrayRef<int64_t> at) {
    SmallVector<int64_t> position(at);
    position.insert(position.begin() + dim, 0);
    SmallVector<Element> x;
    for (position[dim] = 0; position[dim] < extent; ++position[dim])
      x.push_back(
          convert(from, sum, source.elements[linearIndex(shape, position)]));
    for (int64_t distance = 1; distance < extent; distance *= 2)
      for (int64_t i = 0; i + distance < extent; i += 2 * distance)
        x[i] = combine(kind, sum, x[i], x[i + distance]);
    result.push_back(convert(sum, to, x[0]));
  });
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

bool mlir::iris::interp::isVolatile(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return load.getIsVolatile();
  auto store = dyn_cast<tile::StoreOp>(op);
  return store && store.getIsVolatile();
}

void mlir::iris::interp::addTileOps(World &world) {
  world.add("tile.load", load, Point::Volatile);
  world.add("tile.store", store, Point::Volatile);
  world.add("tile.gather", gather);
  world.add("tile.scatter", scatter);
  world.add("tile.range", range);
  world.add("tile.expand_dims", same);
  world.add("tile.convert_layout", same);
  world.add("tile.broadcast", broadcast);
  world.add("tile.transpose", transpose);
  world.add("tile.reduce", reduce);
}
