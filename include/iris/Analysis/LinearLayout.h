// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear layouts: where the elements of a tile live.
//
// A tile of type tensor<8x256xf16> is spread over the threads of a workgroup.
// Each thread is named by its lane in a wave and its wave in the workgroup
// ("warp"), and keeps its share in numbered registers.  A layout answers: which
// element lies in register r of lane l of warp w?
//
// All extents here are powers of two, so both questions and answers are strings
// of bits, and every layout worth having turns out to be a *linear* map between
// them over GF(2), the field with the elements 0 and 1 in which adding is
// exclusive-or.  Linear means L(a ^ b) = L(a) ^ L(b): the map is known once it
// is known for each single bit of the input.  Those images are its *bases*.
//
// The output is the element's row-major index in the tile.  With power-of-two
// extents the bits of that index are just the bits of the coordinates, one
// dimension after the other, the last dimension lowest.
//
// Example: an 8x256 tile in 4 waves of 64 lanes, 8 elements in a row per
// thread.  11 bits of index, row (3) above column (8):
//
//     register bits 0..2  ->  column bits 0..2    (one 16-byte access for f16)
//     lane bits 0..4      ->  column bits 3..7    (32 lanes cover a row)
//     lane bit 5          ->  row bit 0
//     warp bits 0..1      ->  row bits 1..2
//
// What makes this form useful is that questions about layouts become linear
// algebra on a few machine words, with no case per kind of layout:
//
//   * Duplicates.  If the tile is smaller than the workgroup, some input bits
//     do not move the result (their basis is zero) or repeat what other bits do
//     (it depends on them).  Clearing those *free* bits names exactly one
//     holder of each element: its owner, who alone may store it.
//   * Contiguity.  Register bits whose bases are 1, 2, 4, ... hold neighbours
//     in memory, and if no other basis touches those index bits, the run starts
//     at a multiple of its length: a vector access.
//   * Conversion.  From layout A to layout B: B followed by the inverse of A
//     says where each thread's new element lies now.  If the lane and warp bits
//     of that composed map are the identity, the conversion is a renumbering of
//     registers; if not, data must cross threads.
//   * Slices.  A reduction or a broadcast along a dimension forgets that
//     dimension's index bits in every basis.
//
// The same type serves for layouts of shared memory, whose only input is the
// offset: put it in the register dimension.
#ifndef IRIS_ANALYSIS_LINEARLAYOUT_H
#define IRIS_ANALYSIS_LINEARLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::iris {

/// The inputs of a layout, from the one that varies fastest.
enum class LayoutDim : unsigned { Register = 0, Lane = 1, Warp = 2 };

/// One number per input of a layout: a place, or a mask over its bits.
struct LayoutIndex {
  uint64_t reg = 0;
  uint64_t lane = 0;
  uint64_t warp = 0;

  bool operator==(const LayoutIndex &other) const {
    return reg == other.reg && lane == other.lane && warp == other.warp;
  }
};

/// A map between layouts: for each place in the destination, the place in the
/// source that holds the same element.  Linear; see `LinearLayout::sourceOf`.
struct LayoutConversion {
  llvm::SmallVector<LayoutIndex> reg;
  llvm::SmallVector<LayoutIndex> lane;
  llvm::SmallVector<LayoutIndex> warp;

  /// Returns the source of destination register `reg` of (lane, warp).
  LayoutIndex apply(LayoutIndex place) const;

  /// True if every thread already holds all the elements it needs.
  bool isWithinThread() const;

  /// True if no element leaves its warp.
  bool isWithinWarp() const;
};

/// A linear map from (register, lane, warp) to the row-major index of a tile's
/// element.  A value type; cheap to copy.
class LinearLayout {
public:
  using Bases = llvm::SmallVector<uint64_t, 8>;

  /// Creates a layout of a tile with extents `shape` from its bases, row-major
  /// element indices.  Extents must be powers of two, bases smaller than the
  /// number of elements.
  LinearLayout(llvm::ArrayRef<int64_t> shape, Bases registers, Bases lanes,
               Bases warps);

  /// Creates a blocked layout.  `order` lists the dimensions from the one that
  /// varies fastest; each thread holds `sizePerThread` neighbours, a wave has
  /// `threadsPerWarp` threads and the workgroup `warpsPerCta` waves along each
  /// dimension.  Where that covers more than the tile, threads hold duplicates;
  /// where it covers less, each thread gets more registers.
  static LinearLayout blocked(llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<int64_t> sizePerThread,
                              llvm::ArrayRef<int64_t> threadsPerWarp,
                              llvm::ArrayRef<int64_t> warpsPerCta,
                              llvm::ArrayRef<int64_t> order);

