// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulCalls.cpp - Matmuls in @main ---------------------------------===//
//
// c = activation(scale * (a x b) + bias). The terms are added in f64 and
// rounded to f32 once, as by tile.matmul; scale, bias and activation are f32
// operations (gelu: in f64, rounded once); the result is rounded to the
// elements of c.
#include "Machine.h"

#include "iris/Dialect/Iris/IR/IrisMatmul.h"
#include <cmath>

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

namespace {
/// A matrix of numbers: floats, or integers, whose sums wrap in 32 bits.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> values;
  std::vector<Operation *> poisons;

  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), values(rows * columns),
        poisons(rows * columns) {}
};

/// One matmul on all members.
class MatmulCall {
public:
  MatmulCall(World &world, ArrayRef<StreamItem *> items)
      : items(items), size(items.size()),
        call(cast<MatmulCallOpInterface>(items.front()->op)),
        element(call.getElement().value_or(
            cast<MemRefType>(call.getA().getType()).getElementType())),
        stored(call.getA().getType()), result(call.getC().getType()),
        program(world, items.front()->rank) {
    program.placeAt(call);
  }
  void run();

private:
  const Buffer &operand(int64_t member, size_t n) {
    return *items[member]->arguments[n].buffer;
  }
  StringRef config(StringRef key, StringRef otherwise) {
    DictionaryAttr all = call.getConfigAttr();
    auto value = all ? all.getAs<StringAttr>(key) : StringAttr();
    return value ? value.getValue() : otherwise;
  }
  Matrix read(const Buffer &buffer);
  Matrix multiply(const Matrix &a, const Matrix &b);
  static Matrix beside(ArrayRef<Matrix> all);
  static Matrix below(ArrayRef<Matrix> all);
  static void add(Matrix &sum, const Matrix &other);
  /// The epilogue of `sum`, to the member's c from a row and a column, which
  /// are also those of the bias.
  void write(int64_t member, const Matrix &sum, int64_t row = 0,
             int64_t column = 0);

  ArrayRef<StreamItem *> items;
  int64_t size;
  MatmulCallOpInterface call;
  Kind element, stored, result;
  /// For errors: `@main` of the first member.
  Program program;
};
} // namespace

Matrix MatmulCall::read(const Buffer &buffer) {
  Matrix matrix(buffer.sizes[0], buffer.sizes[1]);
  forEachElement(buffer.sizes, [&](int64_t n, ArrayRef<int64_t> at) {
    if (program.failed)
      return;
    Element e = program.load(buffer, stored, at);
    matrix.poisons[n] = e.poison;
    matrix.values[n] = e.poison ? 0
                       : element.isFloat()
                           ? toDouble(element, e)
                           : static_cast<double>(toSigned(element, e));
  });
  return matrix;
}

/// Sums of i8 are exact in f64: less than 2^39 of them are less than 2^53.
Matrix MatmulCall::multiply(const Matrix &a, const Matrix &b) {
  Matrix c(a.rows, b.columns);
  if (a.columns != b.rows) {
    program.error("multiplies rows of " + Twine(a.columns) +
                  " elements by columns of " + Twine(b.rows));
    return c;
  }
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t k = 0; k < a.columns; ++k) {
      int64_t from = i * a.columns + k;
      for (int64_t j = 0; j < b.columns; ++j) {
        c.values[i * c.columns + j] +=
            a.values[from] * b.values[k * b.columns + j];
        if (a.poisons[from] || b.poisons[k * b.columns + j])
          c.poisons[i * c.columns + j] =
              a.poisons[from] ? a.poisons[from] : b.poisons[k * b.columns + j];
      }
    }
  }
  return c;
}

Matrix MatmulCall::beside(ArrayRef<Matrix> all) {
  Matrix whole(all[0].rows, all[0].columns * all.size());
  for (auto [n, matrix] : llvm::enumerate(all)) {
    for (int64_t i = 0; i < matrix.rows; ++i) {
      for (int64_t j = 0; j < matrix.columns; ++j) {
        int64_t to = i * whole.columns + n * matrix.columns + j;
        whole.values[to] = matrix.values[i * matrix.columns + j];
        whole.poisons[to] = matrix.poisons[i * matrix.columns + j];
      }
    }
  }
  return whole;
}

Matrix MatmulCall::below(ArrayRef<Matrix> all) {
  Matrix whole(0, all[0].columns);
  for (const Matrix &matrix : all) {
    whole.rows += matrix.rows;
    llvm::append_range(whole.values, matrix.values);
    llvm::append_range(whole.poisons, matrix.poisons);
  }
  return whole;
}

void MatmulCall::add(Matrix &sum, const Matrix &other) {
  for (size_t n = 0; n < sum.values.size(); ++n) {
    sum.values[n] += other.values[n];
    if (other.poisons[n])
      sum.poisons[n] = other.poisons[n];
  }
}

