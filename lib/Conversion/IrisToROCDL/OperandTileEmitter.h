// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code that moves an operand tile from memory to registers, from registers to
// workgroup memory (LDS), and from there to the operands of matrix
// instructions.
#ifndef IRIS_LIB_CONVERSION_IRISTOROCDL_OPERANDTILEEMITTER_H
#define IRIS_LIB_CONVERSION_IRISTOROCDL_OPERANDTILEEMITTER_H

#include "MatmulPlan.h"
#include "iris/Conversion/BufferView.h"
#include "iris/Conversion/MatmulTarget.h"
#include "iris/Conversion/TargetInfo.h"

namespace mlir::iris {

/// One of the two operand tiles of a matmul.
enum class Side { A, B };

/// Emits per-thread code for one operand tile.
class OperandTileEmitter {
public:
  /// `directScopes` are the alias scopes of direct loads to workgroup memory.
  /// Reads of a stage follow a wait and a barrier; without the scopes LLVM
  /// would make every read wait for all direct loads, including those to the
  /// other stage.
  OperandTileEmitter(const TargetInfo &target, const MatmulPlan &plan,
                     Side side, ArrayAttr directScopes)
      : target(target), plan(plan),
        operandTile(side == Side::A ? plan.a : plan.b), side(side),
        directScopes(directScopes) {}

  /// Returns whether (i1, uniform) whole chunks of the operand tile at `start`
  /// may be loaded, as long as k is inside the buffer; null if never. Does not
  /// depend on the offset along k.
  Value emitCanLoad(ThreadBuilder &t, const OperandTileStart &start) const;

  /// Returns the number of values of k (index) in the buffer from `start` on.
  Value emitExtent(ThreadBuilder &t, const OperandTileStart &start) const;

  /// The pointer to the first element of the block at `start`, its *window*.
  Value emitWindow(ThreadBuilder &t, const OperandTileStart &start) const;
  /// The window of the next block along k in the buffer of `start`.
  Value emitNextWindow(ThreadBuilder &t, const OperandTileStart &start,
                       Value window) const;

  /// Loads the thread's elements of the block at `start` with window `window`;
  /// along k the block must be inside the buffer. Rows outside of the buffer
  /// are 0.
  SmallVector<Value> emitLoads(ThreadBuilder &t, const OperandTileStart &start,
                               Value window) const;
  /// Loads directly to the stage at `stage`; the data has arrived after the
  /// thread has waited for its loads. Requires that the plan supports direct
  /// loads.
  void emitDirectLoads(ThreadBuilder &t, const OperandTileStart &start,
                       Value window, Value stage) const;
  /// The types of the loaded values.
  SmallVector<Type> getLoadTypes(MLIRContext *context) const;

  /// Stores the loaded values to the stage at `stage` (bytes, i32).
  void emitStores(ThreadBuilder &t, ValueRange loaded, Value stage) const;

  /// Copies the block at `start` to the stage at `stage`, element by element.
  /// Elements outside of the buffer, or after `left` (index) values of k, are
  /// 0.
  void emitElementCopy(ThreadBuilder &t, const OperandTileStart &start,
                       Value left, Value stage) const;

  /// Reads the thread's operands for step `step`: a list for each fragment,
  /// with one operand for each instruction of the step.
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
  /// Stores the loaded values of a thread that has units of its own.
  void emitOwnStores(ThreadBuilder &t, ValueRange loaded, Value stage) const;
  /// The thread's value of a map from (lane, warp) bits.
  Value applyThread(ThreadBuilder &t, ArrayRef<uint64_t> bases) const;
  /// The address in workgroup memory whose offset is the exclusive-or of the
  /// thread's value of `bases` and `constant`.
  Value emitPointer(ThreadBuilder &t, ArrayRef<uint64_t> bases,
                    uint64_t constant, Value stage) const;
  /// The thread's view of the window for loads to registers or, with
  /// `permuted`, for direct loads to the thread's position in workgroup memory.
  struct Source;
  Source getSource(ThreadBuilder &t, const OperandTileStart &start,
                   Value window, bool permuted) const;
  Value emitUnitOffset(ThreadBuilder &t, const Source &source,
                       unsigned unit) const;
  /// Transposes the loaded `lines` of a unit to rows, in registers.
  SmallVector<Value> emitTransposed(ThreadBuilder &t, ValueRange lines) const;
  /// Combines half chunks of two rows to a chunk, after exchanging them with
  /// another lane if the plan says so.
  Value emitChunk(ThreadBuilder &t, Value low, Value high) const;
  /// Offset of the thread's stores in workgroup memory, for each bit of the
  /// thread number.
  SmallVector<uint64_t> getStoreBases() const;

  const TargetInfo &target;
  const MatmulPlan &plan;
  const OperandTilePlan &operandTile;
  Side side;
  ArrayAttr directScopes;
};

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTOROCDL_OPERANDTILEEMITTER_H
