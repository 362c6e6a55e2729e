// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ElideFences.cpp - Fences shared by consecutive ops -----------------===//
//
// Works on blocks, and on loops without inner control flow. An op that is
// neither pure nor one of these synchronization ops ends a sequence.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/Sync.h"
#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-elide-fences"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISELIDEFENCESPASS
#include "iris/Conversion/Sync.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// True if ordering in scope `outer` includes scope `inner`.
static bool covers(Scope outer, Scope inner) {
  return static_cast<uint32_t>(outer) >= static_cast<uint32_t>(inner);
}

static void mark(Operation *op, StringRef attr) {
  op->setAttr(attr, UnitAttr::get(op->getContext()));
}

static void report(Operation *op, StringRef what) {
  LDBG() << *op << ": " << what;
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name("shared").category(DEBUG_TYPE))
      << what;
}

static bool isReleasingSignal(SignalOp op) {
  return op && op.getSem() == MemSemantic::Release &&
         !op->hasAttr(kReleaseCoveredAttr);
}

static bool isAcquiringWait(WaitOp op) {
  return op && op.getSem() == MemSemantic::Acquire &&
         !op->hasAttr(kAcquireCoveredAttr) && !op->hasAttr(kInWaveAttr);
}

//===----------------------------------------------------------------------===//
// Sequences in a block
//===----------------------------------------------------------------------===//

/// Keeps only the release of the first of consecutive signals, and only the
/// acquire of the last of consecutive waits.
static void shareInBlock(Block &block) {
  SignalOp release;
  WaitOp acquire;
  for (Operation &op : block) {
    if (isMemoryEffectFree(&op))
      continue;
    auto signal = dyn_cast<SignalOp>(op);
    auto wait = dyn_cast<WaitOp>(op);
    if (isReleasingSignal(signal)) {
      if (release && covers(release.getScope(), signal.getScope())) {
        mark(release, kReleaseSharedAttr);
        mark(signal, kReleaseCoveredAttr);
        report(signal, "release is shared with the signal before");
      } else {
        release = signal;
      }
      acquire = nullptr;
      continue;
    }
    if (isAcquiringWait(wait)) {
      if (acquire && covers(wait.getScope(), acquire.getScope())) {
        mark(acquire, kAcquireCoveredAttr);
        report(acquire, "acquire is shared with the wait after");
      }
      acquire = wait;
      release = nullptr;
      continue;
    }
    release = nullptr;
    acquire = nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The ops of type `OpT` in a loop without other effects; empty if there is
/// another effect, or if `matches` is false for one of the ops.
template <typename OpT>
static SmallVector<OpT> getOnlyEffects(scf::ForOp loop, bool (*matches)(OpT)) {
  SmallVector<OpT> ops;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isMemoryEffectFree(&op))
      continue;
    auto concrete = dyn_cast<OpT>(op);
    if (!matches(concrete))
      return {};
    ops.push_back(concrete);
  }
  return ops;
}

template <typename OpT>
static Scope widestScope(ArrayRef<OpT> ops) {
  Scope widest = Scope::Block;
  for (OpT op : ops)
    if (covers(op.getScope(), widest))
      widest = op.getScope();
  return widest;
}

/// One fence before a loop of signals, or one after a loop of waits.
static void shareInLoop(scf::ForOp loop) {
  OpBuilder b(loop);
  SmallVector<SignalOp> signals = getOnlyEffects(loop, isReleasingSignal);
  if (!signals.empty()) {
    FenceOp::create(b, loop.getLoc(), MemSemantic::Release,
                    widestScope<SignalOp>(signals));
    for (SignalOp signal : signals) {
      mark(signal, kReleaseCoveredAttr);
      report(signal, "release is shared by the iterations");
    }
    return;
  }
  SmallVector<WaitOp> waits = getOnlyEffects(loop, isAcquiringWait);
  if (waits.empty())
    return;
  b.setInsertionPointAfter(loop);
  FenceOp::create(b, loop.getLoc(), MemSemantic::Acquire,
                  widestScope<WaitOp>(waits));
  for (WaitOp wait : waits) {
    mark(wait, kAcquireCoveredAttr);
    report(wait, "acquire is shared by the iterations");
  }
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct ElideFencesPass : iris::impl::IrisElideFencesPassBase<ElideFencesPass> {
  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) { shareInLoop(loop); });
    getOperation()->walk([](Block *block) { shareInBlock(*block); });
  }
};
} // namespace
