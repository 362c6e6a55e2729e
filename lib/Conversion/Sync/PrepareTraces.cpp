// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PrepareTraces.cpp - Removes or completes traces --------------------===//

#include "iris/Conversion/Sync.h"

#include "iris-c/RuntimeABI.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-prepare-traces"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISPREPARETRACESPASS
#include "iris/Conversion/Sync.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// Encloses `op` in a span.
static void enclose(Operation *op, Value ctx, StringRef span) {
  LDBG() << "span '" << span << "' around " << *op;
  OpBuilder b(op);
  TraceOp::create(b, op->getLoc(), TracePhase::Begin, ctx, span, Value());
  b.setInsertionPointAfter(op);
  TraceOp::create(b, op->getLoc(), TracePhase::End, ctx, span, Value());
}

/// Erases a trace and the ops that only compute its bytes, so that later passes
/// see the IR without traces.
static void erase(TraceOp trace) {
  SmallVector<Value> unused(trace->getOperands());
  trace.erase();
  while (!unused.empty()) {
    Operation *op = unused.pop_back_val().getDefiningOp();
    if (!op || !isOpTriviallyDead(op))
      continue;
    llvm::append_range(unused, op->getOperands());
    // A value may be in the list more than once.
    llvm::erase_if(unused,
                   [&](Value value) { return value.getDefiningOp() == op; });
    op->erase();
  }
}

static bool hasTraces(gpu::GPUModuleOp module) {
  return module.walk([](TraceOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Adds a kernel that records one event, from which the runtime reads the
/// device's clock.
static LogicalResult addClock(gpu::GPUModuleOp module) {
  if (Operation *taken = module.lookupSymbol(IRISRT_SYM_CLOCK))
    return taken->emitOpError("is called ")
           << IRISRT_SYM_CLOCK << "; traces need a kernel of that name";
  LDBG() << "add " << IRISRT_SYM_CLOCK << " to module " << module.getName();
  auto b = ImplicitLocOpBuilder::atBlockEnd(module.getLoc(), module.getBody());
  Type ctx = CtxType::get(module.getContext());
  auto kernel =
      gpu::GPUFuncOp::create(b, IRISRT_SYM_CLOCK, b.getFunctionType({ctx}, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  b.setInsertionPointToStart(&kernel.getBody().front());
  TraceOp::create(b, TracePhase::Begin, kernel.getArgument(0), "clock",
                  Value());
  gpu::ReturnOp::create(b);
  return success();
}

namespace {
struct IrisPrepareTracesPass
    : iris::impl::IrisPrepareTracesPassBase<IrisPrepareTracesPass> {
  using IrisPrepareTracesPassBase::IrisPrepareTracesPassBase;

  void runOnOperation() override {
    if (!enable) {
      getOperation().walk([](TraceOp trace) { erase(trace); });
      return;
    }
    getOperation().walk([](Operation *op) {
      if (auto wait = dyn_cast<WaitOp>(op))
        enclose(op, wait.getCtx(), "wait");
      else if (auto barrier = dyn_cast<BarrierOp>(op))
        enclose(op, barrier.getCtx(), "barrier");
    });
    // A single kernel for all modules, because they become one image.
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      if (hasTraces(module)) {
        if (failed(addClock(module)))
          signalPassFailure();
        return;
      }
  }
};
} // namespace
