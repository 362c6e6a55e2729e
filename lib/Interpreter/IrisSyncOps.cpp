// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisSyncOps.cpp - Atomics, flags, barriers, packets, checks --------===//
//
// Memory is sequentially consistent, so fences and orderings change no value:
// the reference executes one of the orders that the memory model allows. The
// race checker tells what the model does not order.
#include "Machine.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Iris/IR/IrisChecks.h"
#include "mlir/IR/Location.h"
#include <cmath>

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

/// The buffer of an access that may name a rank.
static Buffer accessed(Program &program, Value buffer, Value rank) {
  const Buffer &local = program.buffer(buffer);
  if (!rank)
    return local;
  int64_t number = program.index(rank);
  return program.failed ? local : program.translate(local, number);
}

/// While it lives, the program's accesses are of this kind.
namespace {
class AccessesAre {
public:
  AccessesAre(Program &program, AccessClass what, Scope scope)
      : program(program), before(program.thread.kind) {
    program.thread.kind = {what, scope};
  }
  ~AccessesAre() { program.thread.kind = before; }
  AccessesAre(const AccessesAre &) = delete;
  AccessesAre &operator=(const AccessesAre &) = delete;

private:
  Program &program;
  AccessKind before;
};
} // namespace

/// The element at `at` is about to be stored to.
static void release(Program &program, const Buffer &buffer, Kind element,
                    ArrayRef<int64_t> at, MemSemantic sem, Scope scope,
                    bool modifies, bool isSignal) {
  if (!program.world.races)
    return;
  int64_t byte = program.locate(buffer, element, at);
  if (byte >= 0)
    program.world.races->release(program, buffer.copy(), byte, sem, scope,
                                 modifies, isSignal);
}

