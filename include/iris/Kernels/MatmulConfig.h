// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulConfig.h - How a matmul is computed ----------------*- C++ -*-===//

#ifndef IRIS_KERNELS_MATMULCONFIG_H
#define IRIS_KERNELS_MATMULCONFIG_H

#include "iris/Dialect/Iris/IR/IrisMatmul.h"
#include "iris/Plan/MatmulForm.h"

namespace mlir::iris {

/// The input of a kernel generator: the operation and its config, validated and
/// with all defaults filled in.
struct MatmulConfig : plan::MatmulForm {
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

  /// The element types of the operands, of the buffers that hold them, of the
  /// accumulator and of the result.
  Type element, storage, sum, result;
  /// The type to which partial sums are rounded for communication.
  Type partialType;
  /// Number of ranks in the group; 0: any number up to kMaxAnyGroup.
  int64_t size = 0;
  Layout a = Layout::Row, b = Layout::Row;

  int64_t xcds = plan::matmul_numbers::xcds.defaultValue;
  int64_t warps = plan::matmul_numbers::warps.defaultValue;
  /// Maximum number of programs in a launch.
  int64_t programs = plan::matmul_numbers::programs.defaultValue;

  Bias bias = Bias::None;
  bool scale = false;
  Activation activation = Activation::None;

  /// With staging: the memory layout of the staging buffer.
  Layout staged = Layout::Row;
  /// Number of communication programs, of stages of tile rows, and of
  /// communication programs in the first stage, which may be more.
  int64_t fetchPrograms = plan::matmul_numbers::fetchPrograms.defaultValue;
  int64_t fetchStages = plan::matmul_numbers::fetchStages.defaultValue;
  int64_t firstStageFetchPrograms =
      plan::matmul_numbers::firstStageFetchPrograms.defaultValue;
  /// Maximum number of tiles that each communication program also computes,
  /// after it has fetched or before it sends.
  int64_t tilesPerCommProgram =
      plan::matmul_numbers::tilesPerCommProgram.defaultValue;

  /// Number of columns of the tile type, a power of two.
  int64_t getTileWidth() const { return plan::nextPowerOfTwo(tileN); }
  /// Whether tiles have fewer columns than their type.
  bool isNarrow() const { return tileN < getTileWidth(); }
  /// The largest power of two that divides a tile's columns.
  int64_t getStripUnit() const { return tileN & -tileN; }

  StringRef variantName() const { return variant->name; }
  const plan::Matmul &matmul() const { return plan::getMatmul(kind); }
  bool hasCommPrograms() const { return has(plan::hasCommPrograms); }
  MemRefType stagingType() const {
    return matrix(isStaged() ? storage : partialType, staged);
  }
  int64_t storageBytes() const { return storage.getIntOrFloatBitWidth() / 8; }
  /// A dynamic matrix of `element` in the symmetric heap.
  static MemRefType matrix(Type element, Layout layout);
  /// The kernel's arguments after the context.
  SmallVector<Type> argumentTypes() const;
};

/// The memory layout of a matrix; none if no config describes it.
std::optional<MatmulConfig::Layout> getLayout(MemRefType type);
StringRef stringifyLayout(MatmulConfig::Layout layout);

/// Validates the config of `op` and fills in the defaults. Errors are reported
/// at `call`, the call for which `op` was created, if there is one.
FailureOr<MatmulConfig> getConfig(MatmulKernelOp op, Operation *call = nullptr);

} // namespace mlir::iris

#endif // IRIS_KERNELS_MATMULCONFIG_H
