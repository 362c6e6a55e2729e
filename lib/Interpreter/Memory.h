// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.h - Values and buffers of the interpreter ---------*- C++ -*-===//
#ifndef IRIS_LIB_INTERPRETER_MEMORY_H
#define IRIS_LIB_INTERPRETER_MEMORY_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MemAlloc.h"
#include <cstdlib>
#include <memory>
#include <vector>

namespace mlir::iris::interp {

/// A scalar, or an element of a vector or tile: its bits, or poison.
struct Element {
  uint64_t bits = 0;
  /// The op that made it poison; null if it is a value.
  Operation *poison = nullptr;
};

struct Shadow;

/// Bytes that are 0 at first. The system makes pages when they are written:
/// workspaces are large, and little of them is used.
class ZeroedBytes {
public:
  ZeroedBytes() = default;
  explicit ZeroedBytes(int64_t size)
      : count(size), memory(static_cast<uint8_t *>(
                         llvm::safe_calloc(std::max<int64_t>(size, 1), 1))) {}

  int64_t size() const { return count; }
  uint8_t *begin() { return memory.get(); }
  uint8_t *end() { return memory.get() + count; }
  uint8_t &operator[](int64_t n) { return memory.get()[n]; }
  uint8_t operator[](int64_t n) const { return memory.get()[n]; }
  operator ArrayRef<uint8_t>() const {
    return {memory.get(), static_cast<size_t>(count)};
  }

private:
  struct Free {
    void operator()(uint8_t *pointer) const { std::free(pointer); }
  };
  int64_t count = 0;
  std::unique_ptr<uint8_t, Free> memory;
};

/// A buffer's memory: one copy, or one for each rank.
struct Allocation {
  struct Copy {
    ZeroedBytes bytes;
    enum State : uint8_t { Written, Uninitialized, Poison };
    ZeroedBytes states;
    /// The ops that stored poison, by byte.
    llvm::DenseMap<int64_t, Operation *> origins;
    /// Programs may wait for a change of this copy.
    bool watched = false;
    /// The allocation's number, and the rank whose copy it is.
    int64_t number = -1;
    unsigned rank = 0;
    /// Of the race checker; null without accesses.
    std::shared_ptr<Shadow> shadow;
  };
  /// Its number on the symmetric heap, in program order; -1 for a program's own
  /// memory (`memref.alloca`).
  int64_t number = -1;
  /// Of the symmetric heap: the `iris.alloc` and the extents of its result.
  Operation *op = nullptr;
  llvm::SmallVector<int64_t, 4> sizes = {};
  /// Its number among those that are not workspaces.
  uint64_t bufferNumber = 0;
  bool isWorkspace = false;
  std::vector<Copy> copies;
  /// The address of each copy's first byte is a multiple of 256.
  uint64_t address = 0;
  /// Ranks that have freed it.
  uint64_t freedBy = 0;

  bool isSymmetric() const { return number >= 0; }
  int64_t size() const { return copies.front().bytes.size(); }
};

/// What a memref is at run time.
struct Buffer {
  std::shared_ptr<Allocation> allocation;
  /// The rank whose copy this is.
  unsigned rank = 0;
  /// The address of the descriptor's base, in bytes from that of the copy.
  int64_t base = 0;
  /// In elements, from the base.
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 4> sizes, strides;
  Operation *poison = nullptr;

  Allocation::Copy &copy() const {
    return allocation->copies[allocation->isSymmetric() ? rank : 0];
  }
};

/// The value of an SSA value: the elements of a scalar (one), vector or tile
/// (row-major), or a buffer. A context has neither.
struct Datum {
  llvm::SmallVector<Element, 1> elements;
  std::shared_ptr<Buffer> buffer;

  Datum() = default;
  Datum(Element element) : elements(1, element) {}
  explicit Datum(llvm::SmallVector<Element, 1> elements)
      : elements(std::move(elements)) {}
  Datum(Buffer buffer) : buffer(std::make_shared<Buffer>(std::move(buffer))) {}
};

/// The element type of a tile, vector or memref, or the type of a scalar.
inline Type elementOf(Type type) { return getElementTypeOrSelf(type); }
/// 1 for a scalar.
int64_t countOf(Type type);

/// What the bits of an element mean. Handlers make it once for an op.
struct Kind {
  /// Bits of an element; `index` has 64.
  unsigned width;
  /// Of a float; else null.
  const llvm::fltSemantics *semantics = nullptr;

  /// Of a scalar's type, or of a vector's, tile's or memref's elements.
  Kind(Type type);
  bool isFloat() const { return semantics; }
  /// Bytes of an element in memory.
  int64_t bytes() const { return (width + 7) / 8; }
};

inline llvm::APInt toInt(Kind kind, Element e) {
  return llvm::APInt(kind.width, e.bits, false, /*implicitTrunc=*/true);
}
inline int64_t toSigned(Kind kind, Element e) {
  return toInt(kind, e).getSExtValue();
}
inline llvm::APFloat toFloat(Kind kind, Element e) {
  return llvm::APFloat(*kind.semantics, toInt(kind, e));
}
double toDouble(Kind kind, Element e);
inline Element fromInt(const llvm::APInt &value) {
  return {value.getZExtValue()};
}
inline Element fromIndex(int64_t value) {
  return {static_cast<uint64_t>(value)};
}
/// Rounds to nearest even; f8 types saturate
/// (docs/reference/kernel-language.md).
Element fromFloat(Kind kind, llvm::APFloat value);
Element fromDouble(Kind kind, double value);
/// Whether the bits are the same, or both are NaN.
bool isEqual(Kind kind, Element a, Element b);
/// As in an error: the number in decimal.
std::string toText(Kind kind, Element e);

/// The shape of a tile or vector; empty for a scalar.
inline ArrayRef<int64_t> shapeOf(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.getShape();
  return {};
}
/// Calls `work` with the number and the coordinates of every element.
template <typename Fn>
void forEachElement(ArrayRef<int64_t> shape, Fn work) {
  llvm::SmallVector<int64_t, 4> at(shape.size(), 0);
  for (int64_t n = 0;; ++n) {
    if (llvm::is_contained(shape, 0))
      return;
    work(n, ArrayRef<int64_t>(at));
    size_t dim = shape.size();
    while (dim > 0 && ++at[dim - 1] == shape[dim - 1])
      at[--dim] = 0;
    if (dim == 0)
      return;
  }
}
/// The number of the element at `at`.
inline int64_t linearIndex(ArrayRef<int64_t> shape, ArrayRef<int64_t> at) {
  int64_t n = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    n = n * shape[dim] + at[dim];
  return n;
}

} // namespace mlir::iris::interp

#endif // IRIS_LIB_INTERPRETER_MEMORY_H
