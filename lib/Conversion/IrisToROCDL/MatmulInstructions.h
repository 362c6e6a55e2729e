// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix instructions of AMD GPUs: MFMA (waves of 64) and WMMA (waves of
// 32).
//
// All of them compute D += A * B for a 16 x k operand tile A, a k x 16 operand
// tile B and a 16 x 16 result. Lane l provides row l % 16 of A and column l %
// 16 of B. Lanes with different l / 16, their *group*, provide different values
// of k, or the same ones. A lane receives elements of column l % 16 of D;
// `rowBits` gives their rows.
#ifndef IRIS_LIB_CONVERSION_IRISTOROCDL_MATMULINSTRUCTIONS_H
#define IRIS_LIB_CONVERSION_IRISTOROCDL_MATMULINSTRUCTIONS_H

#include "iris/Dialect/Tile/IR/Tile.h"

namespace mlir::iris {

/// Rows and columns of the result of every instruction, and the number of bits
/// of their index.
inline constexpr unsigned kMatrixSize = 16;
inline constexpr unsigned kMatrixBits = 4;

/// The source of a bit of the row index of D.
struct RowBit {
  enum Source { Register, Group } source;
  unsigned bit;
};

/// The additional operands of an intrinsic besides A, B and C.
enum class IntrinsicForm {
  /// MFMA: three immediates (broadcasts), all 0.
  Mfma,
  /// WMMA on floats: nothing.
  Wmma,
  /// WMMA on integers: signed A, signed B, and no clamping.
  WmmaInteger
};

/// One instruction on operands of given types.
struct MatrixInstruction {
  std::string intrinsic;
  IntrinsicForm form;
  /// Number and type of the elements of A and B in one lane.
  unsigned operandCount;
  enum OperandElement { F16, BF16, F32, I16, I32, I64 } operandElement;
  /// Bytes of A, and of B, that a lane provides.
  unsigned operandBytes;
  /// Number of lane groups that provide different values of k.
  unsigned groups;
  /// Elements of D in a lane.
  unsigned accumulators;
  ArrayRef<RowBit> rowBits;

  /// The type of A and B of one lane.
  Type getOperandType(MLIRContext *context) const;
};

/// Returns the instruction of `target` for the k-blocks of `op`: the one with
/// the largest k that fits. Its first operand is `op`'s b, the second one
/// `op`'s a. Reports an error if there is none.
FailureOr<MatrixInstruction> getMatrixInstruction(StringRef target,
                                                  tile::MatmulOp op);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTOROCDL_MATMULINSTRUCTIONS_H
