// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedOperand.h - Operand tiles in shared memory ---------*- C++ -*-===//
//
// What every target does with an operand tile of a matmul in shared memory
// (LDS): address it by a linear map of the thread's bits, and fill it element
// by element where nothing faster applies.
//
// The *rows* of an operand are the rows of a, or the columns of b.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_CONVERSION_SHAREDOPERAND_H
#define IRIS_CONVERSION_SHAREDOPERAND_H

#include "iris/Conversion/BufferView.h"
#include "iris/Conversion/MatmulTarget.h"

namespace mlir::iris {

/// `pointer` moved by `bytes`.
Value emitByteOffset(ThreadBuilder &t, Value pointer, LLVM::GEPArg bytes);

/// The offset of `tileStart` in the buffer of `view`, in elements, index.
Value emitStartOffset(ThreadBuilder &t, const BufferView &view,
                      const OperandTileStart &tileStart);

/// Returns the pointer to `memory` at the exclusive-or of the linear map
/// `inputs` and of `constant`, plus `start`, plus `stage` (bytes, i32; may be
/// null).
Value emitSharedPointer(ThreadBuilder &t, LLVM::GlobalOp memory,
                        ArrayRef<ThreadBuilder::MapInput> inputs,
                        uint64_t constant, uint64_t start, Value stage);

/// How an operand tile is filled element by element.
struct ElementFill {
  unsigned rows = 0;
  /// Values of k.
  unsigned block = 0;
  unsigned elementBytes = 0;
  /// Dimension of the buffer along which k runs.
  unsigned kDim = 0;
  /// True if neighbouring threads load neighbours along k, otherwise along the
  /// rows.
  bool isAlongK = true;
  /// What the bits of a row, and of k, add (by exclusive-or) to the offset in
  /// the tile, in bytes.
  SmallVector<uint64_t> rowBases, kBases;
  /// Where the tile starts in a stage.
  unsigned start = 0;
};

/// Fills the stage at `stage` (bytes, i32; may be null) of `memory` from
/// `tileStart`. Elements outside of the buffer, and those from `left` (index)
/// values of k on, are 0. All threads of the program take part.
void emitElementFill(ThreadBuilder &t, const ElementFill &fill,
                     const OperandTileStart &tileStart, Value left,
                     LLVM::GlobalOp memory, Value stage);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_SHAREDOPERAND_H
