// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelLanguage.h - The portable kernel language ----------*- C++ -*-===//
//
// The ops that a kernel may use, and their types: a single table for the
// verifier (iris-verify-portable), `iris-compile --list-ops`,
// docs/reference/kernel-language.md and the tests. Everything in the table
// compiles for every target; everything else is rejected for every target.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_DIALECT_IRIS_TRANSFORMS_KERNELLANGUAGE_H
#define IRIS_DIALECT_IRIS_TRANSFORMS_KERNELLANGUAGE_H

#include "mlir/IR/Operation.h"

namespace mlir::iris {

/// Sets of element types, as bits.
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
  /// f8E4M3FN, f8E5M2, f8E4M3FNUZ and f8E5M2FNUZ: values that can be converted,
  /// selected and moved, but not used in arithmetic.
  EltF8 = 1 << 10,

  EltInts = EltI8 | EltI16 | EltI32 | EltI64,
  EltIntegers = EltInts | EltIndex,
  EltAllIntegers = EltIntegers | EltI1,
  EltFloatsTo32 = EltF16 | EltBF16 | EltF32,
  EltFloats = EltFloatsTo32 | EltF64,
  EltStored = EltInts | EltFloats,
  EltAny = EltAllIntegers | EltFloats,
  /// x86 computes bf16 as f32, but vectors of bf16 are not widened.
  EltInVectors = EltAny & ~EltBF16,
  EltAnyF8 = EltAny | EltF8
};

/// Sets of shapes, as bits.
enum ShapeSet : uint32_t {
  /// Scalars: uniform in the program.
  OnScalars = 1 << 0,
  /// One-dimensional vectors of fixed length, of any element type except bf16,
  /// f8, and i1 in memory.
  OnVectors = 1 << 1,
  /// Tiles: tensors with static power-of-two extents.
  OnTiles = 1 << 2,
  /// Memrefs.
  OnBuffers = 1 << 3,

  OnNumbers = OnScalars | OnVectors | OnTiles,
  OnAny = OnNumbers | OnBuffers
};

/// One op of the language. All operands, results and block arguments must have
/// these shapes and elements; `!iris.ctx` is always allowed.
struct KernelOp {
  uint32_t shapes;
  uint32_t elements;
  /// Further restrictions, as text; may be empty.
  StringRef note;
};

/// Maximum number of elements in a tile: what a GPU program can hold in its
/// registers, 256 x 256 of 32 bits.
inline constexpr int64_t kMaxTileElements = 65536;
/// Maximum number of bytes in a tile.
inline constexpr int64_t kMaxTileBytes = 256 << 10;
/// Maximum number of elements in a vector.
inline constexpr int64_t kMaxVectorElements = 64;

/// The page that describes the language.
inline constexpr StringRef kKernelLanguagePage =
    "docs/reference/kernel-language.md";

/// The entry of an op; null if the op is not in the language.
const KernelOp *findKernelOp(StringRef name);

/// The names of the language's ops of a dialect, without the dialect prefix,
/// sorted.
SmallVector<StringRef> getKernelOpNames(StringRef dialect);

/// The names of the dialects with ops in the language, in table order.
ArrayRef<StringRef> getKernelDialects();

/// "f16, bf16 or f32".
std::string describeElements(uint32_t elements);
/// "scalars, vectors and tiles".
std::string describeShapes(uint32_t shapes);

/// Reports attributes of the iris dialect on `op`, and on its arguments and
/// results if it is a function, that mean nothing there before lowering.
LogicalResult verifyIrisAttributes(Operation *op);
/// Prints the table of these attributes as Markdown.
void printKernelAttributes(raw_ostream &os);

/// Prints the table as Markdown, and the names of the ops of its dialects that
/// are not in the table. Loads the dialects into `context`.
void printKernelLanguage(raw_ostream &os, MLIRContext &context);

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_TRANSFORMS_KERNELLANGUAGE_H
