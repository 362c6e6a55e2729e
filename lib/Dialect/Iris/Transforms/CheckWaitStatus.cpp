// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckWaitStatus.cpp - Checks of the wait status --------------------===//
//
// Walks each kernel in program order and tracks whether a wait for packets may
// have failed since the last barrier. Scalars are uniform, so all threads
// execute the ops inserted here.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-check-wait-status"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISCHECKWAITSTATUSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// True if the effect of the op is visible to other ranks. Stores to local
/// memory are not: other ranks read it only after they have been signaled.
static bool publishes(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<tile::StoreOp, tile::ScatterOp>(
          [](auto store) { return isPeer(store.getDestination().getType()); })
      .Case([](memref::StoreOp store) { return isPeer(store.getMemRefType()); })
      .Case<iris::StoreOp, iris::ScatterOp, PutOp, CopyOp, PacketStoreOp,
            AtomicRMWOp, AtomicCASOp, SignalOp, BarrierOp, FenceOp>(
          [](Operation *) { return true; })
      .Default([](Operation *) { return false; });
}

namespace {
/// Walks a kernel. `pending`: a wait may have failed.
class WaitStatusChecker {
public:
  bool walk(Block &block, bool pending, bool insert) {
    for (Operation &op : block)
      pending = walk(&op, pending, insert);
    return pending;
  }

private:
  bool walk(Operation *op, bool pending, bool insert) {
    if (publishes(op) && pending) {
      if (insert) {
        LDBG() << "check the wait status before " << *op
               << ": a wait before it may have failed";
        OpBuilder builder(op);
        LeaveIfFailedOp::create(builder, op->getLoc());
      }
      pending = false;
    }
    if (isa<PacketLoadOp>(op))
      return true;
    // These ops check the wait status themselves.
    if (isa<WaitOp, BarrierOp, LeaveIfFailedOp>(op))
      return false;
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      bool result = walk(*branch.thenBlock(), pending, insert);
      if (Block *block = branch.elseBlock())
        return walk(*block, pending, insert) || result;
      return result || pending;
    }
    // Regions run one after the other and repeatedly, or not at all.
    for (bool last : {false, true})
      for (Region &region : op->getRegions())
        for (Block &block : region)
          pending = walk(block, pending, insert && last) || pending;
    return pending;
  }
};

struct CheckWaitStatusPass
    : iris::impl::IrisCheckWaitStatusPassBase<CheckWaitStatusPass> {
  void runOnOperation() override {
    getOperation()->walk([](FunctionOpInterface function) {
      if (!function.isExternal())
        WaitStatusChecker().walk(function.getFunctionBody().front(),
                                 /*pending=*/false, /*insert=*/true);
    });
  }
};
} // namespace
