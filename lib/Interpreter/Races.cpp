// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Races.cpp - Accesses that nothing orders ---------------------------===//
#include "Races.h"

#include "Machine.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

void VectorClock::join(const VectorClock &other) {
  if (other.steps.size() > steps.size())
    steps.resize(other.steps.size(), 0);
  for (auto [mine, theirs] : llvm::zip(steps, other.steps))
    mine = std::max(mine, theirs);
}

bool VectorClock::covers(const VectorClock &other) const {
  for (size_t thread = 0; thread < other.steps.size(); ++thread)
    if (!covers(thread, other.steps[thread]))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Programs and streams
//===----------------------------------------------------------------------===//

static Past pastOf(const Thread &thread) {
  return {thread.clock, thread.order};
}

static void join(Thread &thread, const Past &past) {
  thread.clock.join(past.clock);
  thread.order.join(past.order);
}

uint32_t Races::numberOf(unsigned rank, int64_t block) {
  uint32_t number =
      numbers.try_emplace({rank, block}, numbers.size()).first->second;
  if (number >= lastSteps.size())
    lastSteps.resize(number + 1, 0);
  return number;
}

void Races::advance(Thread &thread) {
  thread.clock.set(thread.number, ++thread.step);
}

MarkNumber Races::markOf(Program &program) const {
  return world.recorder ? world.recorder->mark(program) : 0;
}

void Races::follow(const Release &release, Program &program) {
  program.thread.clock.join(release.clock);
  if (world.recorder)
    world.recorder->follows(release.mark, program);
}

void Races::startMain(Program &main) {
  Thread &thread = main.thread;
  thread.number = numberOf(main.rank, -1);
  thread.clock.set(thread.number, thread.step);
}

Past Races::enqueue(Program &main) {
  Past past = pastOf(main.thread);
  advance(main.thread);
  return past;
}

void Races::startProgram(Program &program, const Past &launch) {
  Thread &thread = program.thread;
  thread.number = numberOf(program.rank, program.linearBlock());
  names.resize(std::max<size_t>(names.size(), thread.number + 1));
  names[thread.number] = program.position();
  thread.step = lastSteps[thread.number] + 1;
  join(thread, streams[program.rank]);
  join(thread, launch);
  thread.clock.set(thread.number, thread.step);
}

void Races::endProgram(Program &program) {
  lastSteps[program.thread.number] = program.thread.step;
  streams[program.rank].join(pastOf(program.thread));
}

void Races::runCollective(ArrayRef<unsigned> members,
                          ArrayRef<const Past *> calls) {
  Past all;
  for (unsigned member : members)
    all.join(streams[member]);
  for (const Past *call : calls)
    all.join(*call);
  for (unsigned member : members)
    streams[member] = all;
}

void Races::arriveAtSync(Program &main) {
  atSync.join(pastOf(main.thread));
  atSync.join(streams[main.rank]);
  afterSync = atSync;
}

void Races::leaveSync(Program &main) {
  join(main.thread, afterSync);
  advance(main.thread);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Whether `scope` of a thread takes another one in.
static bool includes(Scope scope, uint32_t thread, unsigned rank,
                     uint32_t otherThread, unsigned otherRank) {
  switch (scope) {
  case Scope::Block:
    return thread == otherThread;
  case Scope::Gpu:
    return rank == otherRank;
  case Scope::Sys:
    return true;
  }
  llvm_unreachable("unknown scope");
}

/// Whether each of two accesses may be made while the other one is.
static bool mayMeet(const Shadow::Access &a, const Shadow::Access &b) {
  return a.kind.what != AccessClass::Plain && a.kind.what == b.kind.what &&
         includes(a.kind.scope, a.thread, a.rank, b.thread, b.rank) &&
         includes(b.kind.scope, b.thread, b.rank, a.thread, a.rank);
}

/// Takes out the accesses that come before `by`.
static void forget(SmallVectorImpl<Shadow::Access> &accesses,
                   const VectorClock &by) {
  llvm::erase_if(accesses, [&](const Shadow::Access &access) {
    return by.covers(access.thread, access.step);
  });
}

/// Makes a cell of each byte.
static void refine(Shadow::Page &page) {
  std::vector<Shadow::Cell> bytes;
  bytes.reserve(Shadow::Page::bytes);
  for (const Shadow::Cell &cell : page.cells)
    bytes.insert(bytes.end(), page.grain, cell);
  page.cells = std::move(bytes);
  page.grain = 1;
}

void Races::report(Program &program, bool writes, const Shadow::Access &earlier,
                   bool wrote) {
  program.failed = true;
  if (world.recorder) {
    world.recorder->setTitle("a data race on allocation " +
                             std::to_string(accessed->number) + " of rank " +
                             std::to_string(accessed->rank));
    world.recorder->blame(earlier.mark);
    world.recorder->blame(markOf(program));
  }
  auto describe = [&](const Shadow::Access &access) {
    std::string text = names[access.thread];
    if (auto kernel = access.op->getParentOfType<gpu::GPUFuncOp>())
      text += " of @" + kernel.getName().str();
    return text;
  };
  auto scopeText = [](AccessKind kind) {
    return kind.what == AccessClass::Plain || kind.scope == Scope::Sys
               ? std::string()
               : " at scope " + stringifyScope(kind.scope).str();
  };
  InFlightDiagnostic diagnostic = world.report(
      program.current(),
      Twine(writes ? "writes " : "reads ") + Twine(numBytes) +
          " bytes at byte " + Twine(firstByte) + " of allocation " +
          Twine(accessed->number) + " on rank " + Twine(accessed->rank) +
          scopeText(program.thread.kind) +
          "; nothing orders it with another access");
  diagnostic.attachNote() << "in " << program.describe();
  diagnostic.attachNote(earlier.op->getLoc())
      << describe(earlier) << (wrote ? " writes" : " reads") << " them here: '"
      << earlier.op->getName() << "'" << scopeText(earlier.kind);
}

bool Races::record(Program &program, Shadow::Cell &cell,
                   const Shadow::Access &mine, bool writes) {
  const VectorClock &clock = program.thread.clock;
  auto racesWith = [&](const Shadow::Access &other) {
    return !clock.covers(other.thread, other.step) && !mayMeet(other, mine);
  };
  if (auto *found = llvm::find_if(cell.writes, racesWith);
      found != cell.writes.end()) {
    report(program, writes, *found, /*wrote=*/true);
    return false;
  }
  if (!writes && world.recorder && mine.kind.what == AccessClass::Packet)
    for (const Shadow::Access &other : cell.writes)
      world.recorder->follows(other.mark, program);
  if (!writes) {
    llvm::erase_if(cell.reads, [&](const Shadow::Access &other) {
      return other.thread == mine.thread && other.kind.what == mine.kind.what;
    });
    cell.reads.push_back(mine);
    return true;
  }
  if (auto *found = llvm::find_if(cell.reads, racesWith);
      found != cell.reads.end()) {
    report(program, writes, *found, /*wrote=*/false);
    return false;
  }
  forget(cell.writes, clock);
  forget(cell.reads, clock);
  cell.writes.push_back(mine);
  return true;
}

void Races::access(Program &program, Allocation::Copy &copy, int64_t byte,
                   int64_t bytes, bool writes) {
  if (copy.number < 0 || program.isMain || paused)
    return; // its own memory, or a collective
  Thread &thread = program.thread;
  if (observer && thread.kind.what != AccessClass::Plain)
    observer->touch(copy, byte, bytes, writes);
  if (!copy.shadow)
    copy.shadow = std::make_shared<Shadow>();
  // Accesses of signals do not end a row of them; other atomics read, and
  // acquire() knows of them.
  if (thread.kind.what == AccessClass::Plain ||
      thread.kind.what == AccessClass::Packet)
    thread.accessed = true;
  accessed = &copy;
  firstByte = byte;
  numBytes = bytes;
  const Shadow::Access mine = {thread.number,   thread.step,
                               thread.kind,     program.rank,
                               markOf(program), program.current()};
  for (int64_t at = byte; at < byte + bytes;) {
    std::unique_ptr<Shadow::Page> &page =
        copy.shadow->pages[at / Shadow::Page::bytes];
    if (!page)
      page = std::make_unique<Shadow::Page>();
    if (at % page->grain != 0 || (byte + bytes) % page->grain != 0)
      refine(*page);
    if (!record(program, page->cells[at % Shadow::Page::bytes / page->grain],
                mine, writes))
      return;
    at += page->grain;
  }
}

//===----------------------------------------------------------------------===//
// Synchronization
//===----------------------------------------------------------------------===//

static bool releases(MemSemantic sem) {
  return sem == MemSemantic::Release || sem == MemSemantic::AcqRel;
}
static bool acquires(MemSemantic sem) {
  return sem == MemSemantic::Acquire || sem == MemSemantic::AcqRel;
}

void Races::release(Program &program, Allocation::Copy &copy, int64_t byte,
                    MemSemantic sem, Scope scope, bool modifies,
                    bool isSignal) {
  if (copy.number < 0)
    return;
  if (!copy.shadow)
    copy.shadow = std::make_shared<Shadow>();
  Thread &thread = program.thread;
  std::vector<Release> &published = copy.shadow->releases[byte];
  // A read-modify-write leaves the releases before it in force.
  if (!modifies)
    published.clear();
  if (!releases(sem)) {
    if (thread.fence)
      published.push_back(*thread.fence);
    return;
  }
  const bool continues = isSignal && !thread.accessed;
  Release release = {thread.clock, scope, thread.number, program.rank,
                     markOf(program)};
  if (continues)
    release.clock = thread.lastSignal.clock;
  // One that acquires as well has those before it.
  if (scope == Scope::Sys)
    llvm::erase_if(published, [&](const Release &earlier) {
      return earlier.rank == release.rank &&
             release.clock.covers(earlier.clock);
    });
  published.push_back(release);
  // Its own access comes after what it releases.
  advance(thread);
  if (isSignal) {
    thread.lastSignal = std::move(release);
    thread.accessed = false;
  }
}

static bool isVisible(const Release &release, const Program &program,
                      Scope scope) {
  const uint32_t thread = program.thread.number;
  return includes(release.scope, release.thread, release.rank, thread,
                  program.rank) &&
         includes(scope, thread, program.rank, release.thread, release.rank);
}

void Races::acquire(Program &program, Allocation::Copy &copy, int64_t byte,
                    MemSemantic sem, Scope scope) {
  Thread &thread = program.thread;
  thread.accessed = true;
  if (!copy.shadow)
    return;
  for (const Release &release : copy.shadow->releases[byte]) {
    if (!acquires(sem))
      thread.seen.push_back(release);
    else if (isVisible(release, program, scope))
      follow(release, program);
  }
}

void Races::fence(Program &program, MemSemantic sem, Scope scope) {
  Thread &thread = program.thread;
  thread.accessed = true;
  if (acquires(sem)) {
    for (const Release &release : thread.seen)
      if (isVisible(release, program, scope))
        follow(release, program);
    thread.seen.clear();
  }
  if (releases(sem)) {
    thread.fence = {thread.clock, scope, thread.number, program.rank,
                    markOf(program)};
    advance(thread);
  }
}

void Races::arrive(Program &program, Past &others) {
  others.join(pastOf(program.thread));
  advance(program.thread);
}

void Races::leave(Program &program, const Past &others) {
  join(program.thread, others);
  program.thread.accessed = true;
}
