// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Execution.cpp - One order of all programs --------------------------===//
#include "Execution.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Execution::Execution(const World &world, Order order)
    : world(world), order(order), streams(world.numRanks) {
  createContents();
}

/// Creates all flags and packets, so that plain stores find them.
void Execution::createContents() {
  for (const auto &stream : world.streams)
    for (const StreamItem &item : stream)
      for (const Trace &trace : item.programs)
        for (const Event &event : trace.events) {
          if (event.isPackets())
            packets[{event.buffer.root, *event.buffer.rank}];
          if (!event.type)
            continue;
          Flag &flag = flags[FlagKey{event.buffer.root, *event.buffer.rank,
                                     event.offsets}];
          flag.bytes = llvm::divideCeil(
              event.type.isIndex() ? 64 : event.type.getIntOrFloatBitWidth(),
              8);
          if (world.isWhole)
            flag.value.number = IntegerAttr::get(event.type, 0);
        }
}

Execution::Flag *Execution::findFlag(const Event &event) {
  auto found =
      flags.find(FlagKey{event.buffer.root, *event.buffer.rank, event.offsets});
  return found == flags.end() ? nullptr : &found->second;
}

void Execution::startLaunch(unsigned rank) {
  Stream &stream = streams[rank];
  const StreamItem &item = world.streams[rank][stream.item];
  for (auto [block, trace] : llvm::enumerate(item.programs)) {
    auto [number, isNew] =
        threadNumbers.try_emplace({rank, block}, threads.size());
    if (isNew)
      threads.emplace_back();
    Program program;
    program.trace = &trace;
    program.rank = rank;
    program.item = stream.item;
    program.thread = number->second;
    program.block = block;
    programs.push_back(std::move(program));
    stream.programs.push_back(&programs.back());
    threads[number->second].past.join(stream.past);
  }
  stream.isStarted = true;
}

/// Ends a collective or a sync, to which all members have come.
bool Execution::finishTogether(unsigned rank) {
  const StreamItem &item = world.streams[rank][streams[rank].item];
  for (unsigned member : item.members) {
    if (streams[member].item == world.streams[member].size())
      return false;
    const StreamItem &other = world.streams[member][streams[member].item];
    // Any sync of one rank meets any of another one.
    if (other.kind != item.kind ||
        (item.kind == HostEvent::Kind::Collective && other.op != item.op))
      return false;
  }
  Past all;
  for (unsigned member : item.members)
    all.join(streams[member].past);
  for (unsigned member : item.members) {
    streams[member].past = all;
    Stream &stream = streams[member];
    for (const Buffer &buffer : world.streams[member][stream.item].buffers)
      forgetFlags(buffer.root, std::nullopt);
    ++stream.item;
  }
  return true;
}

/// Lets a rank go on. True if something was executed.
bool Execution::advanceStream(unsigned rank) {
  Stream &stream = streams[rank];
  bool hasAdvanced = false;
  while (stream.item < world.streams[rank].size()) {
    const StreamItem &item = world.streams[rank][stream.item];
    if (item.kind != HostEvent::Kind::Launch) {
      if (!finishTogether(rank))
        return hasAdvanced;
      hasAdvanced = true;
      continue;
    }
    if (!stream.isStarted) {
      startLaunch(rank);
      hasAdvanced = true;
    }
    bool haveEnded = !item.isPartial;
    for (Program *program : stream.programs) {
      hasAdvanced |= runProgram(*program);
      haveEnded &= program->isAtEnd() && !program->trace->limit;
    }
    if (!haveEnded)
      return hasAdvanced;
    for (Program *program : stream.programs) {
      Thread &thread = threads[program->thread];
      thread.past.set(program->thread, thread.step++);
      stream.past.join(thread.past);
    }
    stream.programs.clear();
    stream.isStarted = false;
    ++stream.item;
    if (order == Order::Alternating)
      break;
  }
  return hasAdvanced;
}

void Execution::run() {
  bool hasAdvanced = true;
  while (hasAdvanced) {
    hasAdvanced = false;
    for (unsigned i : llvm::seq(world.numRanks))
      hasAdvanced |= advanceStream(
          order == Order::Descending ? world.numRanks - 1 - i : i);
  }
}

