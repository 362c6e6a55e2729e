// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulOp.cpp - tile.matmul -----------------------------------------===//
//
// Products of two elements of f8, f16, bf16 or f32 are exact in f64 (at most 48
// bits of mantissa, exponents within those of f64). They are added in f64, in
// the order of k and after `init`, and the sum is rounded to f32 once: the
// result is within half an ulp of f32 plus k * 2^-53 * (|init| + sum of |a b|)
// of the exact one. `precision(tf32)` permits to round the operands; the
// reference does not. Sums of i8 are exact modulo 2^32.
#include "Machine.h"

#include "iris/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace mlir::iris::interp;

namespace mlir::iris::interp {
/// The sums over the k-blocks so far, row-major.
struct MatmulSums {
  std::vector<double> floats;
  std::vector<uint32_t> integers;
  std::vector<Operation *> poisons;
};
} // namespace mlir::iris::interp

/// Rows and columns of an operand for one k-block.
struct Operand {
  int64_t rows, columns;
  std::vector<double> floats;
  std::vector<int32_t> integers;
  std::vector<Operation *> poisons;
};

static Operand readOperand(Program &program, const Buffer &buffer,
                           ArrayRef<int64_t> offsets, Kind stored, Kind type,
                           int64_t rows, int64_t columns) {
  Operand result{rows, columns, {}, {}, {}};
  SmallVector<Element, 1> elements =
      loadWindow(program, buffer, stored, {rows, columns}, offsets, Element());
  for (Element e : elements) {
    result.poisons.push_back(e.poison);
    if (type.isFloat())
      result.floats.push_back(e.poison ? 0 : toDouble(type, e));
    else
      result.integers.push_back(static_cast<int32_t>(toSigned(type, e)));
  }
  return result;
}

/// Adds the products of one k-block, read at the given places.
static void addBlock(Program &program, tile::MatmulOp op, MatmulSums &sums,
                     int64_t length, const Buffer &a, ArrayRef<int64_t> aAt,
                     const Buffer &b, ArrayRef<int64_t> bAt) {
  int64_t rows = op.getNumRows(), columns = op.getNumWantedColumns();
  Operand left =
      readOperand(program, a, aAt, op.getA().getType().getElementType(),
                  op.getAElementType(), rows, length);
  Operand right =
      readOperand(program, b, bAt, op.getB().getType().getElementType(),
                  op.getBElementType(), length, columns);
  if (program.failed)
    return;
  bool isFloat = isa<FloatType>(op.getAElementType());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < length; ++k) {
      int64_t from = i * length + k;
      for (int64_t j = 0; j < columns; ++j) {
        int64_t to = i * op.getNumColumns() + j, other = k * columns + j;
        if (isFloat)
          sums.floats[to] += left.floats[from] * right.floats[other];
        else
          sums.integers[to] += static_cast<uint32_t>(left.integers[from]) *
                               static_cast<uint32_t>(right.integers[other]);
        if (Operation *poison =
                left.poisons[from] ? left.poisons[from] : right.poisons[other])
          sums.poisons[to] = poison;
      }
    }
  }
}

static Datum resultOf(tile::MatmulOp op, const MatmulSums &sums) {
  Kind type = op.getResult().getType();
  SmallVector<Element, 1> result;
  for (size_t n = 0; n < sums.poisons.size(); ++n) {
    if (sums.poisons[n])
      result.push_back({0, sums.poisons[n]});
    else if (type.isFloat())
      result.push_back(fromDouble(type, sums.floats[n]));
    else
      result.push_back({sums.integers[n]});
  }
  return Datum(std::move(result));
}

/// The length of k-block `number`.
static int64_t lengthOf(tile::MatmulOp op, int64_t k, int64_t number) {
  int64_t block = op.getBlock();
  return std::min(block, k - number * block);
}

static Step begin(Program &program, Operation *op) {
  auto matmul = cast<tile::MatmulOp>(op);
  int64_t k = program.index(matmul.getK());
  auto sums = std::make_shared<MatmulSums>();
  Type type = matmul.getResult().getType();
  int64_t count = countOf(type);
  sums->floats.assign(count, 0);
  sums->integers.assign(count, 0);
  sums->poisons.assign(count, nullptr);
  if (matmul.getInit()) {
    const Datum &init = program.get(matmul.getInit());
    for (int64_t n = 0; n < count && !program.failed; ++n) {
      Element e = init.elements[n];
      sums->poisons[n] = e.poison;
      if (isa<FloatType>(elementOf(type)))
        sums->floats[n] = e.poison ? 0 : toDouble(type, e);
      else
        sums->integers[n] = static_cast<uint32_t>(e.bits);
    }
  }
  // Of the other columns any values are allowed.
  for (int64_t n = 0; n < count; ++n)
    if (n % matmul.getNumColumns() >= matmul.getNumWantedColumns())
      sums->poisons[n] = op;
  if (program.failed)
    return Step::Next;

  if (!matmul.getBody().empty() && k > 0) {
    Step step =
        program.enter(op, &matmul.getBody().front(), {Datum(fromIndex(0))});
    program.frames.back().sums = std::move(sums);
    return step;
  }
  const Buffer &a = program.buffer(matmul.getA());
  const Buffer &b = program.buffer(matmul.getB());
  SmallVector<int64_t> aAt = program.indices(matmul.getAOffsets());
  SmallVector<int64_t> bAt = program.indices(matmul.getBOffsets());
  for (int64_t number = 0;
       !program.failed && number * static_cast<int64_t>(matmul.getBlock()) < k;
       ++number) {
    addBlock(program, matmul, *sums, lengthOf(matmul, k, number), a, aAt, b,
             bAt);
    aAt[1] += matmul.getBlock();
    bAt[0] += matmul.getBlock();
  }
  program.set(op->getResult(0), resultOf(matmul, *sums));
  return Step::Next;
}

/// Ends the region for one k-block.
static Step yield(Program &program, Operation *op) {
  auto yield = cast<tile::YieldOp>(op);
  Frame &frame = program.frames.back();
  auto matmul = cast<tile::MatmulOp>(frame.owner);
  int64_t number = static_cast<int64_t>(frame.iteration);
  int64_t k = program.index(matmul.getK());
  SmallVector<int64_t> aAt = program.indices(
      yield.getA() ? yield.getAOffsets() : matmul.getAOffsets());
  SmallVector<int64_t> bAt = program.indices(
      yield.getB() ? yield.getBOffsets() : matmul.getBOffsets());
  if (!yield.getA())
    aAt[1] += number * matmul.getBlock();
  if (!yield.getB())
    bAt[0] += number * matmul.getBlock();
  const Buffer &a = program.buffer(yield.getA() ? yield.getA() : matmul.getA());
  const Buffer &b = program.buffer(yield.getB() ? yield.getB() : matmul.getB());
  if (program.failed)
    return Step::Next;
  addBlock(program, matmul, *frame.sums, lengthOf(matmul, k, number), a, aAt, b,
           bAt);
  frame.iteration = ++number;
  if (number * static_cast<int64_t>(matmul.getBlock()) < k)
    return program.jump(frame.block, {Datum(fromIndex(number))});
  return program.leave({resultOf(matmul, *frame.sums)});
}

void mlir::iris::interp::addMatmulOp(World &world) {
  world.add("tile.matmul", begin);
  world.add("tile.yield", yield);
}
