// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear layouts: which thread and register hold each element of a tile.
//
// A tile of type tensor<8x256xf16> is distributed over the threads of a
// workgroup. Each thread is identified by its lane in a wave and its wave in
// the workgroup ("warp"), and keeps its elements in numbered registers. A
// layout answers: which element is in register r of lane l of warp w?
//
// All extents are powers of two, so inputs and outputs are bit strings, and
// every useful layout is a *linear* map between them over GF(2), the field of
// the elements 0 and 1 in which addition is exclusive-or. Linear means L(a ^ b)
// = L(a) ^ L(b): the map is determined by its values for the single bits of the
// input. These values are its *bases*.
//
// The output is the element's row-major index in the tile. With power-of-two
// extents the bits of that index are the concatenated bits of the coordinates,
// with the last dimension lowest.
//
// Example: an 8x256 tile in 4 waves of 64 lanes, with 8 consecutive elements of
// a row per thread. The index has 11 bits, row (3) above column (8):
//
//     register bits 0..2  ->  column bits 0..2    (one 16-byte access for f16)
//     lane bits 0..4      ->  column bits 3..7    (32 lanes cover a row)
//     lane bit 5          ->  row bit 0
//     warp bits 0..1      ->  row bits 1..2
//
// In this form questions about layouts become linear algebra on a few machine
// words, without a special case per kind of layout:
//
//   * Duplicates.  If the tile is smaller than the workgroup, some input bits
//     do not change the result (their basis is zero) or repeat other bits
//     (their basis depends on those).  With these *free* bits cleared, exactly
//     one position holds each element: its owner, which alone may store it.
//   * Contiguity.  Register bits whose bases are 1, 2, 4, ... hold consecutive
//     elements in memory; if no other basis has these index bits, the run
//     starts at a multiple of its length: a vector access.
//   * Conversion.  From layout A to layout B: B followed by the inverse of A
//     gives the source of each thread's new element.  If the lane and warp bits
//     of the composed map are the identity, the conversion only renumbers
//     registers; otherwise data must cross threads.
//   * Slices.  A reduction or a broadcast along a dimension removes that
//     dimension's index bits from every basis.
//
// The same type describes layouts of shared memory (LDS). Their only input is
// the offset, which is stored in the register dimension.

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

/// One number per input of a layout: a position, or a mask over the bits of
/// one.
struct LayoutIndex {
  uint64_t reg = 0;
  uint64_t lane = 0;
  uint64_t warp = 0;

  bool operator==(const LayoutIndex &other) const {
    return reg == other.reg && lane == other.lane && warp == other.warp;
  }
};

/// A map between layouts: for each position in the destination, the position in
/// the source that holds the same element. Linear; see
/// `LinearLayout::sourceOf`.
struct LayoutConversion {
  llvm::SmallVector<LayoutIndex> reg;
  llvm::SmallVector<LayoutIndex> lane;
  llvm::SmallVector<LayoutIndex> warp;

  /// Returns the source of destination register `reg` of (lane, warp).
  LayoutIndex apply(LayoutIndex position) const;

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

  /// Creates a blocked layout. `order` lists the dimensions from the one that
  /// varies fastest. Along each dimension, a thread holds `sizePerThread`
  /// consecutive elements, a wave has `threadsPerWarp` threads and the
  /// workgroup has `warpsPerCta` waves. If this covers more than the tile,
  /// threads hold duplicates; if it covers less, each thread gets more
  /// registers.
  static LinearLayout blocked(llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<int64_t> sizePerThread,
                              llvm::ArrayRef<int64_t> threadsPerWarp,
                              llvm::ArrayRef<int64_t> warpsPerCta,
                              llvm::ArrayRef<int64_t> order);

  /// Creates a layout from coordinate bases, each with one number per
  /// dimension. As for blocked layouts, coordinates outside `shape` wrap to
  /// duplicates, and index bits that no basis covers get registers.
  static LinearLayout
  fromCoordinates(llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<llvm::SmallVector<int64_t>> registers,
                  llvm::ArrayRef<llvm::SmallVector<int64_t>> lanes,
                  llvm::ArrayRef<llvm::SmallVector<int64_t>> warps);

  /// Returns the layout of this tile's slice along `dim`: the dimension is
  /// removed, and so are registers that only distinguished its coordinates.
  LinearLayout slice(unsigned dim) const;

  /// Returns the same layout of the tile with its dimensions permuted:
  /// dimension i of the result is dimension `permutation[i]` of this layout.
  LinearLayout transpose(llvm::ArrayRef<int64_t> permutation) const;

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  llvm::ArrayRef<uint64_t> getBases(LayoutDim dim) const {
    return bases[static_cast<unsigned>(dim)];
  }
  uint64_t getNumElements() const;
  unsigned getNumRegisters() const { return size(LayoutDim::Register); }
  unsigned getNumLanes() const { return size(LayoutDim::Lane); }
  unsigned getNumWarps() const { return size(LayoutDim::Warp); }

  /// Returns the row-major index of the element at `position`.
  uint64_t apply(LayoutIndex position) const;

  /// Splits a row-major index (or a basis) into coordinates.
  llvm::SmallVector<int64_t> getCoordinates(uint64_t index) const;

  /// Returns the bits of a row-major index that belong to dimension `dim`, and
  /// the number of bits below them.
  uint64_t getDimMask(unsigned dim) const;
  unsigned getDimShift(unsigned dim) const;

  /// True if every element of the tile has a position.
  bool isSurjective() const;

  /// Returns the input bits that do not distinguish elements. With these bits
  /// cleared, each element of the image has exactly one position.
  LayoutIndex getFreeBits() const;

  /// True if no two (lane, warp) pairs hold the same element, so that stores
  /// need no guard.
  bool hasUniqueOwners() const {
    LayoutIndex free = getFreeBits();
    return free.lane == 0 && free.warp == 0;
  }

  /// Returns the owner of the element at `index`, or nothing if no position
  /// holds it.
  std::optional<LayoutIndex> invert(uint64_t index) const;

  /// Returns the register bits whose bases are 1, 2, 4, ... within dimension
  /// `dim` and are not part of any other basis: `1 << size()` consecutive
  /// elements that start at a multiple of their number.
  llvm::SmallVector<unsigned> getContiguousRegisterBits(unsigned dim) const;

  /// The same for consecutive elements in the row-major order of the whole
  /// tile.
  llvm::SmallVector<unsigned> getRowMajorRegisterBits() const;

  /// Returns the number of consecutive elements along dimension `dim` that a
  /// thread can access at once.
  unsigned getContiguity(unsigned dim) const {
    return 1u << getContiguousRegisterBits(dim).size();
  }

  /// Returns, for each position p of this layout, the position in `source` of
  /// the element project(element at p), where `project` is a linear map on
  /// indices; nothing if `source` lacks one of these elements. Positions in the
  /// same thread are preferred, then positions in the same warp.
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
  llvm::SmallVector<unsigned> getRegisterRun(uint64_t step,
                                             uint64_t length) const;
  unsigned size(LayoutDim dim) const {
    return 1u << bases[static_cast<unsigned>(dim)].size();
  }

  llvm::SmallVector<int64_t> shape;
  Bases bases[3];
};

} // namespace mlir::iris

#endif // IRIS_ANALYSIS_LINEARLAYOUT_H