  /// Creates a layout from coordinate bases, each with one number per
  /// dimension.  Coordinates that lie outside `shape` wrap to duplicates, index
  /// bits that no basis reaches get registers, as for blocked layouts.
  static LinearLayout
  fromCoordinates(llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<llvm::SmallVector<int64_t>> registers,
                  llvm::ArrayRef<llvm::SmallVector<int64_t>> lanes,
                  llvm::ArrayRef<llvm::SmallVector<int64_t>> warps);

  /// Returns the layout of this tile's slice along `dim`: the dimension is
  /// forgotten, and registers that only told its coordinates apart are dropped.
  LinearLayout slice(unsigned dim) const;

  /// Returns the same layout of the tile seen with its dimensions permuted:
  /// dimension i of the result is dimension `permutation[i]` of this one.
  LinearLayout transpose(llvm::ArrayRef<int64_t> permutation) const;

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  llvm::ArrayRef<uint64_t> getBases(LayoutDim dim) const {
    return bases[static_cast<unsigned>(dim)];
  }
  uint64_t getNumElements() const;
  unsigned getNumRegisters() const { return size(LayoutDim::Register); }
  unsigned getNumLanes() const { return size(LayoutDim::Lane); }
  unsigned getNumWarps() const { return size(LayoutDim::Warp); }

  /// Returns the row-major index of the element at `place`.
  uint64_t apply(LayoutIndex place) const;

  /// Splits a row-major index (or a basis) into coordinates.
  llvm::SmallVector<int64_t> getCoordinates(uint64_t index) const;

  /// Returns the bits of a row-major index that belong to dimension `dim`, and
  /// the number of bits below them.
  uint64_t getDimMask(unsigned dim) const;
  unsigned getDimShift(unsigned dim) const;

  /// True if every element of the tile has a place.
  bool isSurjective() const;

  /// Returns the input bits that tell no elements apart.  With these cleared,
  /// each element of the image is at exactly one place.
  LayoutIndex getFreeBits() const;

  /// True if (lane, warp) differ in the elements they hold: nothing to guard.
  bool hasUniqueOwners() const {
    LayoutIndex free = getFreeBits();
    return free.lane == 0 && free.warp == 0;
  }

  /// Returns the owner of the element at `index`, or nothing if no place holds
  /// it.
  std::optional<LayoutIndex> invert(uint64_t index) const;

  /// Returns the register bits whose bases are 1, 2, 4, ... within the last
  /// dimension and which no other basis disturbs: `1 << size()` neighbours that
  /// start at a multiple of their number.
  llvm::SmallVector<unsigned> getContiguousRegisterBits() const;

  /// The same for neighbours in the row-major order of the whole tile.
  llvm::SmallVector<unsigned> getRowMajorRegisterBits() const;

  /// Returns the number of neighbours along the last dimension that a thread
  /// can access at once.
  unsigned getContiguity() const {
    return 1u << getContiguousRegisterBits().size();
  }

  /// Returns, for each place of this layout, the place of `source` that holds
  /// the element which `project` (a linear map on bases) maps ours to; nothing
  /// if `source` lacks one.  Sources in the same thread are preferred, then
  /// ones in the same warp.
  std::optional<LayoutConversion>
  sourceOf(const LinearLayout &source,
           llvm::function_ref<uint64_t(uint64_t)> project) const;
  std::optional<LayoutConversion> sourceOf(const LinearLayout &source) const;

  bool operator==(const LinearLayout &other) const {
    return shape == other.shape && bases[0] == other.bases[0] &&
           bases[1] == other.bases[1] && bases[2] == other.bases[2];
  }
  bool operator!=(const LinearLayout &other) const { return !(*this == other); }

  /// Returns the bases as text, one line per input.
  std::string toString() const;

private:
  llvm::SmallVector<unsigned> getRegisterRun(uint64_t length) const;
  unsigned size(LayoutDim dim) const {
    return 1u << bases[static_cast<unsigned>(dim)].size();
  }

  llvm::SmallVector<int64_t> shape;
  Bases bases[3];
};

} // namespace mlir::iris

#endif // IRIS_ANALYSIS_LINEARLAYOUT_H
