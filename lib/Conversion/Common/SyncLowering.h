// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SyncLowering.h - Lowers the sync ops of one kernel -------*- C++ -*-===//

#ifndef IRIS_LIB_CONVERSION_COMMON_SYNCLOWERING_H
#define IRIS_LIB_CONVERSION_COMMON_SYNCLOWERING_H

#include "iris/Conversion/EmitHelpers.h"
#include "iris/Conversion/LowerSync.h"
#include "iris/Dialect/Iris/IR/IrisChecks.h"
#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::iris {

/// Lowers the ops of one kernel, in order. There is one method per op; each
/// inserts code before the op and replaces it.
class SyncLowering {
public:
  SyncLowering(FunctionOpInterface kernel, const TargetInfo &target,
               Translation translation);

  LogicalResult run();

private:
  using Builder = ImplicitLocOpBuilder;

  /// The condition of a wait, and the data of its report if it times out.
  struct Poll {
    Value ctx;
    Value address;
    Comparison comparison;
    Value want;
    Scope scope;
    LLVM::AtomicOrdering ordering;
    /// Index into the kernel's sites.
    int64_t site;
    /// Rank that should signal, i32.
    Value owedBy;
  };

  /// How a publishing access is released.
  struct Release {
    /// Every thread arrives before the access.
    bool arrive;
    /// The publishing thread fences before the access.
    bool fence;
    /// Ordering of the access itself.
    LLVM::AtomicOrdering ordering;
  };

  //===--------------------------------------------------------------------===//
  // World (LowerTranslate.cpp)
  //===--------------------------------------------------------------------===//

  LogicalResult lower(RankOp op);
  LogicalResult lower(NumRanksOp op);
  LogicalResult lower(GroupSizeOp op);
  LogicalResult lower(GroupIndexOp op);
  LogicalResult lower(GroupMemberOp op);
  /// Replaces a query of the world by a field of the context.
  template <typename OpTy>
  LogicalResult lowerQuery(OpTy op, StringRef field);
  /// The world rank (i64) of a member (i64) of the launch's group.
  Value emitGroupMember(Builder &b, Value ctx, Value member);
  LogicalResult lower(TranslateOp op);
  /// A field of the context.
  Value emitField(Builder &b, StringRef field, Value ctx);
  /// Translates `address` in this rank's heap to rank `rank` (i64).
  Value emitTranslate(Builder &b, Value ctx, Value address, Value rank);
  /// The address of an element of `memref`.
  Value emitElementAddress(Builder &b, Value memref, ValueRange indices);
  /// `memref` as a descriptor of the LLVM conversion.
  Value emitDescriptor(Builder &b, Value memref);
  /// The LLVM pointer to global memory at `address` (i64) plus `offset`.
  Value emitGlobalPointer(Builder &b, Value address, int64_t offset);

  //===--------------------------------------------------------------------===//
  // Atomics, signals, fences (LowerAtomics.cpp)
  //===--------------------------------------------------------------------===//

  LogicalResult lower(AtomicRMWOp op);
  LogicalResult lower(AtomicCASOp op);
  LogicalResult lower(SignalOp op);
  LogicalResult lower(FenceOp op);
  LogicalResult lower(ElementRMWOp op);
  LogicalResult lower(ElementCASOp op);
  /// Returns the release that `op`, with semantics `sem`, needs.
  Release planRelease(Operation *op, MemSemantic sem) const;
  /// Runs `access` in the leader, ordered as `sem` requires, and broadcasts its
  /// result (type `type`) to every thread if `isUsed`.
  Value emitOrderedAccess(
      Builder &b, Operation *op, MemSemantic sem, Scope scope, Type type,
      bool isUsed,
      llvm::function_ref<Value(LLVM::AtomicOrdering ordering)> access);

  //===--------------------------------------------------------------------===//
  // Waits (LowerWait.cpp) and barriers (LowerBarrier.cpp)
  //===--------------------------------------------------------------------===//

  LogicalResult lower(WaitOp op);
  /// A wait executed by a single wave.
  void lowerInWave(WaitOp op, const Poll &poll);
  LogicalResult lower(HasFailedOp op);
  LogicalResult lower(BarrierOp op);
  /// The lowering of one barrier.
  class BarrierLowering;
  /// Records, for the kernel's metadata, which argument holds the barrier's
  /// state.
  void recordBarrierState(BarrierOp op);
  /// Repeats `probe` until it returns true (i1). Branches to `failed` when the
  /// wait is aborted or times out; after a timeout `report` runs first. `probe`
  /// is emitted in a block that dominates all following code.
  ///
  /// With `checksWaitStatus`, threads continue after a failed wait: if the
  /// kernel has a wait status, their next waits, and those of the program's
  /// other threads, fail soon after.
  void emitPollLoop(Builder &b, Value ctx, Block *failed,
                    llvm::function_ref<Value()> probe,
                    llvm::function_ref<void()> report,
                    bool checksWaitStatus = false);
  /// Polls until the comparison holds; branches to `failed` when the wait
  /// fails. Otherwise continues with the observed value, which it returns.
  Value emitPoll(Builder &b, const Poll &poll, Block *failed,
                 bool checksWaitStatus = false);
  /// Reports that a wait timed out, and sets the abort word.
  void emitHang(Builder &b, const Poll &poll, Value observed);
  /// The block through which all threads of the program leave the kernel.
  Block *getExitBlock();
  /// A block for threads whose wait has failed. They continue at `joined`, or
  /// leave the kernel if a program is one thread. Moves the insertion point.
  Block *getFailureBlock(Builder &b, Block *joined);
  /// Branches to the exit if any thread has called `emitFailure`. Must follow a
  /// barrier of the program.
  void emitExitIfFailed(Builder &b);
  /// Records in a thread whose wait failed that it has, if the kernel has a
  /// wait status.
  void emitFailure(Builder &b);
  /// Linear index of the program in the grid, i64.
  Value emitProgramIndex(Builder &b);

