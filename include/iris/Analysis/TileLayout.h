// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the layout attributes of the tile dialect to linear layouts.
#ifndef IRIS_ANALYSIS_TILELAYOUT_H
#define IRIS_ANALYSIS_TILELAYOUT_H

#include "iris/Analysis/LinearLayout.h"
#include "iris/Dialect/Tile/IR/Tile.h"

namespace mlir::iris {

/// Returns the linear layout that `encoding` describes for a tile of extents
/// `shape`; nothing if it is not a tile layout or of another rank.  Layout
/// attributes do not name extents, so one attribute serves tiles of any shape.
std::optional<LinearLayout> getLinearLayout(Attribute encoding,
                                            ArrayRef<int64_t> shape);

/// Returns the layout of a tile type; nothing if it carries none.
std::optional<LinearLayout> getLinearLayout(RankedTensorType type);

/// No target has more registers for a thread.
inline constexpr unsigned kMaxElementsPerThread = 512;

/// Checks that the layout of `type` fits a workgroup of `numWarps` waves of
/// `warpSize` threads, and a thread's registers; if not, says why through
/// `emitError`.
LogicalResult verifyLayoutFits(RankedTensorType type, unsigned numWarps,
                               unsigned warpSize,
                               function_ref<InFlightDiagnostic()> emitError);

/// Returns the layout that moves a tile of extents `shape` well: every thread
/// takes `vectorSize` neighbours of the last dimension, or fewer where the tile
/// has not that many for each thread, lanes go along rows and warps come last.
/// Each thread takes at least `minSize` neighbours in row-major order, also
/// where that leaves threads with duplicates.
tile::BlockedAttr getDefaultLayout(MLIRContext *context,
                                   ArrayRef<int64_t> shape, int64_t vectorSize,
                                   unsigned numWarps, unsigned warpSize,
                                   int64_t minSize = 1);

/// Bytes of a packet's data that go in one access, and the least of them that a
/// thread must hold in a row.
inline constexpr int64_t kPacketBytes = 8;
inline constexpr int64_t kMinPacketBytes = 4;

/// Returns how many bytes of the tile, neighbours in row-major order that start
/// at a multiple of their number, every thread holds; 0 without a layout.
int64_t getRowMajorBytes(RankedTensorType type);

/// Returns `layout` with its dimensions permuted: dimension i of the result is
/// dimension `permutation[i]` of `layout`.
Attribute transposeLayout(Attribute layout, ArrayRef<int64_t> permutation);

} // namespace mlir::iris

#endif // IRIS_ANALYSIS_TILELAYOUT_H
