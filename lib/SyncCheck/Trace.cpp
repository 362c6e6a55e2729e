// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Trace.cpp - The accesses of one program ----------------------------===//
#include "Trace.h"

#include "Memory.h"

#include "iris/Dialect/Iris/IR/IrisChecks.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

namespace {
class KernelWalker : public Walker {
public:
  KernelWalker(Values &values, Budget &budget, SymbolTableCollection &symbols,
               Trace &trace, Memory *memory)
      : Walker(values, budget, symbols), trace(trace), memory(memory) {}

protected:
  bool visit(Operation *op) override;
  bool skip(Operation *op) override;

private:
  enum class Target { Ok, Unknown, Private };

  void addEvent(Event event);
  /// The copy of `buffer` that is accessed; `rank` may be null.
  Target findCopy(Operation *op, Value buffer, Value rank, Buffer &copy);
  std::optional<SmallVector<int64_t, 2>>
  locate(const Buffer &buffer, MemRefType type, ValueRange offsets);
  bool addWindow(Operation *op, Value buffer, ValueRange offsets, Value rank,
                 ArrayRef<int64_t> shape, bool writes, Value stored = {});
  bool addTransfer(Operation *op, Value source, ValueRange sourceOffsets,
                   Value from, Value destination, ValueRange offsets, Value to,
                   ArrayRef<int64_t> shape, bool isMasked);
  void addOverwrite(Operation *op, Buffer buffer);
  /// Adds an access to one flag.
  bool addFlag(Operation *op, Event::Kind kind, Value buffer,
               ValueRange offsets, Value rank, Value value, MemSemantic sem,
               Scope scope, Value compare = {});
  bool addPackets(Operation *op, Event::Kind kind, Value buffer, Value offset,
                  Value rank, Value flag, Type tile);
  bool addScatter(tile::ScatterOp scatter);
  bool addLoad(memref::LoadOp load);
  bool addBarrier(BarrierOp barrier);
  bool addUnknown(Operation *op);
  bool runMatmul(tile::MatmulOp matmul);
  bool runPolling(AtomicCASOp cas);

  Trace &trace;
  Memory *memory;
};
} // namespace

bool Event::overlaps(const Event &other) const {
  for (auto [first, size, otherFirst, otherSize] :
       llvm::zip(offsets, shape, other.offsets, other.shape))
    if (first + size <= otherFirst || otherFirst + otherSize <= first)
      return false;
  return true;
}

std::optional<Bytes> Event::getBytes() const {
  if (offsets.size() != 1)
    return std::nullopt;
  int64_t from = offsets.front();
  if (!shape.empty())
    return Bytes{from, from + shape.front()};
  return Bytes{from, from + tile::getElementBytes(type)};
}

void KernelWalker::addEvent(Event event) {
  if (memory)
    memory->apply(event);
  trace.events.push_back(std::move(event));
}

KernelWalker::Target KernelWalker::findCopy(Operation *op, Value buffer,
                                            Value rank, Buffer &copy) {
  copy = values.getBuffer(buffer);
  if (copy.root == Buffer::kPrivate)
    return Target::Private;
  if (copy.root == Buffer::kUnknown)
    return Target::Unknown;
  if (rank) {
    std::optional<int64_t> number = values.getNumber(rank);
    copy.rank.reset();
    if (!number)
      return Target::Unknown;
    copy.rank = *number;
  }
  const Position &position = values.getPosition();
  if (!copy.rank)
    copy.rank = position.rank;
  if (*copy.rank >= position.numRanks && !trace.outside)
    trace.outside = op;
  return Target::Ok;
}

void KernelWalker::addOverwrite(Operation *op, Buffer buffer) {
  Event event{Event::Kind::Overwrite, op, buffer};
  event.writes = true;
  addEvent(std::move(event));
}

/// Takes elements outside of the buffer out of a window; false if none is left.
static bool clip(Event &event, MemRefType type) {
  const Buffer &buffer = event.buffer;
  for (auto [dim, size] : llvm::enumerate(buffer.sizes)) {
    int64_t first = dim < buffer.origin.size() ? buffer.origin[dim] : 0;
    int64_t end = event.offsets[dim] + event.shape[dim];
    if (size)
      end = std::min(end, first + *size * getUnit(type));
    event.offsets[dim] = std::max(event.offsets[dim], first);
    event.shape[dim] = end - event.offsets[dim];
    if (event.shape[dim] <= 0)
      return false;
  }
  return true;
}