void MatmulCall::write(int64_t member, const Matrix &sum, int64_t row,
                       int64_t column) {
  const Buffer &c = operand(member, 2);
  StringRef activation = config("activation", "none");
  bool biasOfRows = config("bias", "column") == "row";
  if (row + sum.rows > c.sizes[0] || column + sum.columns > c.sizes[1]) {
    program.error("has a result of " + Twine(row + sum.rows) + " x " +
                  Twine(column + sum.columns) + " elements; c has " +
                  Twine(c.sizes[0]) + " x " + Twine(c.sizes[1]));
    return;
  }
  Kind f32(Float32Type::get(call.getContext()));
  size_t next = 3;
  const Buffer *bias =
      call.getBias() ? items[member]->arguments[next++].buffer.get() : nullptr;
  std::optional<float> scale;
  if (call.getScale())
    scale = static_cast<float>(
        toDouble(f32, items[member]->arguments[next].elements[0]));
  for (int64_t i = 0; i < sum.rows; ++i) {
    for (int64_t j = 0; j < sum.columns && !program.failed; ++j) {
      int64_t from = i * sum.columns + j, at[] = {row + i, column + j};
      Element value{0, sum.poisons[from]};
      if (!element.isFloat()) {
        value.bits =
            static_cast<uint32_t>(static_cast<int64_t>(sum.values[from]));
        if (bias) {
          int64_t where[] = {biasOfRows ? row + i : column + j};
          if (!program.checkInside(*bias, where))
            return;
          value = combine(Combine::Add, result, value,
                          program.load(*bias, result, where));
        }
        if (activation == "relu" && toSigned(result, value) < 0)
          value.bits = 0;
        program.store(c, result, at, value);
        continue;
      }
      float number = static_cast<float>(sum.values[from]);
      if (scale)
        number *= *scale;
      if (bias) {
        int64_t where[] = {biasOfRows ? row + i : column + j};
        if (!program.checkInside(*bias, where))
          return;
        Element term = program.load(*bias, result, where);
        if (term.poison)
          value.poison = term.poison;
        else
          number += static_cast<float>(toDouble(result, term));
      }
      if (activation == "relu" && number < 0)
        number = 0;
      if (activation == "gelu")
        number = static_cast<float>(0.5 * number *
                                    (1 + std::erf(number * std::sqrt(0.5))));
      if (!value.poison)
        value = fromDouble(result, number);
      program.store(c, result, at, value);
    }
  }
}

void MatmulCall::run() {
  std::vector<Matrix> a, b;
  for (int64_t member = 0; member < size; ++member) {
    a.push_back(read(operand(member, 0)));
    b.push_back(read(operand(member, 1)));
    if (program.failed)
      return;
    if (a[member].rows != a[0].rows || a[member].columns != a[0].columns ||
        b[member].rows != b[0].rows || b[member].columns != b[0].columns)
      return program.error("has operands of different shapes on ranks " +
                           Twine(items[0]->rank) + " and " +
                           Twine(items[member]->rank));
  }
  switch (call.getMatmulKind()) {
  case MatmulKind::Matmul:
    for (int64_t member = 0; member < size && !program.failed; ++member)
      write(member, multiply(a[member], b[member]));
    return;
  case MatmulKind::AllGatherMatmul: {
    Matrix whole = config("shard", "k") == "k" ? beside(a) : below(a);
    for (int64_t member = 0; member < size && !program.failed; ++member)
      write(member, multiply(whole, b[member]));
    return;
  }
  case MatmulKind::MatmulAllGather: {
    bool byRows = config("shard", "m") == "m";
    for (int64_t from = 0; from < size && !program.failed; ++from) {
      Matrix part = multiply(a[from], b[from]);
      for (int64_t to = 0; to < size && !program.failed; ++to)
        write(to, part, byRows ? from * part.rows : 0,
              byRows ? 0 : from * part.columns);
    }
    return;
  }
  case MatmulKind::MatmulReduceScatter:
  case MatmulKind::MatmulAllReduce: {
    Matrix sum = multiply(a[0], b[0]);
    for (int64_t member = 1; member < size && !program.failed; ++member)
      add(sum, multiply(a[member], b[member]));
    bool scatters = call.getMatmulKind() == MatmulKind::MatmulReduceScatter;
    for (int64_t to = 0; to < size && !program.failed; ++to) {
      if (!scatters) {
        write(to, sum);
        continue;
      }
      int64_t rows = operand(to, 2).sizes[0];
      if ((to + 1) * rows > sum.rows)
        return program.error("has " + Twine(sum.rows) +
                             " rows of a; expected " + Twine(rows * size));
      Matrix chunk(rows, sum.columns);
      size_t start = to * rows * sum.columns;
      chunk.values.assign(sum.values.begin() + start,
                          sum.values.begin() + start + rows * sum.columns);
      chunk.poisons.assign(sum.poisons.begin() + start,
                           sum.poisons.begin() + start + rows * sum.columns);
      write(to, chunk);
    }
    return;
  }
  }
}

static void runMatmul(World &world, ArrayRef<StreamItem *> items) {
  MatmulCall(world, items).run();
}

static Step matmul(Program &program, Operation *op) {
  auto call = cast<MatmulCallOpInterface>(op);
  SmallVector<Datum> arguments{program.get(call.getA()),
                               program.get(call.getB()),
                               program.get(call.getC())};
  if (call.getBias())
    arguments.push_back(program.get(call.getBias()));
  if (call.getScale())
    arguments.push_back(Datum(program.scalar(call.getScale())));
  DenseI32ArrayAttr group = call.getGroupAttr();
  // Each rank's own matmul waits for no other rank.
  if (call.getMatmulKind() == MatmulKind::Matmul &&
      llvm::is_contained(membersOf(program.world, group), program.rank))
    group = DenseI32ArrayAttr::get(op->getContext(),
                                   static_cast<int32_t>(program.rank));
  return enqueueCall(program, op, arguments, group, runMatmul);
}

void mlir::iris::interp::addMatmulCalls(World &world) {
  for (StringRef name :
       {"iris.matmul", "iris.all_gather_matmul", "iris.matmul_all_gather",
        "iris.matmul_reduce_scatter", "iris.matmul_all_reduce"})
    world.add(name, matmul);
}