  //===--------------------------------------------------------------------===//
  // Packets (LowerPackets.cpp)
  //===--------------------------------------------------------------------===//

  LogicalResult lower(WritePacketsOp op);
  LogicalResult lower(ReadPacketsOp op);
  LogicalResult lower(LeaveIfFailedOp op);

  //===--------------------------------------------------------------------===//
  // Checks (LowerExpect.cpp)
  //===--------------------------------------------------------------------===//

  LogicalResult lower(ExpectEqOp op);
  LogicalResult lower(RecordExpectOp op);
  LogicalResult lower(CheckOp op);
  void emitRecordExpect(Builder &b, Value ctx, Value checked, Value failed,
                        Value element, Value got, Value want, int64_t site);
  /// Claims a record of the control block if it is empty, runs `fill`, and
  /// marks the record as ready. `record` points to its state, the first field.
  void emitRecord(Builder &b, Value record, llvm::function_ref<void()> fill);
  /// Sets the abort word to `reason`, one of IRISRT_ABORT_*: every wait of this
  /// rank then fails.
  void emitSetAbort(Builder &b, Value control, int64_t reason);
  /// Stores to a field of a record.
  void emitStoreField(Builder &b, Value record, int64_t offset, Value value);
  /// Stores what records of every kind say of where they come from: site,
  /// program, launch and kernel.
  template <typename RecordT>
  void emitOrigin(Builder &b, Value record, Value ctx, int64_t site) {
    emitOrigin(b, record, ctx, site,
               {offsetof(RecordT, site), offsetof(RecordT, program),
                offsetof(RecordT, launchId), offsetof(RecordT, kernelHash)});
  }
  struct OriginOffsets {
    int64_t site, program, launchId, kernelHash;
  };
  void emitOrigin(Builder &b, Value record, Value ctx, int64_t site,
                  OriginOffsets offsets);

  //===--------------------------------------------------------------------===//
  // Traces (LowerTrace.cpp)
  //===--------------------------------------------------------------------===//

  LogicalResult lower(TraceOp op);

  //===--------------------------------------------------------------------===//
  // State (SyncLowering.cpp)
  //===--------------------------------------------------------------------===//

  /// Adds a site for `op` and returns its number. `element`, if given, is the
  /// type of the flag or value.
  int64_t addSite(Operation *op, StringRef what, Type element);
  /// The shared words of the program.
  enum class Slot { WaitStatus, Value };
  Value emitSlot(Builder &b, Slot slot);
  /// Loads a shared word; the value is uniform over the program.
  Value emitLoadSlot(Builder &b, Slot slot, Type type);
  /// Allocates the shared words that `ops` need, in separate or borrowed
  /// workgroup memory.
  LogicalResult allocateSharedWords(ArrayRef<Operation *> ops);
  /// Creates the shared words, and the code at the entry that clears the wait
  /// status; with `withBarrier`, followed by a barrier.
  void createSlots(bool withBarrier);
  LLVM::GlobalOp getOrCreateWords(StringRef name, int64_t count);
  /// The address of the wait status.
  Value emitWaitStatusPointer(Builder &b);
  Value emitLoadWaitStatus(Builder &b);
  /// Must run in every thread before the program barrier that precedes a wait:
  /// saves the value that the wait status has unless the wait fails.
  void emitInitWaitStatus(Builder &b);
  Value emitWaveFailedPointer(Builder &b);
  /// In one thread, before a program barrier: sets the wait status if a wave's
  /// wait has failed.
  void emitMergeWaveFailure(Builder &b);
  /// FNV-1a 64 of the kernel's name.
  uint64_t getKernelHash();
  void setAttributes();

  FunctionOpInterface kernel;
  const TargetInfo &target;
  Translation translation;
  LLVMTypeConverter typeConverter;
  SmallVector<Attribute> sites;
  Block *exitBlock = nullptr;
  LLVM::GlobalOp slots;
  /// Workgroup memory with another purpose, one word of which is borrowed for
  /// the wait status; then there are no slots.
  LLVM::GlobalOp borrowed;
  /// The value of the borrowed word unless the wait fails, i32.
  Value savedWord;
  /// Nonzero after the wait of a single wave has failed, which may happen at
  /// any time. The wait status, on which all threads must agree, is updated
  /// from it at barriers.
  LLVM::GlobalOp waveFailed;
  bool waits = false;
  /// The arguments that hold the state of a barrier, without duplicates.
  llvm::SetVector<Attribute> barriers;
};

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_COMMON_SYNCLOWERING_H
