// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorOps.cpp - vector and tensor ----------------------------------===//
//
// Vectors of the language have one dimension.
#include "Machine.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::iris::interp;

/// Whether all vectors of the op have at most one dimension.
static bool checkShapes(Program &program, Operation *op) {
  auto isSmall = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return !vector || (vector.getRank() <= 1 && !vector.isScalable());
  };
  if (llvm::all_of(op->getOperandTypes(), isSmall) &&
      llvm::all_of(op->getResultTypes(), isSmall))
    return true;
  program.error("has a vector of several dimensions or of scalable length");
  return false;
}

/// `tensor.splat` and `vector.broadcast`.
static Step splat(Program &program, Operation *op) {
  const Datum &source = program.get(op->getOperand(0));
  auto type = cast<ShapedType>(op->getResult(0).getType());
  if (!type.hasStaticShape() ||
      (isa<VectorType>(type) && !checkShapes(program, op)))
    program.error("has a dynamic shape");
  if (program.failed)
    return Step::Next;
  SmallVector<Element, 1> result;
  if (source.elements.size() == 1)
    result.assign(type.getNumElements(), source.elements[0]);
  else
    result = source.elements;
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

static Step extract(Program &program, Operation *op) {
  auto access = cast<vector::ExtractOp>(op);
  const Datum &source = program.get(op->getOperand(0));
  SmallVector<int64_t> at =
      program.mixed(access.getStaticPosition(), access.getDynamicPosition());
  if (program.failed || !checkShapes(program, op))
    return Step::Next;
  if (at.empty()) {
    program.set(op->getResult(0), source);
  } else if (at[0] < 0 ||
             at[0] >= static_cast<int64_t>(source.elements.size())) {
    program.set(op->getResult(0), Element{0, op});
  } else {
    program.set(op->getResult(0), source.elements[at[0]]);
  }
  return Step::Next;
}

static Step insert(Program &program, Operation *op) {
  auto access = cast<vector::InsertOp>(op);
  const Datum &value = program.get(access.getValueToStore());
  Datum result = program.get(access.getDest());
  SmallVector<int64_t> at =
      program.mixed(access.getStaticPosition(), access.getDynamicPosition());
  if (program.failed || !checkShapes(program, op))
    return Step::Next;
  if (at.empty())
    result = value;
  else if (at[0] < 0 || at[0] >= static_cast<int64_t>(result.elements.size()))
    result.elements.assign(result.elements.size(), Element{0, op});
  else
    result.elements[at[0]] = value.elements[0];
  program.set(op->getResult(0), std::move(result));
  return Step::Next;
}

static Step fromElements(Program &program, Operation *op) {
  SmallVector<Element, 1> result;
  for (Value operand : op->getOperands()) {
    const Datum &datum = program.get(operand);
    if (program.failed || !checkShapes(program, op))
      return Step::Next;
    result.push_back(datum.elements[0]);
  }
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

static Step shuffle(Program &program, Operation *op) {
  auto shuffle = cast<vector::ShuffleOp>(op);
  if (!checkShapes(program, op))
    return Step::Next;
  SmallVector<Element, 1> both = program.get(shuffle.getV1()).elements, result;
  llvm::append_range(both, program.get(shuffle.getV2()).elements);
  for (int64_t n : shuffle.getMask())
    result.push_back(n < 0 ? Element{0, op} : both[n]);
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

static Step extractSlice(Program &program, Operation *op) {
  auto slice = cast<vector::ExtractStridedSliceOp>(op);
  if (!checkShapes(program, op))
    return Step::Next;
  const Datum &source = program.get(op->getOperand(0));
  int64_t offset = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
  int64_t stride = cast<IntegerAttr>(slice.getStrides()[0]).getInt();
  SmallVector<Element, 1> result;
  for (int64_t n = 0; n < countOf(op->getResult(0).getType()); ++n)
    result.push_back(source.elements[offset + n * stride]);
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

static Step insertSlice(Program &program, Operation *op) {
  auto slice = cast<vector::InsertStridedSliceOp>(op);
  if (!checkShapes(program, op))
    return Step::Next;
  const Datum &source = program.get(slice.getValueToStore());
  Datum result = program.get(slice.getDest());
  int64_t offset = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
  int64_t stride = cast<IntegerAttr>(slice.getStrides()[0]).getInt();
  for (auto [n, element] : llvm::enumerate(source.elements))
    result.elements[offset + n * stride] = element;
  program.set(op->getResult(0), std::move(result));
  return Step::Next;
}

/// All elements have to be inside of the buffer.
template <typename Fn>
static Step access(Program &program, Operation *op, Value base,
                   ValueRange indices, Type type, Fn fn) {
  const Buffer &buffer = program.buffer(base);
  SmallVector<int64_t> at = program.indices(indices);
  if (program.failed || !checkShapes(program, op))
    return Step::Next;
  for (int64_t n = 0; n < countOf(type); ++n) {
    if (program.failed || !program.checkInside(buffer, at))
      return Step::Next;
    fn(n, buffer, at);
    ++at.back();
  }
  return Step::Next;
}

static Step load(Program &program, Operation *op) {
  auto load = cast<vector::LoadOp>(op);
  SmallVector<Element, 1> result;
  access(program, op, load.getBase(), load.getIndices(), load.getType(),
         [&](int64_t, const Buffer &buffer, ArrayRef<int64_t> at) {
           result.push_back(
               program.load(buffer, elementOf(load.getType()), at));
         });
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

static Step store(Program &program, Operation *op) {
  auto store = cast<vector::StoreOp>(op);
  Type type = store.getValueToStore().getType();
  const Datum &value = program.get(store.getValueToStore());
  return access(program, op, store.getBase(), store.getIndices(), type,
                [&](int64_t n, const Buffer &buffer, ArrayRef<int64_t> at) {
                  program.store(buffer, elementOf(type), at, value.elements[n]);
                });
}

void mlir::iris::interp::addVectorOps(World &world) {
  world.add("tensor.splat", splat);
  world.add("vector.broadcast", splat);
  world.add("vector.extract", extract);
  world.add("vector.insert", insert);
  world.add("vector.from_elements", fromElements);
  world.add("vector.shuffle", shuffle);
  world.add("vector.extract_strided_slice", extractSlice);
  world.add("vector.insert_strided_slice", insertSlice);
  world.add("vector.load", load);
  world.add("vector.store", store);
}
