// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelLanguage.h - The portable kernel language ----------*- C++ -*-===//
//
// Which ops a kernel may use, and on which types: one table, which the verifier
// (iris-verify-portable), `iris-compile --list-ops`, docs/kernel-language.md
// and the tests share. Everything in it compiles for every target; everything
// else is refused for every target.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_DIALECT_IRIS_TRANSFORMS_KERNELLANGUAGE_H
#define IRIS_DIALECT_IRIS_TRANSFORMS_KERNELLANGUAGE_H

#include "mlir/IR/Operation.h"

namespace mlir::iris {

/// Element types, as bits of a set.
enum ElementSet : uint32_t {
  EltI1 = 1 << 0,
  EltI8 = 1 << 1,
  EltI16 = 1 << 2,
  EltI32 = 1 << 3,
  EltI64 = 1 << 4,
  EltIndex = 1 << 5,
  EltF16 = 1 << 6,
  EltBF16 = 1 << 7,
  EltF32 = 1 << 8,
  EltF64 = 1 << 9,
  /// f8E4M3FN, f8E5M2, f8E4M3FNUZ and f8E5M2FNUZ: values that are converted,
  /// chosen and moved, but not computed with.
  EltF8 = 1 << 10,

  EltInts = EltI8 | EltI16 | EltI32 | EltI64,
  EltIntegers = EltInts | EltIndex,
  EltAllIntegers = EltIntegers | EltI1,
  EltFloatsTo32 = EltF16 | EltBF16 | EltF32,
  EltFloats = EltFloatsTo32 | EltF64,
  EltStored = EltInts | EltFloats,
  EltAny = EltAllIntegers | EltFloats,
  /// x86 computes bf16 as f32, which vectors of it are not widened to.
  EltInVectors = EltAny & ~EltBF16,
  EltAnyF8 = EltAny | EltF8
};

/// What an op works on, as bits of a set.
enum ShapeSet : uint32_t {
  /// Numbers that are the same in the whole program.
  OnScalars = 1 << 0,
  /// Vectors of one dimension and a fixed length, of anything but bf16, f8 and
  /// i1 in memory.
  OnVectors = 1 << 1,
  /// Tiles: tensors of static extents that are powers of two.
  OnTiles = 1 << 2,
  /// Memrefs.
  OnBuffers = 1 << 3,

  OnNumbers = OnScalars | OnVectors | OnTiles,
  OnAny = OnNumbers | OnBuffers
};

/// One op of the language. All its operands, results and the arguments of its
/// blocks are of these shapes and elements; `!iris.ctx` is always among them.
struct KernelOp {
  uint32_t shapes;
  uint32_t elements;
  /// What else holds, for people; empty: nothing.
  StringRef note;
};

/// Elements of the largest tile. What a program of a GPU holds at once in its
/// registers: 256 x 256 of 32 bits.
inline constexpr int64_t kMostTileElements = 65536;
/// Bytes of the largest tile.
inline constexpr int64_t kMostTileBytes = 256 << 10;
/// Elements of the longest vector.
inline constexpr int64_t kMostVectorElements = 64;

/// The page that describes the language.
inline constexpr StringRef kKernelLanguagePage =
    "docs/reference/kernel-language.md";

/// The row of an op; nothing if the op is not in the language.
const KernelOp *findKernelOp(StringRef name);

/// The names of the language's ops of a dialect, without its prefix, sorted.
SmallVector<StringRef> getKernelOpNames(StringRef dialect);

/// The names of the dialects that the language has ops of, in the order of the
/// table.
ArrayRef<StringRef> getKernelDialects();

/// "f16, bf16 or f32".
std::string describeElements(uint32_t elements);
/// "scalars, vectors and tiles".
std::string describeShapes(uint32_t shapes);

/// Prints the table as Markdown, and the names of those ops of its dialects
/// that are not in it. Loads the dialects into `context`.
void printKernelLanguage(raw_ostream &os, MLIRContext &context);

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_TRANSFORMS_KERNELLANGUAGE_H
