// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerAtomics.cpp - Atomics, signals and fences ---------------------===//

#include "SyncLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Ordered accesses of the program
//===----------------------------------------------------------------------===//

SyncLowering::Release SyncLowering::planRelease(Operation *op,
                                                MemSemantic sem) const {
  constexpr auto relaxed = LLVM::AtomicOrdering::monotonic;
  if (!isRelease(sem))
    return {/*arrive=*/false, /*fence=*/false, relaxed};
  // With one thread an ordering on the access is free and, unlike a fence,
  // visible to ThreadSanitizer.
  if (target.hasOneThread())
    return {/*arrive=*/false, /*fence=*/false, LLVM::AtomicOrdering::release};
  if (op->hasAttr(kReleaseCoveredAttr))
    return {/*arrive=*/false, /*fence=*/false, relaxed};
  if (target.accessesCarryOrdering() && !op->hasAttr(kReleaseSharedAttr))
    return {/*arrive=*/true, /*fence=*/false, LLVM::AtomicOrdering::release};
  return {/*arrive=*/true, /*fence=*/true, relaxed};
}

/// `ordering` with an acquire.
static LLVM::AtomicOrdering withAcquire(LLVM::AtomicOrdering ordering) {
  return ordering == LLVM::AtomicOrdering::release
             ? LLVM::AtomicOrdering::acq_rel
             : LLVM::AtomicOrdering::acquire;
}

Value SyncLowering::emitOrderedAccess(
    Builder &b, Operation *op, MemSemantic sem, Scope scope, Type type,
    bool isUsed,
    llvm::function_ref<Value(LLVM::AtomicOrdering ordering)> access) {
  Release release = planRelease(op, sem);
  bool acquire = isAcquire(sem) && !op->hasAttr(kAcquireCoveredAttr);
  bool carries = target.accessesCarryOrdering();
  if (acquire && carries)
    release.ordering = withAcquire(release.ordering);
  bool broadcast = isUsed && !target.hasOneThread();

  if (release.arrive)
    target.emitReleaseArrive(b, scope);
  else if (broadcast) // The word may still be in use by an earlier op.
    target.emitWorkgroupBarrier(b);

  Value result;
  emitInLeader(b, target, [&] {
    if (release.fence)
      target.emitReleaseFence(b, scope);
    result = access(release.ordering);
    if (acquire && !carries)
      target.emitAcquireFence(b, scope);
    if (broadcast)
      LLVM::StoreOp::create(b, emitToBits(b, result), emitSlot(b, Slot::Value));
  });

  if (acquire)
    target.emitProgramBarrier(b);
  else if (broadcast)
    target.emitWorkgroupBarrier(b);
  return broadcast ? emitLoadSlot(b, Slot::Value, type) : result;
}

/// Atomics on tiles must have been expanded by an earlier pass.
template <typename OpT>
static LogicalResult expectScalar(OpT op) {
  if (isa<ShapedType>(op.getValue().getType()))
    return op.emitOpError("works on a tile; expected a scalar");
  if (op.getRank())
    return op.emitOpError("names a rank; expected a translated buffer");
  return success();
}

LogicalResult SyncLowering::lower(AtomicRMWOp op) {
  if (failed(expectScalar(op)))
    return failure();
  Builder b(op.getLoc(), op);
  Type type = op.getType();
  bool isUsed = !op.use_empty();
  Value address = emitElementAddress(b, op.getBuffer(), op.getOffsets());
  Value mask = op.getMask();
  auto update = [&](LLVM::AtomicOrdering ordering) -> Value {
    auto access = [&] {
      return target.emitAtomicRMW(b, op.getKind(), op.getValue(), address,
                                  ordering, op.getScope(), isUsed);
    };
    if (!mask)
      return access();
    // Masked out: the memory is not accessed, and the result is 0.
    Block *rest = splitBlockHere(b);
    Block *head = b.getInsertionBlock();
    Block *then = b.createBlock(rest);
    Value result = isUsed ? rest->addArgument(type, b.getLoc()) : Value();
    b.setInsertionPointToEnd(head);
    SmallVector<Value> skipped, updated;
    if (isUsed)
      skipped.push_back(
          arith::ConstantOp::create(b, b.getZeroAttr(type)).getResult());
    cf::CondBranchOp::create(b, mask, then, ValueRange(), rest, skipped);
    b.setInsertionPointToStart(then);
    if (Value old = access(); isUsed)
      updated.push_back(old);
    cf::BranchOp::create(b, rest, updated);
    b.setInsertionPointToStart(rest);
    return result;
  };
  Value result = emitOrderedAccess(b, op, op.getSem(), op.getScope(), type,
                                   isUsed, update);
  if (isUsed)
    op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

LogicalResult SyncLowering::lower(AtomicCASOp op) {
  if (failed(expectScalar(op)))
    return failure();
  Builder b(op.getLoc(), op);
  bool isUsed = !op.use_empty();
  Value address = emitElementAddress(b, op.getBuffer(), op.getOffsets());
  Value result = emitOrderedAccess(
      b, op, op.getSem(), op.getScope(), op.getType(), isUsed,
      [&](LLVM::AtomicOrdering ordering) {
        return emitAtomicCAS(b, op.getCompare(), op.getValue(), address,
                             ordering, target.getSyncScope(op.getScope()));
      });
  if (isUsed)
    op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

LogicalResult SyncLowering::lower(SignalOp op) {
  if (failed(expectScalar(op)))
    return failure();
  Builder b(op.getLoc(), op);
  Value address = emitElementAddress(b, op.getBuffer(), op.getOffsets());
  emitOrderedAccess(
      b, op, op.getSem(), op.getScope(), op.getValue().getType(),
      /*isUsed=*/false, [&](LLVM::AtomicOrdering ordering) -> Value {
        if (op.getKind() == SignalKind::Add)
          return target.emitAtomicRMW(b, RMWKind::Add, op.getValue(), address,
                                      ordering, op.getScope(),
                                      /*needsResult=*/false);
        emitAtomicStore(b, op.getValue(), address, ordering,
                        target.getSyncScope(op.getScope()));
        return Value();
      });
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Fences and accesses of one thread
//===----------------------------------------------------------------------===//

LogicalResult SyncLowering::lower(FenceOp op) {
  Builder b(op.getLoc(), op);
  target.emitProgramFence(b, op.getSem(), op.getScope());
  op.erase();
  return success();
}

LogicalResult SyncLowering::lower(ElementRMWOp op) {
  Builder b(op.getLoc(), op);
  bool isUsed = !op.use_empty();
  Value old = target.emitAtomicRMW(
      b, op.getKind(), op.getValue(), op.getAddress(),
      LLVM::AtomicOrdering::monotonic, op.getScope(), isUsed);
  if (isUsed)
    op.replaceAllUsesWith(old);
  op.erase();
  return success();
}

LogicalResult SyncLowering::lower(ElementCASOp op) {
  Builder b(op.getLoc(), op);
  Value old = emitAtomicCAS(b, op.getCompare(), op.getValue(), op.getAddress(),
                            LLVM::AtomicOrdering::monotonic,
                            target.getSyncScope(op.getScope()));
  op.replaceAllUsesWith(old);
  op.erase();
  return success();
}
