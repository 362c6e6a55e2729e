// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../TestPasses.h"

#include "iris/Analysis/AccessConflicts.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// What an op orders, from the table in docs/internals/memory-model.md and not
/// from ProgramOrderOpInterface, which tile-insert-barriers asks.
struct Order {
  bool before = false, after = false;
  /// A signal that releases, which may be one of a row.
  bool isSignal = false;
  /// A wait that acquires, likewise.
  bool isWait = false;
};

/// Follows all paths from an access, up to what orders it with later ones.
class PathsFrom {
public:
  PathsFrom(AccessConflicts &conflicts, Operation *source,
            const MemoryAccess &access)
      : conflicts(conflicts), source(source), access(access) {}

  /// False if an access that has to come after it is on a path; says so.
  bool check();

private:
  /// What executes next: an op, or what follows the last op of a block.
  struct Point {
    Block *block;
    Block::iterator next;
    /// The outermost loop that has gone to another iteration on the way.
    Operation *staleIn;
    /// Only waits of the source's row are left.
    bool onlyWaits;
  };

  /// Whether the path goes on after the op.
  bool visit(Operation *op, Point &point);
  void push(Block *block, Block::iterator next, const Point &from,
            Operation *loop = nullptr);
  void enter(ArrayRef<RegionSuccessor> successors, Operation *op,
             const Point &from, bool isBack);
  void leave(const Point &point);
  void report(Operation *op, Operation *staleIn);

  AccessConflicts &conflicts;
  Operation *source;
  const MemoryAccess &access;
  SmallVector<Point> worklist;
  llvm::DenseSet<std::tuple<Block *, Operation *, Operation *, unsigned>> seen;
  bool isRight = true;
};
} // namespace

static Order orderOf(MemSemantic sem) {
  bool releases = sem == MemSemantic::Release || sem == MemSemantic::AcqRel;
  bool acquires = sem == MemSemantic::Acquire || sem == MemSemantic::AcqRel;
  return {releases, acquires};
}

static Order orderOf(Operation *op) {
  if (isa<gpu::BarrierOp, BarrierOp>(op))
    return {true, true};
  if (auto fence = dyn_cast<FenceOp>(op)) {
    bool orders = fence.getSem() != MemSemantic::Relaxed;
    return {orders, orders};
  }
  if (auto rmw = dyn_cast<AtomicRMWOp>(op))
    return orderOf(rmw.getSem());
  if (auto cas = dyn_cast<AtomicCASOp>(op))
    return orderOf(cas.getSem());
  Order order;
  if (auto signal = dyn_cast<SignalOp>(op))
    order.isSignal = signal.getSem() == MemSemantic::Release;
  if (auto wait = dyn_cast<WaitOp>(op))
    order.isWait = wait.getSem() == MemSemantic::Acquire;
  return order;
}

/// Regions that control flow does not go through: a matmul reads ahead what its
/// region loads.
static bool isOpaque(Operation *op) {
  return op->getNumRegions() != 0 && !isa<RegionBranchOpInterface>(op);
}

static SmallVector<MemoryAccess> accessesOf(Operation *op) {
  SmallVector<MemoryAccess> accesses = getMemoryAccesses(op);
  if (isOpaque(op))
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        llvm::append_range(accesses, getMemoryAccesses(inner));
      });
  return accesses;
}

void PathsFrom::report(Operation *op, Operation *staleIn) {
  isRight = false;
  InFlightDiagnostic error =
      op->emitError("depends on another thread's access without a barrier");
  Diagnostic &note = error.attachNote(source->getLoc());
  note << "'" << source->getName() << "' " << describe(access);
  if (staleIn)
    note << ", in an earlier iteration of '" << staleIn->getName() << "'";
}

bool PathsFrom::visit(Operation *op, Point &point) {
  if (isMemoryEffectFree(op) && !isOpaque(op))
    return true;
  Order order = orderOf(op);
  if (point.onlyWaits && !order.isWait)
    return false;
  if (order.before)
    return false;
  if (order.isSignal && access.threads != MemoryAccess::Threads::Leader)
    return false;
  PendingAccess before(access, source);
  before.staleIn = point.staleIn;
  for (const MemoryAccess &now : accessesOf(op))
    if (conflicts.needsOrder(before, PendingAccess(now, op))) {
      report(op, point.staleIn);
      return false;
    }
  point.onlyWaits |= order.isWait;
  return !order.after;
}

void PathsFrom::push(Block *block, Block::iterator next, const Point &from,
                     Operation *loop) {
  Point point = {block, next, from.staleIn, from.onlyWaits};
  // Of nested loops, the outermost one: its values have changed, too.
  if (loop && loop->isAncestor(source) &&
      !(point.staleIn && point.staleIn->isAncestor(loop)))
    point.staleIn = loop;
  Operation *op = next == block->end() ? nullptr : &*next;
  if (seen.insert({block, op, point.staleIn, point.onlyWaits}).second)
    worklist.push_back(point);
}

void PathsFrom::enter(ArrayRef<RegionSuccessor> successors, Operation *op,
                      const Point &from, bool isBack) {
  for (const RegionSuccessor &successor : successors) {
    Region *region = successor.getSuccessor();
    if (!region)
      push(op->getBlock(), std::next(op->getIterator()), from);
    else
      push(&region->front(), region->front().begin(), from,
           isBack ? op : nullptr);
  }
}

void PathsFrom::leave(const Point &point) {
  for (Block *next : point.block->getSuccessors())
    push(next, next->begin(), point, point.block->getParentOp());
  if (!point.block->hasNoSuccessors())
    return;
  auto branch = dyn_cast<RegionBranchOpInterface>(point.block->getParentOp());
  if (!branch)
    return; // the function's end
  SmallVector<RegionSuccessor> successors;
  branch.getSuccessorRegions(*point.block->getParent(), successors);
  enter(successors, branch, point, /*isBack=*/true);
}

bool PathsFrom::check() {
  Order order = orderOf(source);
  if (order.after)
    return true;
  Point start = {source->getBlock(), std::next(source->getIterator()), nullptr,
                 order.isWait};
  worklist.push_back(start);
  while (!worklist.empty() && isRight) {
    Point point = worklist.pop_back_val();
    if (point.next == point.block->end()) {
      leave(point);
      continue;
    }
    Operation *op = &*point.next;
    if (!visit(op, point))
      continue;
    auto branch = dyn_cast<RegionBranchOpInterface>(op);
    if (!branch) {
      push(point.block, std::next(point.next), point);
      continue;
    }
    SmallVector<RegionSuccessor> successors;
    branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    enter(successors, op, point, /*isBack=*/false);
  }
  return isRight;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
/// Fails if two accesses of which one has to come after the other may be made
/// by different threads without a barrier in between. It shares with
/// tile-insert-barriers how two accesses are compared, and nothing else: it
/// follows the paths from each access one by one.
struct VerifyBarriers : PassWrapper<VerifyBarriers, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyBarriers)

  StringRef getArgument() const override { return "test-verify-barriers"; }
  StringRef getDescription() const override {
    return "Check that barriers separate all accesses of different threads "
           "that "
           "have to be ordered";
  }

  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      AccessConflicts conflicts(function);
      function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
        for (const MemoryAccess &access : accessesOf(op))
          if (!PathsFrom(conflicts, op, access).check()) {
            signalPassFailure();
            break;
          }
        return isOpaque(op) ? WalkResult::skip() : WalkResult::advance();
      });
    });
  }
};
} // namespace

void test::registerTestBarrierPathsPass() {
  PassRegistration<VerifyBarriers>();
}
