// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is decided about a matmul before any code is emitted: which wave
// computes what, how operand tiles are laid out in LDS, and which threads copy
// them.
//
// The *rows* of an operand tile are those of a, or the columns of b; in
// workgroup memory both have k along their rows. The instructions see b as
// their first operand and a as their second, so that a lane holds neighbours of
// a row of the result.
#ifndef IRIS_LIB_CONVERSION_IRISTOROCDL_MATMULPLAN_H
#define IRIS_LIB_CONVERSION_IRISTOROCDL_MATMULPLAN_H

#include "MatmulInstructions.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::iris {

/// Exchanges are between lanes that differ in this bit: v_permlane32_swap.
inline constexpr unsigned kExchangeLaneBit = 5;

/// Workgroup memory is read and written in chunks of this many bytes.
inline constexpr unsigned kChunkBytes = 16;

/// Which bits of a row's number in the operand tile the parts of a program
/// supply.
struct RowMap {
  /// Of the instruction: bit i of its row or column is this bit of the operand
  /// tile's.
  SmallVector<unsigned> instruction;
  /// Of the number of an instruction within a wave, and of the wave.
  SmallVector<unsigned> fragment, warp;

  unsigned getNumFragments() const { return 1u << fragment.size(); }
  /// The row that `index` selects through `bits`.
  static uint64_t select(ArrayRef<unsigned> bits, uint64_t index);
};

/// A k-block of an operand tile in workgroup memory: row after row, `pitch`
/// bytes each. The chunks of a row are permuted by an exclusive-or with a
/// number that depends on the row, so that lanes which read the same chunk of
/// neighbouring rows, and threads that fill them, use different banks.
///
/// Where `paired` is given, two rows that differ in this bit are adjacent: each
/// chunk holds half a chunk of the one and the same half of the other.
class OperandTileMemory {
public:
  OperandTileMemory() = default;
  /// `firstFilled`: the lowest bit of the row in which neighbouring threads
  /// that fill the operand tile differ; none where they differ in k.
  OperandTileMemory(unsigned rows, unsigned pitch, const RowMap &map,
                    std::optional<unsigned> firstFilled,
                    std::optional<unsigned> paired);

  unsigned getBytes() const { return rows * pitch; }
  std::optional<unsigned> getPaired() const { return paired; }

  /// Offset of byte `byte` of row `row`. Linear: the offset of an exclusive-or
  /// is the exclusive-or of the offsets.
  uint64_t getOffset(uint64_t row, uint64_t byte) const;
  /// The byte that is at the start of the row: bytes of the row are at offsets
  /// that are their exclusive-or with it.
  uint64_t getSwizzle(uint64_t row) const;

private:
  /// Chunks of a row, or of a pair of them.
  unsigned getChunks() const;
  /// Where a chunk moves when bit `bit` of the row is set, but for swizzles.
  unsigned getStep(unsigned bit) const;
  void chooseSwizzle(ArrayRef<unsigned> read, ArrayRef<unsigned> filled);

  unsigned rows = 0, pitch = 0;
  std::optional<unsigned> paired;
  /// For each bit of the row, what it swizzles in the number of a chunk.
  SmallVector<unsigned> swizzles;
};

/// How threads fill an operand tile. A *unit* is what one thread moves at a
/// time: `rows` rows by `ks` values of k, by loads along the dimension in which
/// neighbours in memory lie and stores along k.
struct OperandTileCopy {
  /// True if neighbours in the buffer are neighbours along k.
  bool alongK = true;
  /// False if the buffer has no dimension of neighbours: element by element.
  bool hasNeighbours = true;
  unsigned rows = 1, ks = 1;
  /// True if loads may go to workgroup memory without passing through
  /// registers: 16 bytes per thread, in the order of the threads.
  bool isDirect = false;
  /// True if a unit has half a chunk of each row, and lanes that are half a
  /// wave apart have both halves: they exchange rows, and each stores whole
  /// chunks.
  bool isExchanged = false;
  /// Units of one thread. Several threads may have the same ones.
  unsigned unitsPerThread = 1;
  /// Row and k of a unit, for each bit of its number; a thread's units are its
  /// own number plus multiples of the number of threads.
  SmallVector<std::pair<unsigned, unsigned>> threadBits, unitBits;
  /// Threads that have units of their own; those above them have copies.
  unsigned numOwners = 0;

  /// True if operand tiles of elements of so many bytes may be loaded by more
  /// than one element at a time; otherwise they are filled element by element.
  bool hasWideLoads(unsigned elementBytes) const {
    return hasNeighbours && getElementsPerLoad() * elementBytes >= 4;
  }
  unsigned getLoadsPerUnit() const { return alongK ? rows : ks; }
  unsigned getElementsPerLoad() const { return alongK ? ks : rows; }
  /// The bit in which two rows of a unit differ whose halves make a chunk.
  unsigned getPartnerBit() const { return llvm::Log2_32(rows) - 1; }
};

struct OperandTilePlan {
  unsigned rows = 0;
  RowMap map;
  OperandTileCopy fill;
  OperandTileMemory memory;
};

struct MatmulPlan {
  MatrixInstruction instruction;
  unsigned numWarps = 0, warpSize = 0;
  /// True if buffer loads past the end of a resource give 0.
  bool buffersCheckBounds = false;
  unsigned elementBytes = 0;
  /// Values of k of a block.
  unsigned block = 0;
  /// Bytes that a lane reads of a row at a time, and such steps in a block.
  unsigned laneBytes = 0, numSteps = 0;
  OperandTilePlan a, b;
  /// Blocks that are in LDS at the same time.
  unsigned stages = 1;

  unsigned getStageBytes() const {
    return a.memory.getBytes() + b.memory.getBytes();
  }
  unsigned getNumThreads() const { return numWarps * warpSize; }
  /// True if both operand tiles go directly to workgroup memory, which takes
  /// two stages.
  bool isDirect() const {
    return a.fill.isDirect && b.fill.isDirect && stages == 2;
  }
};

/// True if an operand of `op`, or what its region names, is in workgroup
/// memory.
bool readsWorkgroupMemory(tile::MatmulOp op);

/// Plans `op` for `chip`, or reports what does not fit.
FailureOr<MatmulPlan> planMatmul(tile::MatmulOp op, const ChipInfo &chip,
                                 unsigned numWarps);

/// The layout of the result that a plan leads to.
tile::LinearAttr getResultLayout(MLIRContext *context, const MatmulPlan &plan);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTOROCDL_MATMULPLAN_H