bool Execution::runProgram(Program &program) {
  bool hasAdvanced = false;
  while (!program.isAtEnd() && execute(program)) {
    ++program.next;
    hasAdvanced = true;
    if (order == Order::Alternating)
      break;
  }
  return hasAdvanced;
}

bool Execution::isBlocked(const Program &program) {
  return !program.isAtEnd() && program.event(program.next).mayBlock();
}

SmallVector<const Program *> Execution::getStuck() const {
  SmallVector<const Program *> stuck;
  if (!world.isComplete || isUndecided)
    return stuck;
  for (auto [stream, items] : llvm::zip(streams, world.streams))
    if (stream.item < items.size() &&
        items[stream.item].kind == HostEvent::Kind::Collective)
      return stuck;
  for (const Program &program : programs)
    if (isBlocked(program))
      stuck.push_back(&program);
  return stuck;
}

void Execution::forEachEvent(
    llvm::function_ref<void(const Event &, const Program *, bool)> visit)
    const {
  llvm::DenseSet<const Trace *> begun;
  for (const Program &program : programs) {
    begun.insert(program.trace);
    for (auto [i, event] : llvm::enumerate(program.trace->events))
      visit(event, &program, /*isPending=*/i >= program.next);
  }
  for (const auto &stream : world.streams)
    for (const StreamItem &item : stream)
      for (const Trace &trace : item.programs)
        if (!begun.contains(&trace))
          for (const Event &event : trace.events)
            visit(event, /*program=*/nullptr, /*isPending=*/true);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Whether `scope`, of an access by a thread, takes in another thread.
static bool takesIn(Scope scope, unsigned thread, unsigned rank, unsigned other,
                    unsigned otherRank) {
  switch (scope) {
  case Scope::Block:
    return thread == other;
  case Scope::Gpu:
    return rank == otherRank;
  case Scope::Sys:
    return true;
  }
  llvm_unreachable("unknown scope");
}

/// What a synchronizing op of the program publishes.
Release Execution::release(Program &program, const Event &event) {
  Thread &thread = threads[program.thread];
  thread.past.set(program.thread, thread.step++);
  if (event.isRelease())
    thread.released = thread.past.clock;
  Release release;
  // Relaxed writes publish what the last release before them did.
  release.past.clock = thread.released;
  release.past.meant = thread.past.meant;
  release.scope = event.scope;
  release.thread = program.thread;
  release.rank = program.rank;
  return release;
}

/// Takes in what the writes of a flag have published.
void Execution::acquire(Program &program, const Event &event,
                        const Flag &flag) {
  Thread &thread = threads[program.thread];
  for (const Release &release : flag.releases) {
    thread.past.meant.join(release.past.meant);
    if (takesIn(release.scope, release.thread, release.rank, program.thread,
                program.rank) &&
        takesIn(event.scope, program.thread, program.rank, release.thread,
                release.rank))
      thread.seen.join(release.past.clock);
  }
  if (event.isAcquire())
    thread.past.clock.join(thread.seen);
}

void Execution::checkScopes(Program &program, const Event &event,
                            const Flag &flag) {
  const Thread &thread = threads[program.thread];
  for (const Writer &writer : flag.writers) {
    const Event &write = writer.write.event();
    if (takesIn(event.scope, program.thread, program.rank, writer.thread,
                writer.rank) &&
        takesIn(write.scope, writer.thread, writer.rank, program.thread,
                program.rank))
      continue;
    if (!thread.past.clock.covers(writer.thread, writer.step))
      narrow.push_back({{&program, program.next}, writer.write});
  }
}

void Execution::write(Program &program, const Event &event, Flag &flag,
                      Scalar value, bool isUpdate) {
  forgetPackets(event);
  flag.value = value;
  if (!isUpdate) {
    flag.releases.clear();
    flag.writers.clear();
  }
  flag.releases.push_back(release(program, event));
  flag.writers.push_back({{&program, program.next},
                          program.thread,
                          program.rank,
                          threads[program.thread].step});
}

//===----------------------------------------------------------------------===//
// Plain accesses
//===----------------------------------------------------------------------===//

void Execution::executeAccess(Program &program, const Event &event) {
  const Thread &thread = threads[program.thread];
  std::vector<PlainAccess> &others =
      accesses[{event.buffer.root, *event.buffer.rank}];
  for (const PlainAccess &other : others) {
    const Program &otherProgram = *other.access.program;
    if (otherProgram.rank == program.rank ||
        other.access.event().writes == event.writes ||
        !other.access.event().overlaps(event) ||
        thread.past.clock.covers(other.thread, other.step))
      continue;
    Conflict conflict;
    Executed now{&program, program.next};
    conflict.store = event.writes ? now : other.access;
    conflict.read = event.writes ? other.access : now;
    conflict.isMeantOrdered =
        thread.past.meant.covers(other.thread, other.step);
    conflicts.push_back(conflict);
  }
  // Each access is compared with all of them.
  constexpr size_t maxAccesses = 4000;
  if (others.size() < maxAccesses)
    others.push_back({{&program, program.next}, program.thread, thread.step});
  if (event.writes)
    overwrite(event);
}

/// Forgets the flags of packets that another write changes.
void Execution::forgetPackets(const Event &event) {
  auto found = packets.find({event.buffer.root, *event.buffer.rank});
  std::optional<Bytes> bytes = event.getBytes();
  if (found != packets.end() && bytes)
    found->second.store(*bytes, Scalar());
}

/// Forgets the values of the flags, and of packets, that a plain store changes.
void Execution::overwrite(const Event &event) {
  forgetPackets(event);
  for (auto &[key, flag] : flags) {
    auto &[root, rank, offsets] = key;
    if (root != event.buffer.root || rank != *event.buffer.rank)
      continue;
    Event element = event;
    element.offsets = offsets;
    element.shape.assign(offsets.size(), offsets.size() == 1 ? flag.bytes : 1);
    if (!event.overlaps(element))
      continue;
    // The value is kept if it is of the flag and nothing else.
    bool isSame = event.isElement && event.offsets == offsets &&
                  event.shape == element.shape;
    flag.value = isSame ? event.value : Scalar();
    flag.releases.clear();
    flag.writers.clear();
  }
}

/// Forgets the values of all flags and packets of a buffer: of any buffer, if
/// it is not known, and on any rank.
void Execution::forgetFlags(int root, std::optional<unsigned> rank) {
  for (auto &[key, flag] : flags)
    if (root == Buffer::kUnknown ||
        (std::get<0>(key) == root && (!rank || *rank == std::get<1>(key)))) {
      flag.value = Scalar();
      flag.releases.clear();
      flag.writers.clear();
    }
  for (auto &[key, contents] : packets)
    if (root == Buffer::kUnknown ||
        (key.first == root && (!rank || *rank == key.second)))
      contents.forget();
}

//===----------------------------------------------------------------------===//
// Synchronization
//===----------------------------------------------------------------------===//

std::optional<bool> Execution::satisfies(const Event &wait, Scalar value) {
  if (!value.isKnown() || !wait.value.isKnown())
    return std::nullopt;
  APInt difference;
  if (value.argument || wait.value.argument) {
    if (value.argument != wait.value.argument)
      return std::nullopt;
    difference = APInt(64, 0);
  } else {
    APInt seen = value.number.getValue(), want = wait.value.number.getValue();
    if (seen.getBitWidth() != want.getBitWidth())
      return std::nullopt;
    difference = seen - want;
  }
  switch (cast<WaitOp>(wait.op).getComparison()) {
  case Comparison::EQ:
    return difference.isZero();
  case Comparison::NE:
    return !difference.isZero();
  case Comparison::GE:
    return !difference.isNegative();
  case Comparison::GT:
    return difference.isStrictlyPositive();
  case Comparison::LE:
    return !difference.isStrictlyPositive();
  case Comparison::LT:
    return difference.isNegative();
  }
  llvm_unreachable("unknown comparison");
}

/// The sum of two numbers; unknown if one of them is.
static Scalar add(Scalar a, Scalar b, bool isNegated = false) {
  if (!a.number || !b.number || a.number.getType() != b.number.getType())
    return {};
  APInt value = b.number.getValue();
  return {IntegerAttr::get(a.number.getType(),
                           isNegated ? a.number.getValue() - value
                                     : a.number.getValue() + value),
          {}};
}

void Execution::executeSignal(Program &program, const Event &event) {
  Flag &flag = *findFlag(event);
  bool isSet = cast<SignalOp>(event.op).getKind() == SignalKind::Set;
  write(program, event, flag,
        isSet ? event.value : add(flag.value, event.value),
        /*isUpdate=*/!isSet);
}

bool Execution::executeWait(Program &program, const Event &event) {
  const Flag &flag = *findFlag(event);
  std::optional<bool> holds = satisfies(event, flag.value);
  isUndecided |= !holds;
  if (!holds.value_or(false))
    return false;
  program.seen[program.next] = flag.value;
  checkScopes(program, event, flag);
  acquire(program, event, flag);
  return true;
}

/// What an atomic leaves in an element that had `old`; unknown if that depends
/// on what is not known.
static Scalar update(const Event &event, Scalar old) {
  if (auto cas = dyn_cast<AtomicCASOp>(event.op)) {
    if (!old.number || !event.compare.number)
      return {};
    return old == event.compare ? event.value : old;
  }
  switch (cast<AtomicRMWOp>(event.op).getKind()) {
  case RMWKind::Add:
    return add(old, event.value);
  case RMWKind::Sub:
    return add(old, event.value, /*isNegated=*/true);
  case RMWKind::Xchg:
    return event.value;
  default:
    return {};
  }
}

bool Execution::executeAtomic(Program &program, const Event &event) {
  Flag &flag = *findFlag(event);
  if (event.isPolling) {
    if (!flag.value.number || !event.compare.number) {
      isUndecided = true;
      return false;
    }
    if (!(flag.value == event.compare))
      return false;
  }
  checkScopes(program, event, flag);
  acquire(program, event, flag);
  write(program, event, flag, update(event, flag.value), /*isUpdate=*/true);
  return true;
}

bool Execution::executeBarrier(Program &program, const Event &event) {
  Barriers &all = barriers[{event.buffer.root, program.block}];
  if (program.barrier == 0) {
    std::vector<Past> &own = all.arrived[program.rank];
    release(program, event);
    own.push_back(threads[program.thread].past);
    program.barrier = own.size();
  }
  const StreamItem &item = world.streams[program.rank][program.item];
  for (unsigned member : item.members)
    if (all.arrived[member].size() < program.barrier)
      return false;
  Thread &thread = threads[program.thread];
  thread.past.clock.join(thread.seen);
  for (unsigned member : item.members)
    thread.past.join(all.arrived[member][program.barrier - 1]);
  program.barrier = 0;
  return true;
}

void Execution::executePacketStore(const Event &event) {
  overwrite(event);
  packets[{event.buffer.root, *event.buffer.rank}].store(*event.getBytes(),
                                                         event.value);
}

bool Execution::executePacketLoad(const Event &event) {
  Scalar initial;
  if (world.isWhole)
    initial.number =
        IntegerAttr::get(cast<PacketLoadOp>(event.op).getFlag().getType(), 0);
  const Contents &contents = packets[{event.buffer.root, *event.buffer.rank}];
  std::optional<bool> holds =
      contents.have(*event.getBytes(), event.value, initial);
  isUndecided |= !holds;
  return holds.value_or(false);
}

void Execution::executeFence(Program &program, const Event &event) {
  Thread &thread = threads[program.thread];
  if (event.isAcquire())
    thread.past.clock.join(thread.seen);
  release(program, event);
}

/// Executes the program's next event; false if it has to wait.
bool Execution::execute(Program &program) {
  const Event &event = program.event(program.next);
  switch (event.kind) {
  case Event::Kind::Access:
    executeAccess(program, event);
    return true;
  case Event::Kind::Overwrite:
    forgetFlags(event.buffer.root, event.buffer.rank);
    return true;
  case Event::Kind::Signal:
    executeSignal(program, event);
    return true;
  case Event::Kind::Wait:
    return executeWait(program, event);
  case Event::Kind::Atomic:
    return executeAtomic(program, event);
  case Event::Kind::Barrier:
    return executeBarrier(program, event);
  case Event::Kind::Fence:
    executeFence(program, event);
    return true;
  case Event::Kind::PacketStore:
    executePacketStore(event);
    return true;
  case Event::Kind::PacketLoad:
    return executePacketLoad(event);
  }
  llvm_unreachable("unknown kind of event");
}
