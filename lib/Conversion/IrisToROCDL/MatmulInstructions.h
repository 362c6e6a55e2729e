// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix instruction of a chip for one matmul.
#ifndef IRIS_LIB_CONVERSION_IRISTOROCDL_MATMULINSTRUCTIONS_H
#define IRIS_LIB_CONVERSION_IRISTOROCDL_MATMULINSTRUCTIONS_H

#include "iris/Chips/ChipInfo.h"
#include "iris/Dialect/Tile/IR/Tile.h"

namespace mlir::iris {

/// Rows and columns of the result of every instruction, and the number of bits
/// of their index.
inline constexpr unsigned kMatrixSize = 16;
inline constexpr unsigned kMatrixBits = 4;

/// One instruction on operands of given types.
struct MatrixInstruction {
  std::string intrinsic;
  /// The intrinsic's operands, as in `MatrixInstructionInfo`.
  StringRef operands;
  /// Type of A and B of one lane: elements and their type.
  unsigned operandCount;
  OperandElement operandElement;
  /// Bytes that a lane gives of A, and of B.
  unsigned operandBytes;
  /// Number of lane groups that provide different values of k.
  unsigned groups;
  /// Elements of D in a lane.
  unsigned accumulators;
  ArrayRef<RowBit> rowBits;

  /// The type of A and B of one lane.
  Type getOperandType(MLIRContext *context) const;
};

/// Returns the instruction of `chip` for the k-blocks of `op`: the one with the
/// largest k that fits. The first operand is of `op`'s b, the second of its a.
/// Reports if there is none.
FailureOr<MatrixInstruction> getMatrixInstruction(const ChipInfo &chip,
                                                  tile::MatmulOp op);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTOROCDL_MATMULINSTRUCTIONS_H
