// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WgmmaPlan.h - Mapping of a matmul to warpgroups ----------*- C++ -*-===//
//
// The use of the shared memory ring and of the sm_90a tensor cores by one
// `tile.matmul`, derived from its types only.
//
// A *stage* is one slot of the ring: `stageK` values of k of the tile's rows of
// a, followed by its columns of b. An operand has one of two layouts, both with
// rows of at most 128 bytes and the XOR swizzle of TMA:
//
//   k-major    one row per row of a (column of b), with `stageK` values of k;
//   mn-major   chunks of 64 rows of a (columns of b), with one row per k.
//
// An instruction multiplies 64 rows of its first operand by 8 to 256 columns of
// its second operand. For a tile with fewer rows the operands are *exchanged*:
// the first operand is the transposed b, and the instruction's rows are the
// tile's columns. The instruction is then fully used, unless the tile also has
// fewer than 64 columns. In this case the first operand is *padded*, and the
// results of the padding are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_WGMMAPLAN_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_WGMMAPLAN_H

#include "iris/Dialect/Tile/IR/Tile.h"

#include <array>

namespace mlir::iris {

/// Threads that execute one instruction together.
inline constexpr int64_t kWarpgroupThreads = 128;
inline constexpr int64_t kWarpgroupWarps = 4;
/// Bytes of k per instruction, for every type.
inline constexpr int64_t kStepBytes = 32;
/// Rows of the first operand per instruction.
inline constexpr int64_t kMmaRows = 64;
/// Bytes after which the swizzle pattern repeats; slots are aligned to it.
inline constexpr int64_t kSwizzleAlignment = 1024;

/// Registers of a multiprocessor, of a producer thread, and the maximum of any
/// thread. Registers that producers release are given to consumers in multiples
/// of `kRegisterUnit`.
inline constexpr int64_t kRegisters = 65536;
inline constexpr int64_t kProducerRegisters = 40;
inline constexpr int64_t kMaxRegisters = 240;
inline constexpr int64_t kRegisterUnit = 8;

/// Maximum registers of a consumer thread in a kernel of `numWarps` consumer
/// warps.
int64_t getConsumerRegisters(int64_t numWarps);

/// One operand in the ring.
struct WgmmaOperand {
  /// Rows of a, or columns of b, that are copied for the tile.
  int64_t extent = 0;
  bool kMajor = true;
  /// Bytes of a row in shared memory: 32, 64 or 128.
  int64_t rowBytes = 0;
  /// Bytes of a slot, a multiple of `kSwizzleAlignment`.
  int64_t slotBytes = 0;
  /// Bytes that are copied to the slot.
  int64_t copyBytes = 0;
  /// The buffer's dimension of stride 1, if it is the one that the layout in
  /// the ring needs; otherwise -1, and there is no tensor map.
  int contiguous = -1;
  /// The box of one copy: elements along `contiguous`, and across.
  int64_t box[2] = {0, 0};
  /// Number of copies per stage.
  int64_t numCopies = 1;
  /// True if the offset is the same for all k-blocks except along k. Then the
  /// rows outside of the buffer are masked in the result, and their copies may
  /// contain anything.
  bool isMasked = false;
};

/// One matmul.
struct WgmmaPlan {
  Type aElement, bElement;
  /// False for f32 that must not be rounded: then threads multiply with FMAs.
  bool usesTensorCores = true;
  int64_t elementBytes = 0;
  /// Values of k in a stage and in an instruction.
  int64_t stageK = 0, stepK = 0;
  /// Number of stages per k-block.
  int64_t stagesPerBlock = 1;
  WgmmaOperand a, b;
  /// True if b is the instructions' first operand.
  bool isExchanged = false;
  /// True if the tile has fewer columns than an instruction has rows.
  bool isPadded = false;
  /// The arrangement of the warpgroups over the instructions' rows and columns.
  int64_t groupsM = 1, groupsN = 1;
  /// Instructions per warpgroup and k-step, and their columns. The tile has
  /// `tileN` columns per instruction, of which the last ones may be unused.
  int64_t blocksM = 1, blocksN = 1, mmaN = 0, tileN = 0;

  /// The instructions' operands, and their element types.
  const WgmmaOperand &getFirst() const { return isExchanged ? b : a; }
  const WgmmaOperand &getSecond() const { return isExchanged ? a : b; }
  Type getFirstElement() const { return isExchanged ? bElement : aElement; }
  Type getSecondElement() const { return isExchanged ? aElement : bElement; }
  /// Offsets of the operands in a slot, in bytes.
  int64_t getFirstOffset() const { return isExchanged ? a.slotBytes : 0; }
  int64_t getSecondOffset() const { return isExchanged ? 0 : a.slotBytes; }

  int64_t getSlotBytes() const { return a.slotBytes + b.slotBytes; }
  int64_t getGroupRows() const { return blocksM * kMmaRows; }
  int64_t getGroupColumns() const { return blocksN * tileN; }
  /// Shape of the tile that the instructions compute: rows, columns.
  std::array<int64_t, 2> getComputedShape() const {
    int64_t m = groupsM * getGroupRows(), n = groupsN * getGroupColumns();
    return isExchanged ? std::array<int64_t, 2>{n, m}
                       : std::array<int64_t, 2>{m, n};
  }
  /// Result registers of a thread for one instruction, and for all.
  int64_t getMmaRegisters() const { return mmaN / 2; }
  int64_t getNumRegisters() const {
    return blocksM * blocksN * getMmaRegisters();
  }
  /// Number of the tile's elements that a thread holds, and the index of result
  /// `i` among them.
  int64_t getNumElements() const { return blocksM * blocksN * tileN / 2; }
  int64_t getElement(int64_t i) const {
    return i / getMmaRegisters() * (tileN / 2) + i % getMmaRegisters();
  }
};

/// Why warpgroups cannot multiply `op` in a kernel of `numWarps` warps,
/// whatever its operands; empty if they can.
std::string findWgmmaMiss(tile::MatmulOp op, int64_t numWarps);

/// Plans `op` for `numWarps` consumer warps, for which there is no miss; emits
/// an error if it does not fit.
FailureOr<WgmmaPlan> planWgmma(tile::MatmulOp op, int64_t numWarps);

/// The layout of the computed tile in the warpgroups.
tile::LinearAttr getAccumulatorLayout(MLIRContext *context,
                                      const WgmmaPlan &plan);

/// The layout of the result, a tile of `shape` in `numWarps` warps: that of the
/// accumulators, or, for a padded tile, one that uses all threads.
tile::LinearAttr getResultLayout(MLIRContext *context, const WgmmaPlan &plan,
                                 ArrayRef<int64_t> shape, int64_t numWarps);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_WGMMAPLAN_H