/// The coordinates of an element in its allocation.
std::optional<SmallVector<int64_t, 2>>
KernelWalker::locate(const Buffer &buffer, MemRefType type,
                     ValueRange offsets) {
  if (!buffer.isExact || !type.getElementType().isIntOrIndexOrFloat())
    return std::nullopt;
  SmallVector<int64_t, 2> element = buffer.origin;
  element.resize(type.getRank(), 0);
  for (auto [at, offset] : llvm::zip(element, offsets)) {
    std::optional<int64_t> number = values.getIndex(offset);
    if (!number)
      return std::nullopt;
    at += *number * getUnit(type);
  }
  return element;
}

bool KernelWalker::addWindow(Operation *op, Value buffer, ValueRange offsets,
                             Value rank, ArrayRef<int64_t> shape, bool writes,
                             Value stored) {
  Event event{Event::Kind::Access, op};
  Target target = findCopy(op, buffer, rank, event.buffer);
  if (target == Target::Private)
    return true;
  auto type = cast<MemRefType>(buffer.getType());
  auto element = locate(event.buffer, type, offsets);
  if (target == Target::Unknown || !element) {
    if (writes)
      addOverwrite(op, event.buffer);
    return true;
  }
  event.offsets = std::move(*element);
  event.isElement = shape.empty();
  // A tile may have fewer dimensions than the buffer: they are the last.
  event.shape.assign(event.offsets.size(), getUnit(type));
  for (auto [extent, size] :
       llvm::zip(llvm::reverse(event.shape), llvm::reverse(shape)))
    extent *= size;
  if (!clip(event, type))
    return true;
  event.writes = writes;
  if (stored)
    event.value = values.get(stored);
  addEvent(std::move(event));
  return true;
}

bool KernelWalker::addTransfer(Operation *op, Value source,
                               ValueRange sourceOffsets, Value from,
                               Value destination, ValueRange offsets, Value to,
                               ArrayRef<int64_t> shape, bool isMasked) {
  if (isMasked) {
    Buffer buffer;
    if (findCopy(op, destination, to, buffer) != Target::Private)
      addOverwrite(op, buffer);
    return true;
  }
  return addWindow(op, source, sourceOffsets, from, shape, /*writes=*/false) &&
         addWindow(op, destination, offsets, to, shape, /*writes=*/true);
}

bool KernelWalker::addFlag(Operation *op, Event::Kind kind, Value buffer,
                           ValueRange offsets, Value rank, Value value,
                           MemSemantic sem, Scope scope, Value compare) {
  Event event{kind, op};
  if (findCopy(op, buffer, rank, event.buffer) != Target::Ok)
    return stop(op, "its buffer or rank is not known");
  auto element =
      locate(event.buffer, cast<MemRefType>(buffer.getType()), offsets);
  if (!element)
    return stop(op, "the index of its flag is not known");
  event.offsets = std::move(*element);
  if (!value.getType().isIntOrIndex())
    return stop(op, "it is an atomic of a tile or of floats");
  event.type = value.getType();
  event.value = values.get(value);
  if (compare)
    event.compare = values.get(compare);
  event.writes = kind != Event::Kind::Wait;
  event.sem = sem;
  event.scope = scope;
  addEvent(std::move(event));
  return true;
}

bool KernelWalker::addPackets(Operation *op, Event::Kind kind, Value buffer,
                              Value offset, Value rank, Value flag, Type tile) {
  Event event{kind, op};
  if (findCopy(op, buffer, rank, event.buffer) != Target::Ok)
    return stop(op, "its buffer or rank is not known");
  // Whether its window is inside of the buffer, without which it does nothing.
  if (event.buffer.sizes.empty() || !event.buffer.sizes.front())
    return stop(op, "the size of its buffer is not known");
  auto type = cast<MemRefType>(buffer.getType());
  auto first = locate(event.buffer, type, offset);
  event.value = values.get(flag);
  if (!first || !event.value.isKnown())
    return stop(op, "its offset or flag is not known");
  // A word of the tile, and a flag beside it.
  auto shaped = cast<RankedTensorType>(tile);
  int64_t bytes = 2 * shaped.getNumElements() *
                  tile::getElementBytes(shaped.getElementType());
  Event window = event;
  window.offsets = event.offsets = std::move(*first);
  window.shape = event.shape = {bytes};
  // A window that is not inside of the buffer is neither written nor awaited.
  if (!clip(window, type) || window.shape != event.shape)
    return true;
  event.writes = kind == Event::Kind::PacketStore;
  addEvent(std::move(event));
  return true;
}

