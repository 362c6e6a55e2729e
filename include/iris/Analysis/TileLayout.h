// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of layout attributes of the tile dialect to linear layouts.
#ifndef IRIS_ANALYSIS_TILELAYOUT_H
#define IRIS_ANALYSIS_TILELAYOUT_H

#include "iris/Analysis/LinearLayout.h"
#include "iris/Dialect/Tile/IR/Tile.h"

namespace mlir::iris {

/// Returns the linear layout that `encoding` describes for a tile of extents
/// `shape`; nothing if it is not a tile layout or has another rank. Layout
/// attributes contain no extents, so one attribute applies to tiles of any
/// shape.
std::optional<LinearLayout> getLinearLayout(Attribute encoding,
                                            ArrayRef<int64_t> shape);

/// Returns the layout of a tile type; nothing if the type has no layout.
std::optional<LinearLayout> getLinearLayout(RankedTensorType type);

/// Maximum number of elements per thread; no target has more registers.
inline constexpr unsigned kMaxElementsPerThread = 512;

/// Checks that the layout of `type` fits a workgroup of `numWarps` waves of
/// `warpSize` threads, and the registers of a thread; reports errors through
/// `emitError`.
LogicalResult verifyLayoutFits(RankedTensorType type, unsigned numWarps,
                               unsigned warpSize,
                               function_ref<InFlightDiagnostic()> emitError);

/// Returns the dimension along which neighbours of a window of extents `shape`
/// are neighbours in the memory of `buffer`: the last one, unless only the
/// stride of another one is known to be 1.
unsigned getInnerDim(MemRefType buffer, ArrayRef<int64_t> shape);

/// Returns an efficient layout for loads and stores of a tile of extents
/// `shape`: every thread holds `vectorSize` consecutive elements of the last
/// dimension, or fewer if the tile is too small; lanes go along rows, and warps
/// come last. Each thread holds at least `minSize` consecutive elements in
/// row-major order, even if threads then hold duplicates.
tile::BlockedAttr getDefaultLayout(MLIRContext *context,
                                   ArrayRef<int64_t> shape, int64_t vectorSize,
                                   unsigned numWarps, unsigned warpSize,
                                   int64_t minSize = 1);

/// Bytes of packet data per access, and the minimum number of consecutive bytes
/// that a thread must hold.
inline constexpr int64_t kPacketBytes = 8;
inline constexpr int64_t kMinPacketBytes = 4;

/// Returns the number of bytes that every thread holds as consecutive elements
/// in row-major order, starting at a multiple of their number; 0 without a
/// layout.
int64_t getRowMajorBytes(RankedTensorType type);

/// Returns `layout` with its dimensions permuted: dimension i of the result is
/// dimension `permutation[i]` of `layout`.
Attribute transposeLayout(Attribute layout, ArrayRef<int64_t> permutation);

} // namespace mlir::iris

#endif // IRIS_ANALYSIS_TILELAYOUT_H
