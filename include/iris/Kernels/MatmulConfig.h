// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulConfig.h - How a matmul is computed ----------------*- C++ -*-===//

#ifndef IRIS_KERNELS_MATMULCONFIG_H
#define IRIS_KERNELS_MATMULCONFIG_H

#include "iris/Dialect/Iris/IR/IrisMatmul.h"

namespace mlir::iris {

/// The input of a kernel generator: the operation and its config, validated and
/// with all defaults filled in.
struct MatmulConfig {
  enum class Layout {
    /// Row-major, contiguous.
    Row,
    /// Row-major; the row stride is arbitrary.
    Pitched,
    /// Column-major; the column stride is arbitrary.
    Column,
    /// Both strides are arbitrary.
    Strided
  };
  enum class Bias { None, Row, Column };
  enum class Activation { None, Relu, Gelu };

  MatmulKind kind;
  /// The element types of the operands, of the buffers that hold them, of the
  /// accumulator and of the result.
  Type element, storage, sum, result;
  /// The type to which partial sums are rounded for communication.
  Type partialType;
  /// Number of ranks in the group; 0: any number up to 8.
  int64_t size = 0;
  /// The algorithm; a name from `getVariants`.
  std::string variant;
  /// The dimension that is sharded over the ranks: "k", "m" or "n".
  std::string shard;
  Layout a = Layout::Row, b = Layout::Row;

  /// The output tile in elements, and the k-block. tileN may also be a multiple
  /// of `columnUnit` that is not a power of two.
  int64_t tileM = 128, tileN = 128, tileK = 64;
  static constexpr int64_t columnUnit = 16;
  /// Tile rows per group; within a group the order is column by column.
  int64_t groupM = 8;
  int64_t xcds = 1, warps = 4;
  /// Maximum number of programs in a launch.
  int64_t programs = 32;

  /// Split-K: the number of programs that split the k-steps of an output tile;
  /// a power of two. The last one to finish adds up their partial sums.
  int64_t splitK = 1;

  Bias bias = Bias::None;
  bool scale = false;
  Activation activation = Activation::None;

  /// With staging: k-blocks per flag, and the memory layout of the staging
  /// buffer.
  int64_t kPerFlag = 4;
  Layout staged = Layout::Row;
  /// Number of communication programs, of stages of tile rows, and of
  /// communication programs in the first stage, which may be more.
  int64_t fetchPrograms = 4, fetchStages = 1, firstStageFetchPrograms = 4;
  /// Maximum number of tiles that each communication program also computes,
  /// after it has fetched or before it sends.
  int64_t tilesPerCommProgram = 0;

  /// Number of columns of the tile type, a power of two.
  int64_t getTileWidth() const;
  /// Whether tiles have fewer columns than their type.
  bool isNarrow() const { return tileN < getTileWidth(); }
  /// The largest power of two that divides a tile's columns.
  int64_t getStripUnit() const { return tileN & -tileN; }

  /// Whether communication programs copy shards of a to the staging buffer,
  /// unit by unit.
  bool movesUnits() const {
    return kind == MatmulKind::AllGatherMatmul &&
           (variant == "hbm_buffer" || variant == "push");
  }
  /// Whether the caller of the kernel copies the data between ranks with copy
  /// engines, one group of tile rows at a time.
  bool isCopied() const { return variant == "copy_engine"; }
  /// Whether shards of a go through the staging buffer.
  bool isStaged() const {
    return movesUnits() || (isCopied() && kind == MatmulKind::AllGatherMatmul);
  }
  /// Whether a is the result of an all-gather: the kernel waits for no rank.
  bool isGathered() const { return variant == "gathered"; }
  /// Whether partial sums of split-K go through the staging buffer.
  bool isSplit() const { return splitK > 1; }
  /// Whether the programs are specialized: communication and compute programs.
  bool hasCommPrograms() const {
    return movesUnits() || variant == "specialized";
  }
  /// Whether the kernel has an argument for the staging buffer, and its type.
  bool hasStaging() const {
    return isStaged() || isSplit() || kind == MatmulKind::MatmulReduceScatter ||
           (kind == MatmulKind::MatmulAllReduce && variant != "atomic");
  }
  MemRefType stagingType() const {
    return matrix(isStaged() ? storage : partialType, staged);
  }
  /// Whether the kernel has an argument for the workspace.
  bool hasWorkspace() const {
    return isSplit() || (kind != MatmulKind::Matmul && !isGathered());
  }
  /// Whether partial sums of a reduction over ranks go through the staging
  /// buffer.
  bool hasPartialSums() const {
    return hasStaging() && !isStaged() && !isSplit();
  }
  int64_t storageBytes() const { return storage.getIntOrFloatBitWidth() / 8; }
  /// A dynamic matrix of `element` in the symmetric heap.
  static MemRefType matrix(Type element, Layout layout);
  /// The kernel's arguments after the context.
  SmallVector<Type> argumentTypes() const;
};

/// The variants of a matmul; the first is the default.
ArrayRef<StringRef> getVariants(MatmulKind kind);
/// The memory layout of a matrix; none if no config describes it.
std::optional<MatmulConfig::Layout> getLayout(MemRefType type);
StringRef stringifyLayout(MatmulConfig::Layout layout);

/// Validates the config of `op` and fills in the defaults; emits an error at
/// `op` if the config is invalid.
FailureOr<MatmulConfig> getConfig(MatmulKernelOp op);

} // namespace mlir::iris

#endif // IRIS_KERNELS_MATMULCONFIG_H
