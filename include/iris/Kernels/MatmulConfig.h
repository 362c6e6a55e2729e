// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulConfig.h - How a matmul is computed ----------------*- C++ -*-===//

#ifndef IRIS_KERNELS_MATMULCONFIG_H
#define IRIS_KERNELS_MATMULCONFIG_H

#include "iris/Dialect/Iris/IR/IrisMatmul.h"

namespace mlir::iris {

/// What a kernel generator is told: the operation and its config, checked and
/// with all defaults filled in.
struct MatmulConfig {
  enum class Layout {
    /// Rows follow each other.
    Row,
    /// Neighbours in a row are neighbours in memory; rows lie anywhere.
    Pitched,
    /// The same for columns.
    Column,
    /// No neighbours.
    Strided
  };
  enum class Bias { None, Row, Column };
  enum class Activation { None, Relu, Gelu };

  MatmulKind kind;
  /// The operands' elements, that of the buffers that hold them, of the sum and
  /// of the result.
  Type element, storage, sum, result;
  /// What ranks' shares of a sum are rounded to on their way.
  Type partialType;
  /// Ranks of the group; 0: any number up to 8.
  int64_t size = 0;
  /// Which way; a name from `getVariants`.
  std::string variant;
  /// Which dimension ranks have parts of: "k", "m" or "n".
  std::string shard;
  Layout a = Layout::Row, b = Layout::Row;

  /// Elements of an output tile, and values of k that are read at a time.
  /// Columns may also be a multiple of `columnUnit`.
  int64_t tileM = 128, tileN = 128, tileK = 64;
  static constexpr int64_t columnUnit = 16;
  /// Rows of tiles that are computed column by column.
  int64_t groupM = 8;
  int64_t xcds = 1, warps = 4;
  /// Most programs of a launch.
  int64_t programs = 32;

  /// Split-K: programs that share the k-steps of an output tile, a power of
  /// two. The last one to finish adds up their partial sums.
  int64_t splitK = 1;

  Bias bias = Bias::None;
  bool scale = false;
  Activation activation = Activation::None;

  /// Staged: k-blocks that share a flag, and how the staging lies in memory.
  int64_t kPerFlag = 4;
  Layout staged = Layout::Row;
  /// Programs that move what others multiply, or have multiplied. Staged: more
  /// do so in the first stage; a stage is a share of the rows of tiles.
  int64_t fetchPrograms = 4, fetchStages = 1, firstStageFetchPrograms = 4;
  /// Most tiles that each of them multiplies as well: when it has moved parts,
  /// or before it moves tiles.
  int64_t tilesPerCommProgram = 0;

  /// Columns of the type of tiles, a power of two.
  int64_t getTileWidth() const;
  /// Tiles have fewer columns than their type.
  bool isNarrow() const { return tileN < getTileWidth(); }
  /// The largest power of two that divides a tile's columns.
  int64_t getStripUnit() const { return tileN & -tileN; }

  /// Parts of a are copied to the staging by programs, unit by unit.
  bool movesUnits() const {
    return kind == MatmulKind::AllGatherMatmul &&
           (variant == "hbm_buffer" || variant == "push");
  }
  /// Who calls the kernel copies what ranks need of each other, group by group
  /// of rows of tiles.
  bool isCopied() const { return variant == "copy_engine"; }
  /// Parts of a pass through the staging.
  bool isStaged() const {
    return movesUnits() || (isCopied() && kind == MatmulKind::AllGatherMatmul);
  }
  /// a is what an all-gather has left: nobody has to be waited for.
  bool isGathered() const { return variant == "gathered"; }
  /// Partial sums of a tile pass through the staging.
  bool isSplit() const { return splitK > 1; }
  /// Some programs move, others multiply.
  bool hasCommPrograms() const {
    return movesUnits() || variant == "specialized";
  }
  /// The kernel has an argument for matrices that are passed on; of which
  /// elements.
  bool hasStaging() const {
    return isStaged() || isSplit() || kind == MatmulKind::MatmulReduceScatter ||
           (kind == MatmulKind::MatmulAllReduce && variant != "atomic");
  }
  MemRefType stagingType() const {
    return matrix(isStaged() ? storage : partialType, staged);
  }
  /// The kernel has an argument for the workspace.
  bool hasWorkspace() const {
    return isSplit() || (kind != MatmulKind::Matmul && !isGathered());
  }
  /// Shares of a sum over ranks pass through the staging.
  bool hasPartialSums() const {
    return hasStaging() && !isStaged() && !isSplit();
  }
  int64_t storageBytes() const { return storage.getIntOrFloatBitWidth() / 8; }
  /// A dynamic matrix of `element` on the heap.
  static MemRefType matrix(Type element, Layout layout);
  /// The kernel's arguments, but for the context.
  SmallVector<Type> argumentTypes() const;
};

/// The variants of a matmul; the first is the default.
ArrayRef<StringRef> getVariants(MatmulKind kind);
/// How a matrix lies in memory; none if no config says so.
std::optional<MatmulConfig::Layout> getLayout(MemRefType type);
StringRef stringifyLayout(MatmulConfig::Layout layout);

/// Checks the config of `op` and fills in the defaults; reports what is wrong
/// at `op`.
FailureOr<MatmulConfig> getConfig(MatmulKernelOp op);

} // namespace mlir::iris

#endif // IRIS_KERNELS_MATMULCONFIG_H