/// Stores of single elements, as far as their coordinates are known.
bool KernelWalker::addScatter(tile::ScatterOp scatter) {
  Event element{Event::Kind::Access, scatter};
  Target target =
      findCopy(scatter, scatter.getDestination(), {}, element.buffer);
  if (target == Target::Private)
    return true;
  auto type = cast<MemRefType>(scatter.getDestination().getType());
  if (target == Target::Unknown || !element.buffer.isExact ||
      type.getRank() != 1)
    return addUnknown(scatter);
  DenseIntElementsAttr indices = values.getTile(scatter.getIndices().front());
  DenseIntElementsAttr mask;
  if (scatter.getMask())
    mask = values.getTile(scatter.getMask());
  if (!indices || (scatter.getMask() && !mask))
    return addUnknown(scatter);
  DenseIntElementsAttr stored = values.getTile(scatter.getValue());
  int64_t unit = getUnit(type);
  int64_t origin =
      element.buffer.origin.empty() ? 0 : element.buffer.origin.front();
  element.isElement = element.writes = true;
  std::vector<Event> elements;
  llvm::SmallDenseSet<int64_t> known;
  for (int64_t i = 0, e = indices.getNumElements(); i < e; ++i) {
    if (mask && !mask.getValues<bool>()[i])
      continue;
    int64_t index = indices.getValues<APInt>()[i].getSExtValue();
    // Which one of two stores is the last is not specified.
    if (std::abs(index) > kMostIndex || !known.insert(index).second)
      return addUnknown(scatter);
    Event event = element;
    event.offsets = {origin + index * unit};
    event.shape = {unit};
    if (stored)
      event.value.number = IntegerAttr::get(stored.getElementType(),
                                            stored.getValues<APInt>()[i]);
    if (clip(event, type))
      elements.push_back(std::move(event));
  }
  for (Event &event : elements)
    addEvent(std::move(event));
  return true;
}

/// A load of one element, whose value is known if only this rank's programs
/// store to it.
bool KernelWalker::addLoad(memref::LoadOp load) {
  size_t before = trace.events.size();
  addWindow(load, load.getMemRef(), load.getIndices(), {}, {}, false);
  if (!memory || trace.events.size() == before ||
      !load.getType().isIntOrIndex())
    return true;
  Event &read = trace.events.back();
  read.value = memory->load(read, load.getType());
  if (read.value.isKnown())
    values.set(load.getResult(), read.value);
  return true;
}

bool KernelWalker::addBarrier(BarrierOp barrier) {
  Event event{Event::Kind::Barrier, barrier};
  if (findCopy(barrier, barrier.getState(), {}, event.buffer) != Target::Ok ||
      !event.buffer.isExact)
    return stop(barrier, "its state is not known");
  const Position &position = values.getPosition();
  if (!position.group.empty() && !barrier.getGroup())
    return stop(barrier, "its group is not the launch's");
  // It stores epochs to the states of all ranks.
  event.writes = true;
  event.buffer.rank.reset();
  const Buffer &state = event.buffer;
  if (!state.sizes.empty() && state.sizes.front()) {
    auto type = cast<MemRefType>(barrier.getState().getType());
    event.offsets.assign(state.origin.begin(), state.origin.end());
    event.offsets.resize(1, 0);
    event.shape = {*state.sizes.front() * getUnit(type)};
  }
  addEvent(std::move(event));
  return true;
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

/// A loop that polls: it waits for the element to have the expected value.
bool KernelWalker::runPolling(AtomicCASOp cas) {
  for (Operation &op : cas->getBlock()->without_terminator())
    if (isMemoryEffectFree(&op))
      values.evaluate(&op);
  if (!visit(cas))
    return false;
  trace.events.back().isPolling = true;
  return true;
}

/// An op whose accesses are not known element by element.
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

Trace mlir::iris::sync::traceKernel(
    gpu::GPUFuncOp kernel, const Position &position,
    ArrayRef<std::pair<Scalar, Buffer>> arguments, Budget &budget,
    SymbolTableCollection &symbols, Memory *memory) {
  Trace trace;
  trace.position = position;
  Values values(trace.position);
  for (auto [argument, known] : llvm::zip(kernel.getArguments(), arguments)) {
    if (known.first.isKnown())
      values.set(argument, known.first);
    if (known.second.root != Buffer::kUnknown)
      values.set(argument, known.second);
  }
  KernelWalker walker(values, budget, symbols, trace, memory);
  if (!kernel.getBody().hasOneBlock()) {
    trace.limit = kernel;
    trace.reason = "it has several blocks";
    return trace;
  }
  walker.run(kernel.getBody().front());
  trace.limit = walker.getLimit();
  trace.reason = walker.getReason();
  return trace;
}
