// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelWalker.cpp - Follows the accesses of one program -------------===//
#include "KernelWalker.h"

#include "iris/Dialect/Iris/IR/IrisChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

/// Whether other programs can see that the op executes, other than by plain
/// accesses.
static bool isSynchronizing(Operation *op) {
  return isa<SignalOp, WaitOp, BarrierOp, FenceOp, AtomicRMWOp, AtomicCASOp,
             PacketStoreOp, PacketLoadOp, func::CallOp>(op);
}

/// The buffers that a plain access writes to.
static SmallVector<Value, 2> getWrittenBuffers(Operation *op) {
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    interface.getEffects(effects);
  SmallVector<Value, 2> buffers;
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (isa<MemoryEffects::Write>(effect.getEffect()))
      buffers.push_back(effect.getValue());
  return buffers;
}

void KernelWalker::addEvent(Event event) {
  if (memory)
    memory->apply(event);
  trace.events.push_back(std::move(event));
}

bool KernelWalker::runMatmul(tile::MatmulOp matmul) {
  Region &region = matmul->getRegion(0);
  if (region.empty())
    return true;
  bool hasEffects = false;
  region.walk([&](Operation *op) {
    hasEffects |= op != region.getParentOp() && !isMemoryEffectFree(op);
  });
  if (!hasEffects)
    return true;
  std::optional<int64_t> length = values.getNumber(matmul.getK());
  int64_t block = matmul.getBlock();
  if (!length || block <= 0)
    return stop(matmul, "the number of its k-blocks is not known");
  Block &body = region.front();
  for (int64_t i = 0; i * block < *length; ++i) {
    Value counter = body.getArgument(0);
    values.set(counter, Scalar{IntegerAttr::get(counter.getType(), i), {}});
    if (!budget.take() || !run(body))
      return stop(matmul, "the program executes too many ops");
  }
  return true;
}

/// The atomic of a loop that does nothing but repeat it until the element has
/// had the expected value; null if the loop is another one.
static AtomicCASOp findPolling(scf::WhileOp loop) {
  if (loop->getNumResults() != 0 || !loop.getInits().empty() ||
      !llvm::hasSingleElement(*loop.getAfterBody()))
    return {};
  AtomicCASOp cas;
  for (Operation &op : loop.getBeforeBody()->without_terminator()) {
    if (auto found = dyn_cast<AtomicCASOp>(op)) {
      if (cas)
        return {};
      cas = found;
    } else if (!isMemoryEffectFree(&op) || op.getNumRegions() > 0) {
      return {};
    }
  }
  auto again =
      loop.getConditionOp().getCondition().getDefiningOp<arith::CmpIOp>();
  if (!cas || !again || again.getPredicate() != arith::CmpIPredicate::ne)
    return {};
  bool isUntilExpected =
      (again.getLhs() == cas.getResult() &&
       again.getRhs() == cas.getCompare()) ||
      (again.getRhs() == cas.getResult() && again.getLhs() == cas.getCompare());
  return isUntilExpected ? cas : AtomicCASOp();
}

bool KernelWalker::runPolling(AtomicCASOp cas) {
  for (Operation &op : cas->getBlock()->without_terminator())
    if (isMemoryEffectFree(&op))
      values.evaluate(&op);
  if (!visit(cas))
    return false;
  trace.events.back().isPolling = true;
  return true;
}

bool KernelWalker::addUnknown(Operation *op) {
  if (isSynchronizing(op))
    return stop(op, "it is executed under a condition that is not known");
  if (!isa<MemoryEffectOpInterface>(op))
    return stop(op, "its effects are not known");
  for (Value written : getWrittenBuffers(op)) {
    Buffer buffer = written ? values.getBuffer(written) : Buffer();
    if (buffer.root != Buffer::kPrivate)
      addOverwrite(op, buffer);
  }
  return true;
}

bool KernelWalker::skip(Operation *op) {
  Operation *blocking = nullptr;
  op->walk([&](Operation *nested) {
    if (nested == op)
      return WalkResult::advance();
    bool isKnown =
        isMemoryEffectFree(nested) || nested->getNumRegions() > 0 ||
        isa<memref::AllocaOp, ExpectEqOp, TraceOp, CheckOp, gpu::BarrierOp>(
            nested) ||
        (!isSynchronizing(nested) && isa<MemoryEffectOpInterface>(nested));
    if (isKnown)
      return WalkResult::advance();
    blocking = nested;
    return WalkResult::interrupt();
  });
  if (blocking)
    return stop(blocking, "whether, or how often, it is executed is not known");
  // It may be that none of the writes is executed: only what they may change is
  // forgotten.
  op->walk([&](Operation *nested) {
    if (isMemoryEffectFree(nested) || nested->getNumRegions() > 0 ||
        isa<memref::AllocaOp, ExpectEqOp, TraceOp, CheckOp, gpu::BarrierOp>(
            nested))
      return;
    for (Value written : getWrittenBuffers(nested)) {
      // A buffer that is computed in the region may be any.
      Buffer buffer;
      if (written && !op->isAncestor(written.getParentBlock()->getParentOp()))
        buffer = values.getBuffer(written);
      buffer.rank.reset();
      if (buffer.root != Buffer::kPrivate)
        addOverwrite(nested, buffer);
    }
  });
  return true;
}

