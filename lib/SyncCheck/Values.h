// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Values.h - Values of one program in one world ------------*- C++ -*-===//
//
// Scalars and buffers, as far as they follow from the size of the world, the
// rank, the block index and the arguments.
#ifndef IRIS_LIB_SYNCCHECK_VALUES_H
#define IRIS_LIB_SYNCCHECK_VALUES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mlir::iris::sync {

/// A scalar: a number, an argument of a kernel whose number is not known, or
/// unknown.
struct Scalar {
  IntegerAttr number;
  /// The argument; null if `number` is set.
  Value argument;

  bool isKnown() const { return number || argument; }
  bool operator==(const Scalar &other) const {
    return number == other.number && argument == other.argument;
  }
};

/// What a memref value refers to.
struct Buffer {
  static constexpr int kUnknown = -1;
  /// Memory of the program (`memref.alloca`), which no other program sees.
  static constexpr int kPrivate = -2;

  /// The number of the allocation, the same on all ranks.
  int root = kUnknown;
  /// Whether it is a part of the allocation whose elements are neighbours, at
  /// an origin that is known.
  bool isExact = false;
  /// The first element in coordinates of the allocation; in bytes, if that has
  /// one dimension. Empty: 0.
  SmallVector<int64_t, 2> origin = {};
  /// The extents of the value, as far as they are known; empty: none is.
  SmallVector<std::optional<int64_t>, 2> sizes = {};
  /// The rank whose copy it is; none: this rank's.
  std::optional<unsigned> rank = std::nullopt;
};

/// Where a program runs.
struct Position {
  unsigned rank = 0;
  unsigned numRanks = 1;
  /// Ranks of the launch's group; empty: all.
  SmallVector<unsigned> group = {};
  SmallVector<int64_t, 3> block = {0, 0, 0};
  /// Numbers of programs; not known for a kernel without a launch.
  std::optional<SmallVector<int64_t, 3>> grid = std::nullopt;

  /// The ranks that take part in the launch.
  SmallVector<unsigned> members() const;
};

/// What a coordinate of a buffer of this type is multiplied by: the bytes of an
/// element, if there is one dimension.
int64_t getUnit(MemRefType type);

/// Arithmetic on coordinates and sizes beyond it may overflow.
inline constexpr int64_t kMostIndex = int64_t(1) << 48;

/// The values of one program.
class Values {
public:
  explicit Values(const Position &position) : position(position) {}

  /// Computes the results of an op without effects; unknown if an operand is.
  void evaluate(Operation *op);

  void set(Value value, Scalar scalar) { scalars[value] = scalar; }
  void set(Value value, Buffer buffer) { buffers[value] = buffer; }
  /// `to` is what `from` is.
  void copy(Value from, Value to);
  void clear(Value value);

  Scalar get(Value value) const { return scalars.lookup(value); }
  std::optional<int64_t> getNumber(Value value) const;
  /// A coordinate or size; also unknown if arithmetic on it may overflow.
  std::optional<int64_t> getIndex(OpFoldResult value) const;
  Buffer getBuffer(Value value) const { return buffers.lookup(value); }
  /// The elements of a tile of integers that is computed from known scalars;
  /// null: they are not known.
  DenseIntElementsAttr getTile(Value tile) const;

  const Position &getPosition() const { return position; }

private:
  bool evaluateBuffer(Operation *op);
  Buffer getSubview(memref::SubViewOp subview) const;
  Buffer getView(memref::ViewOp view) const;
  std::optional<int64_t> getSize(memref::DimOp dim) const;
  std::optional<int64_t> queryWorld(Operation *op) const;

  const Position &position;
  llvm::DenseMap<Value, Scalar> scalars;
  llvm::DenseMap<Value, Buffer> buffers;
};

} // namespace mlir::iris::sync

#endif // IRIS_LIB_SYNCCHECK_VALUES_H
