// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MmaPlan.h - How a matmul is spread over mma.sync ---------*- C++ -*-===//
//
// What one `tile.matmul` needs of shared memory and of `mma.sync`, decided from
// its types alone. Index functions are plain arithmetic, so that tests can
// evaluate them.
//
// Both operand tiles of a k-block are in shared memory, where they form a
// *stage*. The *rows* of an operand are the rows of a, or the columns of b. An
// operand is in one of two orders:
//
//   k-major    a line for each row, with all values of k of the block;
//   row-major  a line for each k, with all rows of the tile.
//
// Lines consist of chunks of 16 bytes, which are permuted by an XOR swizzle, so
// that neighbouring lines have a given chunk in different banks.
//
// A *fragment* is what one warp reads by one `ldmatrix.x4`: 16 rows by 32 bytes
// of k. A fragment of a and a fragment of b are the operands of two
// instructions, m16n8, which compute a 16 x 16 block of the result.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_MMAPLAN_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_MMAPLAN_H

#include "iris/Chips/ChipInfo.h"
#include "iris/Dialect/Tile/IR/Tile.h"

namespace mlir::iris {

/// Bytes of a chunk: of a row of `ldmatrix`, and of a `cp.async`.
inline constexpr unsigned kChunkBytes = 16;
/// Rows of a fragment, and bytes of k.
inline constexpr unsigned kFragmentRows = 16;
inline constexpr unsigned kFragmentBytes = 32;
/// Results of a thread for a pair of fragments.
inline constexpr unsigned kFragmentResults = 8;

/// A row and a value of k of an operand tile.
struct OperandElementIndex {
  unsigned row, k;
};

/// The location of one operand tile in a stage.
struct MmaOperand {
  /// Dimension of the buffer along which k runs: 1 of a, 0 of b.
  unsigned kDim = 0;
  unsigned rows = 0;
  /// Values of k in a block.
  unsigned block = 0;
  unsigned elementBytes = 0;
  bool isKMajor = true;
  /// True if lines of the tile are contiguous in the buffer, so that cp.async
  /// can copy them.
  bool hasContiguousLines = false;
  /// Bytes from the start of the stage.
  unsigned start = 0;

  unsigned getNumLines() const { return isKMajor ? rows : block; }
  unsigned getLineBytes() const {
    return (isKMajor ? block : rows) * elementBytes;
  }
  unsigned getBytes() const { return getNumLines() * getLineBytes(); }
  unsigned getRowDim() const { return 1 - kDim; }

  /// The offset in the tile of an element. Linear: the offset of an
  /// exclusive-or is the exclusive-or of the offsets.
  uint64_t getOffset(OperandElementIndex element) const;
  /// The offset in the tile of byte `byte` of line `line`, a multiple of
  /// `kChunkBytes`.
  uint64_t getChunkOffset(unsigned line, unsigned byte) const;

  /// For each bit of the lane, what it adds to the element whose chunk the lane
  /// passes to `ldmatrix.x4` (`.trans` in row-major order).
  SmallVector<OperandElementIndex> getLdMatrixLanes() const;
  /// For each bit of the lane, what it adds to the first element of a thread in
  /// a fragment, as `mma.sync` takes it.
  SmallVector<OperandElementIndex> getFragmentLanes() const;
  /// The first element of 32-bit register `reg` of a fragment, of a thread
  /// whose first element is 0. Registers 2 and 3 of b are those of the second
  /// instruction.
  OperandElementIndex getFragmentRegister(unsigned reg) const;
};

/// The layout of a matmul's work.
struct MmaPlan {
  /// LLVM's intrinsic; empty where f32 is multiplied by FMAs.
  std::string intrinsic;
  Type aElement, bElement, resultElement;
  unsigned numWarps = 0;
  /// Values of k in a block.
  unsigned block = 0;
  /// Warps along the rows and along the columns of the result. Neighbours in
  /// the number of the warp are neighbours along the columns.
  unsigned warpRows = 1, warpColumns = 1;
  MmaOperand a, b;

  bool usesTensorCores() const { return !intrinsic.empty(); }
  unsigned getNumThreads() const { return numWarps * 32; }
  unsigned getStageBytes() const { return a.getBytes() + b.getBytes(); }
  /// Fragments of a warp along the rows and along the columns.
  unsigned getRowFragments() const { return a.rows / warpRows / kFragmentRows; }
  unsigned getColumnFragments() const {
    return b.rows / warpColumns / kFragmentRows;
  }
  unsigned getNumResults() const {
    return getRowFragments() * getColumnFragments() * kFragmentResults;
  }
  /// Fragments along k in a block.
  unsigned getNumSteps() const {
    return block * a.elementBytes / kFragmentBytes;
  }
};

/// Plans `op` for `chip`, or reports what does not fit.
FailureOr<MmaPlan> planMma(tile::MatmulOp op, const ChipInfo &chip,
                           unsigned numWarps);

/// The layout of the result. Of the registers of a thread, bit 0 is the next
/// column, bit 1 eight rows below, bit 2 eight columns on, then come fragments
/// along the columns and fragments along the rows.
tile::LinearAttr getResultLayout(MLIRContext *context, const MmaPlan &plan);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_MMAPLAN_H
