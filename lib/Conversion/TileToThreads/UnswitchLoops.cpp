// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UnswitchLoops.cpp - Hoists checks out of loops ---------------------===//
//
// LLVM unswitches small loops, but these loops contain the elementwise forms of
// all accesses, which makes them too large.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/TileToThreads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-unswitch-loops"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISUNSWITCHLOOPSPASS
#include "iris/Conversion/TileToThreads.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// Loops over the elements of one access are ignored.
static bool isInnermost(scf::ForOp loop) {
  return !loop.getBody()
              ->walk([](LoopLikeOpInterface inner) {
                return inner->hasAttr(kElementLoopAttr)
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Replaces `choice` by one of its branches.
static void take(IRRewriter &rewriter, scf::IfOp choice, Block *branch) {
  auto yield = cast<scf::YieldOp>(branch->getTerminator());
  SmallVector<Value> results(yield.getResults());
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(branch, choice);
  rewriter.replaceOp(choice, results);
}

static void unswitch(IRRewriter &rewriter, scf::ForOp loop) {
  SmallVector<scf::IfOp> choices;
  llvm::SetVector<Value> conditions;
  for (auto choice : loop.getBody()->getOps<scf::IfOp>()) {
    // Other conditions may differ between threads, and the loop may have
    // barriers.
    if (!choice->hasAttr(kCheckedFormAttr) ||
        !loop.isDefinedOutsideOfLoop(choice.getCondition()))
      continue;
    choices.push_back(choice);
    conditions.insert(choice.getCondition());
  }
  if (choices.empty()) {
    LDBG() << "keep the loop at " << loop.getLoc()
           << ": no access has a check that is the same in all iterations";
    return;
  }
  LDBG() << "unswitch the loop at " << loop.getLoc() << " by "
         << conditions.size() << " checks of " << choices.size() << " accesses";
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value all = conditions.front();
  for (Value condition : conditions.getArrayRef().drop_front())
    all = arith::AndIOp::create(rewriter, loc, all, condition);
  auto versions = scf::IfOp::create(rewriter, loc, loop.getResultTypes(), all,
                                    /*withElseRegion=*/true);
  rewriter.replaceAllUsesWith(loop.getResults(), versions.getResults());

  rewriter.setInsertionPointToStart(versions.thenBlock());
  IRMapping mapping;
  auto fast = cast<scf::ForOp>(rewriter.clone(*loop, mapping));
  for (scf::IfOp choice : choices) {
    auto copy = cast<scf::IfOp>(mapping.lookup(choice.getOperation()));
    take(rewriter, copy, copy.thenBlock());
  }
  // The second loop keeps the choices: of a copy whose source is misaligned,
  // the destination still has its fast form.
  rewriter.moveOpBefore(loop, versions.elseBlock(),
                        versions.elseBlock()->begin());
  if (loop.getNumResults() == 0)
    return; // the branches have their terminators
  rewriter.setInsertionPointToEnd(versions.thenBlock());
  scf::YieldOp::create(rewriter, loc, fast.getResults());
  rewriter.setInsertionPointToEnd(versions.elseBlock());
  scf::YieldOp::create(rewriter, loc, loop.getResults());
}

namespace {
struct UnswitchLoopsPass
    : iris::impl::IrisUnswitchLoopsPassBase<UnswitchLoopsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (isInnermost(loop))
        loops.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops)
      unswitch(rewriter, loop);
  }
};
} // namespace
