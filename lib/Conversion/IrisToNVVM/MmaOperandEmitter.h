// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MmaOperandEmitter.h - Operand tiles of mma.sync ----------*- C++ -*-===//
//
// Code that copies an operand tile from global to shared memory, and from there
// to the registers of a warp.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_MMAOPERANDEMITTER_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_MMAOPERANDEMITTER_H

#include "MmaPlan.h"
#include "iris/Conversion/SharedOperand.h"

namespace mlir::iris {

/// Emits what one thread does for one operand. Stages are offsets in `memory`,
/// in bytes, i32.
class MmaOperandEmitter {
public:
  MmaOperandEmitter(const MmaPlan &plan, const MmaOperand &operand,
                    LLVM::GlobalOp memory)
      : plan(plan), operand(operand), memory(memory) {}

  /// Copies the block at `tileStart` to the stage at `stage`: by cp.async,
  /// which `nvvm.cp.async.wait.group` waits for, or by loads and stores where
  /// lines are not multiples of 16 bytes apart. Elements outside of the buffer,
  /// and those from `left` (index) values of k on, are 0.
  void emitCopy(ThreadBuilder &t, const OperandTileStart &tileStart, Value left,
                Value stage) const;

  /// Reads the registers of the thread, four i32 each, of the warp's fragments
  /// at step `step` (32 bytes of k each).
  SmallVector<SmallVector<Value>> emitFragments(ThreadBuilder &t, unsigned step,
                                                Value stage) const;

  /// Reads values of k number 4 * `run` (i32) to 4 * `run` + 3, f32, of each
  /// row that the thread multiplies.
  SmallVector<SmallVector<Value>> emitRuns(ThreadBuilder &t, Value run,
                                           Value stage) const;

private:
  bool isA() const { return operand.kDim == 1; }
  unsigned getNumFragments() const {
    return isA() ? plan.getRowFragments() : plan.getColumnFragments();
  }
  /// What the bits of the warp's number add to the row.
  SmallVector<OperandElementIndex> getWarpBits() const;
  SmallVector<uint64_t> getOffsets(ArrayRef<OperandElementIndex> bits) const;
  /// Whether (i1) cp.async can copy lines at `tileStart`; null if never.
  Value emitCanCopy(ThreadBuilder &t, const OperandTileStart &tileStart) const;
  void emitAsyncCopy(ThreadBuilder &t, const OperandTileStart &tileStart,
                     Value left, Value stage) const;
  ElementFill getElementFill() const;
  /// The values at `elements` from the thread's first one, each a load of
  /// `type`.
  Value emitLoad(ThreadBuilder &t, Type type,
                 ArrayRef<ThreadBuilder::MapInput> inputs,
                 OperandElementIndex element, Value stage) const;

  const MmaPlan &plan;
  const MmaOperand &operand;
  LLVM::GlobalOp memory;
};

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_MMAOPERANDEMITTER_H