/// Whether an access is volatile; it may be one that a program polls.
static bool isVolatile(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<tile::LoadOp, tile::StoreOp, tile::ScatterOp, LoadOp, StoreOp,
            GetOp, PutOp, CopyOp>(
          [](auto access) { return access.getIsVolatile(); })
      .Default([](Operation *) { return false; });
}

bool KernelWalker::visit(Operation *op) {
  using Kind = Event::Kind;
  if (isVolatile(op))
    return addUnknown(op);
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ExpectEqOp, TraceOp, CheckOp, gpu::BarrierOp>(
          [](auto) { return true; })
      .Case([&](memref::AllocaOp alloca) {
        values.set(alloca.getResult(), Buffer{Buffer::kPrivate});
        return true;
      })
      .Case([&](tile::LoadOp load) {
        return addWindow(load, load.getSource(), load.getOffsets(), {},
                         cast<RankedTensorType>(load.getType()).getShape(),
                         false);
      })
      .Case([&](tile::StoreOp store) {
        return addWindow(
            store, store.getDestination(), store.getOffsets(), {},
            cast<RankedTensorType>(store.getValue().getType()).getShape(),
            true);
      })
      .Case([&](LoadOp load) {
        return addWindow(
            load, load.getSource(), load.getOffsets(), load.getRank(),
            cast<RankedTensorType>(load.getType()).getShape(), false);
      })
      .Case([&](StoreOp store) {
        return addWindow(
            store, store.getDestination(), store.getOffsets(), store.getRank(),
            cast<RankedTensorType>(store.getValue().getType()).getShape(),
            true);
      })
      .Case([&](GetOp get) {
        return addTransfer(get, get.getSource(), get.getSourceOffsets(),
                           get.getRank(), get.getDestination(),
                           get.getDestinationOffsets(), {}, get.getShape(),
                           bool(get.getMask()));
      })
      .Case([&](PutOp put) {
        return addTransfer(put, put.getSource(), put.getSourceOffsets(), {},
                           put.getDestination(), put.getDestinationOffsets(),
                           put.getRank(), put.getShape(), bool(put.getMask()));
      })
      .Case([&](CopyOp copy) {
        return addTransfer(copy, copy.getSource(), copy.getSourceOffsets(),
                           copy.getFromRank(), copy.getDestination(),
                           copy.getDestinationOffsets(), copy.getToRank(),
                           copy.getShape(), bool(copy.getMask()));
      })
      .Case([&](memref::LoadOp load) { return addLoad(load); })
      .Case([&](tile::ScatterOp scatter) { return addScatter(scatter); })
      .Case([&](PacketStoreOp store) {
        return addPackets(store, Kind::PacketStore, store.getBuffer(),
                          store.getOffset(), store.getRank(), store.getFlag(),
                          store.getValue().getType());
      })
      .Case([&](PacketLoadOp load) {
        return addPackets(load, Kind::PacketLoad, load.getBuffer(),
                          load.getOffset(), {}, load.getFlag(), load.getType());
      })
      .Case([&](memref::StoreOp store) {
        return addWindow(store, store.getMemRef(), store.getIndices(), {}, {},
                         true, store.getValue());
      })
      .Case([&](SignalOp signal) {
        return addFlag(signal, Kind::Signal, signal.getBuffer(),
                       signal.getOffsets(), signal.getRank(), signal.getValue(),
                       signal.getSem(), signal.getScope());
      })
      .Case([&](WaitOp wait) {
        return addFlag(wait, Kind::Wait, wait.getBuffer(), wait.getOffsets(),
                       wait.getRank(), wait.getValue(), wait.getSem(),
                       wait.getScope());
      })
      .Case([&](AtomicRMWOp atomic) {
        if (atomic.getMask())
          return stop(op, "it is an atomic with a mask");
        return addFlag(atomic, Kind::Atomic, atomic.getBuffer(),
                       atomic.getOffsets(), atomic.getRank(), atomic.getValue(),
                       atomic.getSem(), atomic.getScope());
      })
      .Case([&](AtomicCASOp atomic) {
        return addFlag(atomic, Kind::Atomic, atomic.getBuffer(),
                       atomic.getOffsets(), atomic.getRank(), atomic.getValue(),
                       atomic.getSem(), atomic.getScope(), atomic.getCompare());
      })
      .Case([&](BarrierOp barrier) { return addBarrier(barrier); })
      .Case([&](FenceOp fence) {
        Event event{Kind::Fence, fence};
        event.sem = fence.getSem();
        event.scope = fence.getScope();
        addEvent(std::move(event));
        return true;
      })
      .Case([&](tile::MatmulOp matmul) { return runMatmul(matmul); })
      .Case([&](scf::WhileOp loop) {
        if (AtomicCASOp cas = findPolling(loop))
          return runPolling(cas);
        // It may poll.
        bool hasEffects = false;
        loop->walk([&](Operation *nested) {
          hasEffects |=
              nested->getNumRegions() == 0 && !isMemoryEffectFree(nested);
        });
        return !hasEffects || stop(op, "how often it is executed is not known");
      })
      .Default([&](Operation *) {
        return op->getNumRegions() > 0 ? skip(op) : addUnknown(op);
      });
}
