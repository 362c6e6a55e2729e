// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WgmmaPlan.h - How a matmul is spread over warpgroups -----*- C++ -*-===//
//
// What one `tile.matmul` needs of the ring in shared memory and of the tensor
// cores of sm_90a, decided from its types alone.
//
// A *stage* is one slot of the ring: `stageK` values of k of the tile's rows of
// a, then of its columns of b. An operand lies there in one of two ways, both
// in rows of at most 128 bytes, XOR swizzled, as the copy engine writes them:
//
//   k-major    a row per row of a (column of b), `stageK` values of k each;
//   mn-major   chunks of 64 rows of a (columns of b); in a chunk a row per k.
//
// An instruction multiplies 64 rows of its first operand by 8 to 256 columns of
// its second one. For a tile of fewer rows the operands are *exchanged*: the
// first one is then the transposed b, and the instruction's rows are the tile's
// columns. No part of an instruction is idle, unless the tile has fewer than 64
// columns, too: then the first operand is *padded*, and what becomes of the
// rows that nobody has filled is dropped.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_WGMMAPLAN_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_WGMMAPLAN_H

#include "iris/Dialect/Tile/IR/Tile.h"

#include <array>

namespace mlir::iris {

/// Threads that multiply together.
inline constexpr int64_t kWarpgroupThreads = 128;
inline constexpr int64_t kWarpgroupWarps = 4;
/// Bytes of k that one instruction takes, of every type.
inline constexpr int64_t kStepBytes = 32;
/// Rows of its first operand that one instruction takes.
inline constexpr int64_t kMmaRows = 64;
/// A swizzled pattern repeats after so many bytes; slots begin at multiples.
inline constexpr int64_t kSwizzleAlignment = 1024;

/// Registers of a multiprocessor, of a producer, and most of any thread. What
/// producers leave goes to consumers, so many at a time.
inline constexpr int64_t kRegisters = 65536;
inline constexpr int64_t kProducerRegisters = 40;
inline constexpr int64_t kMostRegisters = 240;
inline constexpr int64_t kRegisterUnit = 8;

/// Registers that each consumer may have in a kernel of `numWarps` of them.
int64_t getConsumerRegisters(int64_t numWarps);

/// One operand in the ring.
struct WgmmaOperand {
  /// Rows of a, or columns of b, that are copied for the tile.
  int64_t extent = 0;
  bool kMajor = true;
  /// Bytes of a row in shared memory: 32, 64 or 128.
  int64_t rowBytes = 0;
  /// Bytes of a slot that it takes, a multiple of `kSwizzleAlignment`.
  int64_t slotBytes = 0;
  /// Bytes that are copied there.
  int64_t copyBytes = 0;
  /// Dimension of the buffer whose elements are known to be neighbours; -1 if
  /// none is, or not the one that the ring needs. Then there is no map.
  int contiguous = -1;
  /// What one copy moves: elements along `contiguous`, and across.
  int64_t box[2] = {0, 0};
  /// Copies for one stage.
  int64_t numCopies = 1;
  /// True if the place is the same one for all blocks, but for k: then rows
  /// that the buffer does not have are taken out of the result, and it does
  /// not matter what was copied for them.
  bool isMasked = false;
};

/// One matmul.
struct WgmmaPlan {
  Type aElement, bElement;
  /// False for f32 that must not be rounded: then threads multiply.
  bool usesTensorCores = true;
  int64_t elementBytes = 0;
  /// Values of k in a stage and in an instruction.
  int64_t stageK = 0, stepK = 0;
  /// Stages of a k-block.
  int64_t stagesPerBlock = 1;
  WgmmaOperand a, b;
  /// True if b is the instructions' first operand.
  bool isExchanged = false;
  /// True if the tile has fewer columns than an instruction has rows.
  bool isPadded = false;
  /// How the warpgroups lie over the instructions' rows and columns.
  int64_t groupsM = 1, groupsN = 1;
  /// Instructions of a warpgroup for a step, and columns of each; the tile has
  /// `tileN` for an instruction, of which the last ones may not be wanted.
  int64_t blocksM = 1, blocksN = 1, mmaN = 0, tileN = 0;

  /// The instructions' operands, and the types of their elements.
  const WgmmaOperand &getFirst() const { return isExchanged ? b : a; }
  const WgmmaOperand &getSecond() const { return isExchanged ? a : b; }
  Type getFirstElement() const { return isExchanged ? bElement : aElement; }
  Type getSecondElement() const { return isExchanged ? aElement : bElement; }
  /// Where they begin in a slot.
  int64_t getFirstOffset() const { return isExchanged ? a.slotBytes : 0; }
  int64_t getSecondOffset() const { return isExchanged ? 0 : a.slotBytes; }

  int64_t getSlotBytes() const { return a.slotBytes + b.slotBytes; }
  int64_t getGroupRows() const { return blocksM * kMmaRows; }
  int64_t getGroupColumns() const { return blocksN * tileN; }
  /// Extents of the tile that the instructions compute: rows, columns.
  std::array<int64_t, 2> getComputedShape() const {
    int64_t m = groupsM * getGroupRows(), n = groupsN * getGroupColumns();
    return isExchanged ? std::array<int64_t, 2>{n, m}
                       : std::array<int64_t, 2>{m, n};
  }
  /// Registers of a thread for the results of one instruction, and of all.
  int64_t getMmaRegisters() const { return mmaN / 2; }
  int64_t getNumRegisters() const {
    return blocksM * blocksN * getMmaRegisters();
  }
  /// Elements of the tile that a thread has, and the place of result `i` among
  /// them.
  int64_t getNumElements() const { return blocksM * blocksN * tileN / 2; }
  int64_t getElement(int64_t i) const {
    return i / getMmaRegisters() * (tileN / 2) + i % getMmaRegisters();
  }
};

/// Plans `op` for `numWarps` warps that multiply; says what does not fit.
FailureOr<WgmmaPlan> planWgmma(tile::MatmulOp op, int64_t numWarps);

/// The layout in which the warpgroups hold the tile that they compute.
tile::LinearAttr getAccumulatorLayout(MLIRContext *context,
                                      const WgmmaPlan &plan);

/// The layout of the result, a tile of `shape` in `numWarps` warps: that of the
/// accumulators, or, of a padded tile, one in which all threads take part.
tile::LinearAttr getResultLayout(MLIRContext *context, const WgmmaPlan &plan,
                                 ArrayRef<int64_t> shape, int64_t numWarps);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_WGMMAPLAN_H
