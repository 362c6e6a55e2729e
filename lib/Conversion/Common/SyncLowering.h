// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SyncLowering.h - State of the lowering of one kernel -----*- C++ -*-===//

#ifndef IRIS_LIB_CONVERSION_COMMON_SYNCLOWERING_H
#define IRIS_LIB_CONVERSION_COMMON_SYNCLOWERING_H

#include "iris/Conversion/EmitHelpers.h"
#include "iris/Conversion/LowerSync.h"
#include "iris/Dialect/Iris/IR/IrisChecks.h"
#include "iris/Dialect/Iris/IR/IrisRoles.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::iris {

/// Lowers the ops of one kernel, in order. One method per op; each inserts
/// before the op and replaces it.
class SyncLowering {
public:
  SyncLowering(FunctionOpInterface kernel, const TargetInfo &target,
               Translation translation);

  LogicalResult run();

private:
  using Builder = ImplicitLocOpBuilder;

  /// What a poll waits for, and what is reported if it does not come.
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

  /// How a publishing access gets its release.
  struct Release {
    /// Every thread arrives before.
    bool arrive;
    /// The publishing thread fences before.
    bool fence;
    /// Ordering of the access.
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
  /// Replaces a question about the world by a field of the context.
  template <typename OpTy>
  LogicalResult lowerQuery(OpTy op, StringRef field);
  /// The rank of a member (i64) of the launch's group, i64.
  Value emitGroupMember(Builder &b, Value ctx, Value member);
  LogicalResult lower(TranslateOp op);
  /// A field of the context.
  Value emitField(Builder &b, StringRef field, Value ctx);
  /// `address` on the own heap, moved to rank `rank` (i64).
  Value emitTranslate(Builder &b, Value ctx, Value address, Value rank);
  /// The address of an element of `memref`.
  Value emitElementAddress(Builder &b, Value memref, ValueRange indices);
  /// `memref` as the descriptor of the LLVM conversion.
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
  /// The release that `op`, of ordering `sem`, needs.
  Release planRelease(Operation *op, MemSemantic sem) const;
  /// Runs `access` in the leader, ordered as `op` says, and hands its value
  /// (type `type`) to every thread if `isUsed`.
  Value emitOrderedAccess(
      Builder &b, Operation *op, MemSemantic sem, Scope scope, Type type,
      bool isUsed,
      llvm::function_ref<Value(LLVM::AtomicOrdering ordering)> access);

  //===--------------------------------------------------------------------===//
  // Waits (LowerWait.cpp) and barriers (LowerBarrier.cpp)
  //===--------------------------------------------------------------------===//

  LogicalResult lower(WaitOp op);
  /// A wait of one wave; `poll` says for what.
  void lowerInWave(WaitOp op, const Poll &poll);
  LogicalResult lower(HasFailedOp op);
  LogicalResult lower(BarrierOp op);
  /// Notes for the launch which argument holds the barrier's state.
  void noteState(BarrierOp op);
  /// Repeats `probe` until the value (i1) that it returns holds; branches to
  /// `failed` when the wait is given up, after `report` if that is for time.
  /// `probe` stays in its block, which dominates all that follows.
  ///
  /// Threads that go on after a failed wait pass `looksAtVerdict`: then their
  /// next waits, and those of the program's other threads, end soon, if the
  /// kernel keeps a verdict.
  void emitPollLoop(Builder &b, Value ctx, Block *failed,
                    llvm::function_ref<Value()> probe,
                    llvm::function_ref<void()> report,
                    bool looksAtVerdict = false);
  /// Polls until the comparison holds; branches to `failed` when the wait is
  /// given up. Continues after it, with the value seen.
  Value emitPoll(Builder &b, const Poll &poll, Block *failed,
                 bool looksAtVerdict = false);
  /// Reports that a wait ran out of time, and sets the abort word.
  void emitHang(Builder &b, const Poll &poll, Value observed);
  /// The block that the program leaves through, in all its threads.
  Block *getExitBlock();
  /// A block for the threads whose wait is given up, who go on at `joined`, or
  /// leave where a program is one thread. Moves the insertion point.
  Block *getFailureBlock(Builder &b, Block *joined);
  /// Branches to the exit if any thread has called `emitFailure`. Comes after a
  /// barrier of the program.
  void emitExitIfFailed(Builder &b);
  /// In a thread whose wait failed: tells the program, if it asks anywhere.
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
  /// Claims a record of the control block, runs `fill` and marks it ready, if
  /// it was empty. Both are pointers; `record` begins with the state.
  void emitRecord(Builder &b, Value record, llvm::function_ref<void()> fill);
  /// Makes every wait of this rank end, for one of IRISRT_ABORT_*.
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

  /// Adds a site for `op`; returns its number. `element`, where it is given, is
  /// the type of the flag or value.
  int64_t addSite(Operation *op, StringRef what, Type element);
  /// Pointer to one of the words that the threads of the program share.
  enum class Slot { Verdict, Value };
  Value emitSlot(Builder &b, Slot slot);
  /// A word of the program's shared memory, the same in every thread.
  Value emitLoadSlot(Builder &b, Slot slot, Type type);
  /// Finds a place for the words that the threads share for `ops`, in their own
  /// memory or in borrowed one.
  LogicalResult placeWords(ArrayRef<Operation *> ops);
  /// Makes the words, and the code at the entry that clears the verdict; if
  /// `meet`, before any thread goes on.
  void createSlots(bool meet);
  LLVM::GlobalOp getOrCreateWords(StringRef name, int64_t count);
  /// Where a failed wait leaves its verdict.
  Value emitVerdictPointer(Builder &b);
  Value emitLoadVerdict(Builder &b);
  /// Comes in every thread before the program meets in front of a wait: takes
  /// down what the verdict is as long as the wait has not failed.
  void emitOpenVerdict(Builder &b);
  Value emitGivenUp(Builder &b);
  /// In one thread, before all meet: what a wave said becomes the verdict.
  void emitTakeGivenUp(Builder &b);
  /// FNV-1a 64 of the kernel's name.
  uint64_t getKernelHash();
  void leaveAttributes();

  FunctionOpInterface kernel;
  const TargetInfo &target;
  Translation translation;
  LLVMTypeConverter typeConverter;
  SmallVector<Attribute> sites;
  Block *exitBlock = nullptr;
  LLVM::GlobalOp slots;
  /// Workgroup memory that the program uses for other things, of which a word
  /// is borrowed for the verdict; then there are no slots.
  LLVM::GlobalOp borrowed;
  /// What the borrowed word holds if the wait does not fail, i32.
  Value quiet;
  /// Not 0 after the wait of a wave has failed, which it may at any time: the
  /// verdict, which all threads must agree on, is taken from it where they
  /// meet.
  LLVM::GlobalOp givenUp;
  bool waits = false;
  /// The arguments with the state of a barrier, each once.
  llvm::SetVector<Attribute> barriers;
};

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_COMMON_SYNCLOWERING_H