/// The value of the element at `at` was taken.
static void acquire(Program &program, const Buffer &buffer, Kind element,
                    ArrayRef<int64_t> at, MemSemantic sem, Scope scope) {
  if (!program.world.races)
    return;
  int64_t byte = program.locate(buffer, element, at);
  if (byte >= 0)
    program.world.races->acquire(program, buffer.copy(), byte, sem, scope);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// Element `n` of a tile of coordinates.
static int64_t indexAt(Program &program, Value tile, int64_t n) {
  const Element &index = program.get(tile).elements[n];
  program.requireValue(index);
  return static_cast<int64_t>(index.bits);
}

/// Replaces each element of the window, or at the coordinates, by `fn(n, old)`;
/// sets the result to the old elements, 0 where there is none.
template <typename Fn>
static Step update(Program &program, Operation *op, const Buffer &buffer,
                   ValueRange indices, Type type, const Datum *mask,
                   MemSemantic sem, Scope scope, Fn fn) {
  const bool isIndexed = areIndexTiles(indices);
  SmallVector<int64_t> offsets, position(indices.size());
  if (!isIndexed)
    offsets = program.indices(indices);
  Kind element = type;
  SmallVector<Element, 1> result;
  if (program.failed)
    return Step::Next;
  if (!isa<ShapedType>(type) && (!mask || (mask->elements[0].bits & 1)) &&
      !program.checkInside(buffer, offsets))
    return Step::Next;
  ArrayRef<int64_t> shape = shapeOf(type);
  AccessesAre atomic(program, AccessClass::Atomic, scope);
  program.polled = {};
  forEachElement(shape, [&](int64_t n, ArrayRef<int64_t> at) {
    if (program.failed)
      return;
    result.push_back({});
    if (mask && (!program.requireValue(mask->elements[n]) ||
                 (mask->elements[n].bits & 1) == 0))
      return;
    for (size_t dim = 0; dim < position.size(); ++dim)
      position[dim] = isIndexed
                          ? indexAt(program, indices[dim], n)
                          : offsets[dim] + (dim < at.size() ? at[dim] : 0);
    if (program.failed)
      return;
    if (!Program::isInside(buffer, position))
      return;
    Element old = program.load(buffer, element, position);
    result.back() = old;
    if (!isa<ShapedType>(type))
      program.polled = {op, &buffer.copy(),
                        program.locate(buffer, element, position),
                        element.bytes(), old.bits};
    acquire(program, buffer, element, position, sem, scope);
    release(program, buffer, element, position, sem, scope, /*modifies=*/true,
            /*isSignal=*/false);
    program.store(buffer, element, position, fn(n, old));
  });
  program.set(op->getResult(0), Datum(std::move(result)));
  ++program.numAtomics;
  return Step::Next;
}

static Combine combineOf(RMWKind kind) {
  switch (kind) {
  case RMWKind::Add:
    return Combine::Add;
  case RMWKind::Sub:
    return Combine::Sub;
  case RMWKind::Xchg:
    return Combine::Xchg;
  case RMWKind::And:
    return Combine::And;
  case RMWKind::Or:
    return Combine::Or;
  case RMWKind::Xor:
    return Combine::Xor;
  case RMWKind::Min:
    return Combine::Min;
  case RMWKind::Max:
    return Combine::Max;
  case RMWKind::UMin:
    return Combine::UMin;
  case RMWKind::UMax:
    return Combine::UMax;
  }
  llvm_unreachable("unknown kind of atomic");
}

static Step atomicRMW(Program &program, Operation *op) {
  auto atomic = cast<AtomicRMWOp>(op);
  Buffer buffer = accessed(program, atomic.getBuffer(), atomic.getRank());
  const Datum &value = program.get(atomic.getValue());
  const Datum *mask =
      atomic.getMask() ? &program.get(atomic.getMask()) : nullptr;
  Type type = atomic.getValue().getType();
  Combine kind = combineOf(atomic.getKind());
  return update(program, op, buffer, atomic.getOffsets(), type, mask,
                atomic.getSem(), atomic.getScope(),
                [&](int64_t n, Element old) {
                  return combine(kind, type, old, value.elements[n]);
                });
}

static Step atomicCAS(Program &program, Operation *op) {
  auto atomic = cast<AtomicCASOp>(op);
  Buffer buffer = accessed(program, atomic.getBuffer(), atomic.getRank());
  const Datum &expected = program.get(atomic.getCompare());
  const Datum &value = program.get(atomic.getValue());
  return update(
      program, op, buffer, atomic.getOffsets(), atomic.getValue().getType(),
      nullptr, atomic.getSem(), atomic.getScope(), [&](int64_t n, Element old) {
        if (!program.requireValue(old) ||
            !program.requireValue(expected.elements[n]))
          return old;
        return old.bits == expected.elements[n].bits ? value.elements[n] : old;
      });
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

static Step signal(Program &program, Operation *op) {
  auto signal = cast<SignalOp>(op);
  Buffer buffer = accessed(program, signal.getBuffer(), signal.getRank());
  SmallVector<int64_t> at = program.indices(signal.getOffsets());
  Element value = program.scalar(signal.getValue());
  Type type = signal.getValue().getType();
  if (program.failed || !program.checkInside(buffer, at))
    return Step::Next;
  const bool adds = signal.getKind() == SignalKind::Add;
  AccessesAre atomic(program, AccessClass::Atomic, signal.getScope());
  release(program, buffer, type, at, signal.getSem(), signal.getScope(),
          /*modifies=*/adds, /*isSignal=*/true);
  if (adds)
    value = combine(Combine::Add, type, program.load(buffer, type, at), value);
  program.store(buffer, type, at, value);
  return Step::Next;
}

/// Flags are compared by their difference, which wraps.
static bool holds(Comparison comparison, int64_t difference) {
  switch (comparison) {
  case Comparison::EQ:
    return difference == 0;
  case Comparison::NE:
    return difference != 0;
  case Comparison::GE:
    return difference >= 0;
  case Comparison::GT:
    return difference > 0;
  case Comparison::LE:
    return difference <= 0;
  case Comparison::LT:
    return difference < 0;
  }
  llvm_unreachable("unknown comparison");
}

/// "the flag at byte 4 of allocation 3 on rank 0".
static std::string describeFlag(const Buffer &buffer, int64_t byte) {
  return "the flag at byte " + std::to_string(byte) + " of allocation " +
         std::to_string(buffer.allocation->number) + " on rank " +
         std::to_string(buffer.rank);
}

static Step wait(Program &program, Operation *op) {
  auto wait = cast<WaitOp>(op);
  Buffer buffer = accessed(program, wait.getBuffer(), wait.getRank());
  SmallVector<int64_t> at = program.indices(wait.getOffsets());
  Element value = program.scalar(wait.getValue());
  Type type = wait.getValue().getType();
  if (program.failed || !program.checkInside(buffer, at))
    return Step::Next;
  AccessesAre atomic(program, AccessClass::Atomic, wait.getScope());
  Element seen = program.load(buffer, type, at);
  if (program.failed || !program.requireValue(seen))
    return Step::Next;
  int64_t difference = (toInt(type, seen) - toInt(type, value)).getSExtValue();
  if (!holds(wait.getComparison(), difference)) {
    std::string what = describeFlag(buffer, program.locate(buffer, type, at)) +
                       " to be " +
                       stringifyComparison(wait.getComparison()).str() + " " +
                       toText(type, value) + "; it is " + toText(type, seen);
    SmallVector<unsigned, 1> owing;
    if (wait.getOwedBy()) {
      owing.push_back(program.index(wait.getOwedBy()));
      what += "; rank " + std::to_string(owing[0]) + " owes the signal";
    }
    return program.waitFor(&buffer.copy(), std::move(what), owing);
  }
  if (program.world.probing)
    return Step::Next;
  acquire(program, buffer, type, at, wait.getSem(), wait.getScope());
  program.set(op->getResult(0), seen);
  return Step::Next;
}

/// Changes no value: memory is sequentially consistent.
static Step fence(Program &program, Operation *op) {
  auto fence = cast<FenceOp>(op);
  if (program.world.races)
    program.world.races->fence(program, fence.getSem(), fence.getScope());
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// What a barrier stores in its state is not specified.
static void hideState(Operation *op, Allocation::Copy &copy, int64_t byte,
                      int64_t bytes) {
  if (copy.states[byte] == Allocation::Copy::Poison)
    return; // an earlier barrier
  for (int64_t i = byte; i < byte + bytes; ++i) {
    copy.states[i] = Allocation::Copy::Poison;
    copy.origins[i] = op;
  }
}

static Step barrier(Program &program, Operation *op) {
  auto barrier = cast<BarrierOp>(op);
  const Buffer &buffer = program.buffer(barrier.getState());
  std::vector<unsigned> members;
  if (barrier.getGroup()) {
    SmallVector<unsigned> group = groupOf(program);
    members.assign(group.begin(), group.end());
  } else {
    for (unsigned rank = 0; rank < program.world.ranks.size(); ++rank)
      members.push_back(rank);
  }
  int64_t programs = program.grid[0] * program.grid[1] * program.grid[2];
  int64_t needed = 32 * programs * static_cast<int64_t>(members.size());
  if (program.failed)
    return Step::Next;
  if (!buffer.allocation->isSymmetric() || buffer.strides[0] != 1 ||
      buffer.sizes[0] < needed) {
    program.error("has a state of " + Twine(buffer.sizes[0]) +
                  " elements; expected at least " + Twine(needed) +
                  " (32 * programs * ranks) contiguous ones on the heap");
    return Step::Next;
  }
  Type type = barrier.getState().getType();
  int64_t byte = program.locate(buffer, type, {0});
  if (program.failed)
    return Step::Next;
  BarrierState &state = program.world.barriers[{
      buffer.allocation->number, byte, program.linearBlock(), members}];
  if (program.progress == 0) {
    hideState(op, buffer.copy(), byte, needed * Kind(type).bytes());
    state.arrived |= uint64_t(1) << program.rank;
    if (program.world.races)
      program.world.races->arrive(program, state.arriving);
    if (Recorder *recorder = program.world.recorder.get())
      state.arrivingMarks.push_back(recorder->mark(program));
    program.progress = state.generation + 1;
    ++program.numChanges;
    if (llvm::popcount(state.arrived) == static_cast<int>(members.size())) {
      state.arrived = 0;
      ++state.generation;
      state.left = std::move(state.arriving);
      state.arriving = {};
      state.leftMarks = std::move(state.arrivingMarks);
      state.arrivingMarks.clear();
      program.world.wake(nullptr);
    }
  }
  if (program.progress == state.generation + 1) {
    std::string missing;
    SmallVector<unsigned> missingRanks;
    for (unsigned rank : members) {
      if (state.arrived >> rank & 1)
        continue;
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
      missingRanks.push_back(rank);
    }
    return program.waitFor(nullptr, "its peer programs on ranks " + missing,
                           missingRanks);
  }
  if (program.world.races)
    program.world.races->leave(program, state.left);
  if (Recorder *recorder = program.world.recorder.get())
    for (MarkNumber arrival : state.leftMarks)
      recorder->follows(arrival, program);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Packets
//===----------------------------------------------------------------------===//

/// Bytes of a word, and of a word and its flag.
static constexpr int64_t wordBytes = 4, packetBytes = 8;

/// The byte of the first word of a window of `words` words; nothing if it is
/// not inside of the buffer.
static std::optional<int64_t> packetStart(Program &program,
                                          const Buffer &buffer, Type type,
                                          int64_t offset, int64_t words) {
  if (offset % 4 != 0)
    program.error("has the offset " + Twine(offset) +
                  "; expected a multiple of 4");
  if (program.failed || offset < 0 || offset + 2 * words > buffer.sizes[0])
    return std::nullopt;
  return program.locate(buffer, type, {offset});
}

static Step packetStore(Program &program, Operation *op) {
  auto store = cast<PacketStoreOp>(op);
  Buffer buffer = accessed(program, store.getBuffer(), store.getRank());
  int64_t offset = program.index(store.getOffset());
  Element flag = program.scalar(store.getFlag());
  Type type = store.getValue().getType();
  const Datum &value = program.get(store.getValue());
  int64_t bytes = Kind(type).bytes(), total = countOf(type) * bytes;
  std::optional<int64_t> start = packetStart(
      program, buffer, store.getBuffer().getType(), offset, total / wordBytes);
  if (program.failed || !start)
    return Step::Next;
  AccessesAre packet(program, AccessClass::Packet, Scope::Sys);
  Allocation::Copy &copy = buffer.copy();
  for (int64_t at = 0; at < total; ++at) {
    Element element = value.elements[at / bytes];
    Element byte{element.bits >> (8 * (at % bytes)) & 0xff, element.poison};
    program.storeByte(
        copy, *start + at / wordBytes * packetBytes + at % wordBytes, 1, byte);
  }
  for (int64_t word = 0; word < total / wordBytes; ++word)
    program.storeByte(copy, *start + word * packetBytes + wordBytes, wordBytes,
                      flag);
  return Step::Next;
}

static Step packetLoad(Program &program, Operation *op) {
  auto load = cast<PacketLoadOp>(op);
  const Buffer &buffer = program.buffer(load.getBuffer());
  int64_t offset = program.index(load.getOffset());
  Element flag = program.scalar(load.getFlag());
  Type type = load.getResult().getType();
  int64_t bytes = Kind(type).bytes(), total = countOf(type) * bytes;
  std::optional<int64_t> start = packetStart(
      program, buffer, load.getBuffer().getType(), offset, total / wordBytes);
  if (program.failed)
    return Step::Next;
  SmallVector<Element, 1> result(countOf(type));
  if (!start) {
    program.set(op->getResult(0), Datum(std::move(result)));
    return Step::Next;
  }
  AccessesAre packet(program, AccessClass::Packet, Scope::Sys);
  Allocation::Copy &copy = buffer.copy();
  for (int64_t word = 0; word < total / wordBytes; ++word) {
    int64_t at = *start + word * packetBytes + wordBytes;
    Element seen = program.loadByte(copy, at, wordBytes, 32);
    if (program.failed || !program.requireValue(seen))
      return Step::Next;
    if (seen.bits != flag.bits)
      return program.waitFor(&copy, describeFlag(buffer, at) + " to be " +
                                        std::to_string(flag.bits) + "; it is " +
                                        std::to_string(seen.bits));
  }
  if (program.world.probing)
    return Step::Next;
  for (int64_t at = 0; at < total; ++at) {
    Element byte = program.loadByte(
        copy, *start + at / wordBytes * packetBytes + at % wordBytes, 1, 8);
    Element &element = result[at / bytes];
    element.bits |= byte.bits << (8 * (at % bytes));
    if (byte.poison)
      element.poison = byte.poison;
  }
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

static std::optional<Awaited> awaitedByLoad(Program &program,
                                            PacketLoadOp load) {
  const Buffer &buffer = program.buffer(load.getBuffer());
  int64_t words = countOf(load.getResult().getType()) *
                  Kind(load.getResult().getType()).bytes() / wordBytes;
  std::optional<int64_t> start =
      packetStart(program, buffer, load.getBuffer().getType(),
                  program.index(load.getOffset()), words);
  if (program.failed || !start)
    return std::nullopt;
  Awaited result{&buffer.copy(), {}, wordBytes, nullptr};
  for (int64_t word = 0; word < words; ++word)
    result.bytes.push_back(*start + word * packetBytes + wordBytes);
  const uint64_t flag = program.scalar(load.getFlag()).bits;
  result.holds = [flag](uint64_t bits) { return bits == flag; };
  return result;
}

std::optional<Awaited> mlir::iris::interp::awaitedBy(Program &program) {
  Operation *op = program.current();
  if (program.spins) {
    const Polled &polled = program.polled;
    Awaited result{polled.copy, {polled.byte}, polled.bytes, nullptr};
    result.holds = [seen = polled.bits](uint64_t bits) { return bits != seen; };
    return result;
  }
  if (auto load = dyn_cast<PacketLoadOp>(op))
    return awaitedByLoad(program, load);
  auto wait = cast<WaitOp>(op);
  Buffer buffer = accessed(program, wait.getBuffer(), wait.getRank());
  SmallVector<int64_t> at = program.indices(wait.getOffsets());
  Kind type = wait.getValue().getType();
  if (program.failed || !program.checkInside(buffer, at))
    return std::nullopt;
  llvm::APInt value = toInt(type, program.scalar(wait.getValue()));
  Awaited result{
      &buffer.copy(), {program.locate(buffer, type, at)}, type.bytes(), {}};
  result.holds = [type, value,
                  comparison = wait.getComparison()](uint64_t bits) {
    return holds(comparison, (toInt(type, {bits}) - value).getSExtValue());
  };
  return result;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool meets(Kind type, Element got, Element want,
                  std::optional<double> tolerance) {
  if (isEqual(type, got, want))
    return true;
  return type.isFloat() && tolerance &&
         std::fabs(toDouble(type, got) - toDouble(type, want)) <= *tolerance;
}

std::string mlir::iris::interp::locationText(Location location) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto line = location->findInstanceOf<FileLineColLoc>())
    os << line.getFilename().getValue() << ":" << line.getLine() << ":"
       << line.getColumn();
  else
    os << location;
  return text;
}

static std::string kernelName(Operation *function) {
  std::string name = SymbolTable::getSymbolName(function).str();
  if (auto module = function->getParentOfType<gpu::GPUModuleOp>())
    name = module.getName().str() + "::" + name;
  return name;
}

static Step expect(Program &program, Operation *op) {
  auto expect = cast<ExpectEqOp>(op);
  const Datum &got = program.get(expect.getGot());
  const Datum &want = program.get(expect.getWant());
  if (program.failed)
    return Step::Next;
  Kind type = expect.getGot().getType();
  std::optional<double> tolerance;
  if (std::optional<llvm::APFloat> tol = expect.getTol())
    tolerance = tol->convertToDouble();
  RankChecks &checks = program.world.ranks[program.rank].checks;
  for (size_t n = 0; n < got.elements.size(); ++n) {
    if (!program.requireValue(got.elements[n]) ||
        !program.requireValue(want.elements[n]))
      return Step::Next;
    ++checks.checked;
    if (meets(type, got.elements[n], want.elements[n], tolerance))
      continue;
    if (checks.failed++ != 0)
      continue;
    checks.first = "iris.expect_eq at " + locationText(op->getLoc()) + " in " +
                   kernelName(program.function) + ", program (" +
                   std::to_string(program.block[0]) + ", " +
                   std::to_string(program.block[1]) + ", " +
                   std::to_string(program.block[2]) + "), element " +
                   std::to_string(n) + ": got " +
                   toText(type, got.elements[n]) + ", want " +
                   toText(type, want.elements[n]);
    if (!expect.getWhat().empty())
      checks.first += ": " + expect.getWhat().str();
  }
  return Step::Next;
}

static Step check(Program &program, Operation *op) {
  auto check = cast<CheckOp>(op);
  int64_t value = program.index(check.getValue());
  int64_t bound = program.index(check.getBound());
  bool valid =
      check.getAtLeast() ? value >= bound : value >= 0 && value < bound;
  if (!valid)
    program.error("checks " + Twine(value) + "; expected " +
                  (check.getAtLeast() ? "at least " : "0 or more, less than ") +
                  Twine(bound));
  return Step::Next;
}

/// Traces have no meaning for the program.
static Step trace(Program &, Operation *) { return Step::Next; }

void mlir::iris::interp::addIrisSyncOps(World &world) {
  world.add("iris.atomic_rmw", atomicRMW, Point::Sync);
  world.add("iris.atomic_cas", atomicCAS, Point::Sync);
  world.add("iris.signal", signal, Point::Sync);
  world.add("iris.wait", wait, Point::Wait);
  world.add("iris.fence", fence, Point::Access);
  world.add("iris.barrier", barrier, Point::Access);
  world.add("iris.packet_store", packetStore, Point::Sync);
  world.add("iris.packet_load", packetLoad, Point::Wait);
  world.add("iris.expect_eq", expect);
  world.add("iris.check", check);
  world.add("iris.trace", trace);
}
