// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix instructions of AMD GPUs: MFMA (waves of 64) and WMMA (waves of
// 32).
//
// All of them compute D += A * B for a 16 x k operand tile A, a k x 16 operand
// tile B and a 16 x 16 result. Lane l gives row l % 16 of A and column l % 16
// of B; lanes with other l / 16, its *group*, give other values of k, or the
// same ones. The lane gets elements of column l % 16 of D; which rows,
// `rowBits` says.
#ifndef IRIS_LIB_CONVERSION_IRISTOROCDL_MATMULINSTRUCTIONS_H
#define IRIS_LIB_CONVERSION_IRISTOROCDL_MATMULINSTRUCTIONS_H

#include "iris/Dialect/Tile/IR/Tile.h"

namespace mlir::iris {

/// Rows and columns of the result of every instruction, and the bits of both.
inline constexpr unsigned kMatrixSize = 16;
inline constexpr unsigned kMatrixBits = 4;

/// Where a bit of the row of D comes from.
struct RowBit {
  enum Source { Register, Group } source;
  unsigned bit;
};

/// What follows the operands A, B and C of an intrinsic, or goes between them.
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
  /// Type of A and B of one lane: elements and their type.
  unsigned operandCount;
  enum OperandElement { F16, BF16, F32, I16, I32, I64 } operandElement;
  /// Bytes that a lane gives of A, and of B.
  unsigned operandBytes;
  /// Groups of lanes that give different values of k.
  unsigned groups;
  /// Elements of D in a lane.
  unsigned accumulators;
  ArrayRef<RowBit> rowBits;

  /// The type of A and B of one lane.
  Type getOperandType(MLIRContext *context) const;
};

/// Returns the instruction of `target` for the k-blocks of `op`: the widest one
/// along k that fits. The first operand is of `op`'s b, the second of its a.
/// Reports if there is none.
FailureOr<MatrixInstruction> getMatrixInstruction(StringRef target,
                                                  tile::MatmulOp op);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTOROCDL_MATMULINSTRUCTIONS_H
