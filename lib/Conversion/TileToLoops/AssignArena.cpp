// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AssignArena.cpp - Allocates tile buffers in the arena --------------===//
//
// A buffer is live from its allocation to the last op that uses it or an
// address derived from it. In a loop that allocates it, its lifetime is one
// iteration; a use in a nested loop extends it to the end of that loop. Buffers
// with disjoint lifetimes may share memory. Offsets are assigned first fit, in
// order of the start of the lifetime.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/TileToLoops.h"

#include "iris/Analysis/WorkgroupMemory.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "iris-assign-arena"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISASSIGNARENAPASS
#include "iris/Conversion/TileToLoopsPasses.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// One cache line.
static constexpr int64_t kAlignment = 64;

namespace {
struct Placement {
  memref::AllocOp alloc;
  /// Lifetime, in walk order; both ends inclusive.
  unsigned start, end;
  int64_t offset, bytes;
};
} // namespace

/// Ops whose result points into the same buffer.
static bool passesAddress(Operation *op) {
  return isa<ViewLikeOpInterface, memref::TransposeOp,
             memref::ExtractAlignedPointerAsIndexOp, arith::IndexCastOp,
             LLVM::IntToPtrOp, LLVM::GEPOp>(op);
}

/// The last op, in walk order, that uses `value` within `block` or below it; an
/// op with regions includes all nested ops.
static unsigned lastUse(Value value, Block *block,
                        const llvm::DenseMap<Operation *, unsigned> &ends) {
  unsigned last = 0;
  for (Operation *user : value.getUsers()) {
    last = std::max(last, ends.lookup(block->findAncestorOpInBlock(*user)));
    if (passesAddress(user))
      last = std::max(last, lastUse(user->getResult(0), block, ends));
  }
  return last;
}

/// The lowest offset for `buffer` that does not overlap buffers live at the
/// same time.
static int64_t findOffset(const Placement &buffer,
                          ArrayRef<Placement> placements) {
  SmallVector<std::pair<int64_t, int64_t>> taken;
  for (const Placement &other : placements)
    if (other.start <= buffer.end && buffer.start <= other.end)
      taken.push_back({other.offset, other.offset + other.bytes});
  llvm::sort(taken);
  int64_t offset = 0;
  for (auto [begin, end] : taken) {
    if (offset + buffer.bytes <= begin)
      break;
    offset = std::max(offset, int64_t(llvm::alignTo(end, kAlignment)));
  }
  return offset;
}

static SmallVector<Placement> assignOffsets(func::FuncOp func) {
  // The index of an op, and of the last op nested in it.
  llvm::DenseMap<Operation *, unsigned> starts, ends;
  unsigned count = 0;
  func.walk([&](Operation *op, const WalkStage &stage) {
    if (stage.isBeforeAllRegions())
      starts[op] = ++count;
    if (stage.isAfterAllRegions())
      ends[op] = count;
  });

  SmallVector<Placement> placements;
  func.walk<WalkOrder::PreOrder>([&](memref::AllocOp alloc) {
    Placement buffer{alloc, starts.lookup(alloc),
                     lastUse(alloc, alloc->getBlock(), ends), 0,
                     static_cast<int64_t>(getBufferBytes(alloc.getType()))};
    buffer.end = std::max(buffer.start, buffer.end);
    if (alloc->hasAttr(kProgramMemoryAttr)) {
      buffer.start = 0;
      buffer.end = count;
    }
    buffer.offset = findOffset(buffer, placements);
    LDBG() << alloc << ": offset " << buffer.offset << ", " << buffer.bytes
           << " bytes, live from op " << buffer.start << " to " << buffer.end;
    placements.push_back(buffer);
  });
  return placements;
}

static void rewriteBuffers(func::FuncOp func, ArrayRef<Placement> placements) {
  auto b = ImplicitLocOpBuilder::atBlockBegin(func.getLoc(),
                                              &func.getBody().front());
  Value arena;
  int64_t arenaBytes = 0;
  for (const Placement &buffer : placements) {
    if (!arena)
      arena = HostArenaOp::create(
          b, MemRefType::get({ShapedType::kDynamic}, b.getI8Type()));
    arenaBytes = std::max(arenaBytes, buffer.offset + buffer.bytes);
    memref::AllocOp alloc = buffer.alloc;
    ImplicitLocOpBuilder at(alloc.getLoc(), alloc);
    Value offset = arith::ConstantIndexOp::create(at, buffer.offset);
    Value view = memref::ViewOp::create(at, alloc.getType(), arena, offset,
                                        /*sizes=*/ValueRange());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
  }
  func->setDiscardableAttr(kArenaBytesAttr, b.getI64IntegerAttr(llvm::alignTo(
                                                arenaBytes, kAlignment)));
}

/// A called function would use the same offsets for its buffers.
static LogicalResult verifyNoCalls(func::FuncOp func) {
  WalkResult result = func.walk([](func::CallOp call) -> WalkResult {
    return call.emitOpError("calls @")
           << call.getCallee() << "; expected calls to be inlined";
  });
  return failure(result.wasInterrupted());
}

namespace {
struct AssignArenaPass : iris::impl::IrisAssignArenaPassBase<AssignArenaPass> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      if (failed(verifyNoCalls(func)))
        return signalPassFailure();
      rewriteBuffers(func, assignOffsets(func));
    }
  }
};
} // namespace
