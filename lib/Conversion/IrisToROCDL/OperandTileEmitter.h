// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code that moves an operand tile: from memory to registers, from there to
// workgroup memory, and from there to the operands of matrix instructions.
#ifndef IRIS_LIB_CONVERSION_IRISTOROCDL_OPERANDTILEEMITTER_H
#define IRIS_LIB_CONVERSION_IRISTOROCDL_OPERANDTILEEMITTER_H

#include "MatmulPlan.h"
#include "iris/Conversion/BufferView.h"
#include "iris/Conversion/MatmulTarget.h"
#include "iris/Conversion/TargetInfo.h"

namespace mlir::iris {

/// Which of the two operand tiles of a matmul.
enum class Side { A, B };

/// Emits what one thread does for one operand tile.
class OperandTileEmitter {
public:
  /// `directScopes` marks what moves to workgroup memory on its own. Reads of a
  /// stage come after a wait and a barrier; without it, LLVM would have every
  /// read wait for all such moves, those to the other stage too.
  OperandTileEmitter(const TargetInfo &target, const MatmulPlan &plan,
                     Side side, ArrayAttr directScopes)
      : target(target), plan(plan),
        operandTile(side == Side::A ? plan.a : plan.b), side(side),
        directScopes(directScopes) {}

  /// Returns whether (i1, the same in all threads) whole chunks of the operand
  /// tile at `place` may be loaded, as long as k stays inside; null if never.
  /// Does not depend on how far along k the place is.
  Value emitCanLoad(ThreadBuilder &t, const OperandTileStart &place) const;

  /// Returns how many values of k (index) the buffer has from `place` on.
  Value emitExtent(ThreadBuilder &t, const OperandTileStart &place) const;

  /// The pointer to the begin of `place`, its *window*.
  Value emitWindow(ThreadBuilder &t, const OperandTileStart &place) const;
  /// The window of the next block along k in the buffer of `place`.
  Value emitNextWindow(ThreadBuilder &t, const OperandTileStart &place,
                       Value window) const;

  /// Loads the thread's part of the block at `place`, whose window is `window`
  /// and which must lie inside along k. Rows outside of the buffer are 0.
  SmallVector<Value> emitLoads(ThreadBuilder &t, const OperandTileStart &place,
                               Value window) const;
  /// The same, straight to the stage at `stage`: it is there when the thread
  /// has waited for its loads. Only if the plan says that this can be.
  void emitDirectLoads(ThreadBuilder &t, const OperandTileStart &place,
                       Value window, Value stage) const;
  /// The types of what is loaded.
  SmallVector<Type> getLoadTypes(MLIRContext *context) const;

  /// Stores what was loaded to the stage at `stage` (bytes, i32).
  void emitStores(ThreadBuilder &t, ValueRange loaded, Value stage) const;

  /// Fills the stage at `stage` with the block at `place`, element by element.
  /// What lies outside of the buffer, or behind `left` (index) values of k, is
  /// 0.
  void emitFill(ThreadBuilder &t, const OperandTileStart &place, Value left,
                Value stage) const;

  /// Reads the thread's operands for step `step`: for each fragment, one for
  /// each instruction of the step.
  SmallVector<SmallVector<Value>> emitOperands(ThreadBuilder &t, unsigned step,
                                               Value stage) const;

private:
  unsigned getKDim() const { return side == Side::A ? 1 : 0; }
  unsigned getRowDim() const { return 1 - getKDim(); }
  /// Where the operand tile begins in a stage.
  unsigned getStageOffset() const {
    return side == Side::A ? 0 : plan.a.memory.getBytes();
  }
  /// The type of an element as bits.
  Type getBitsType(MLIRContext *context) const {
    return IntegerType::get(context, 8 * plan.elementBytes);
  }
  /// The thread's part of a map from (lane, warp) bits.
  Value applyThread(ThreadBuilder &t, ArrayRef<uint64_t> bases) const;
  /// The place in workgroup memory at the exclusive-or of the thread's part of
  /// `bases` and `constant`.
  Value emitPointer(ThreadBuilder &t, ArrayRef<uint64_t> bases,
                    uint64_t constant, Value stage) const;
  /// Calls `visit` with the offset of each load in registers or, with
  /// `permuted`, of what belongs to the thread's place in workgroup memory.
  struct Source;
  Source getSource(ThreadBuilder &t, const OperandTileStart &place,
                   Value window, bool permuted) const;
  Value emitUnitOffset(ThreadBuilder &t, const Source &source,
                       unsigned unit) const;
  /// The rows of a unit whose `lines` were loaded, in registers.
  SmallVector<Value> emitTransposed(ThreadBuilder &t, ValueRange lines) const;
  /// A chunk of halves of two rows, exchanged with another lane if they are.
  Value emitChunk(ThreadBuilder &t, Value low, Value high) const;
  /// Where a thread stores, for each bit of its number.
  SmallVector<uint64_t> getFillBases() const;

  const TargetInfo &target;
  const MatmulPlan &plan;
  const OperandTilePlan &operandTile;
  Side side;
  ArrayAttr directScopes;
};

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTOROCDL_OPERANDTILEEMITTER_H
