// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- World.cpp - Ranks, their heaps and streams, and the scheduler ------===//
#include "Machine.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

World::World(ModuleOp module, const InterpreterOptions &options,
             Scheduler &scheduler, ThreadNumbers *numbers)
    : module(module), options(options), ranks(options.numRanks),
      scheduler(scheduler) {
  if (options.checkRaces)
    races = std::make_unique<Races>(*this, numbers);
  if (options.picture && races)
    recorder = std::make_unique<Recorder>(*options.picture);
  addArithOps(*this);
  addMathOps(*this);
  addControlFlowOps(*this);
  addAffineOps(*this);
  addMemRefOps(*this);
  addVectorOps(*this);
  addTileOps(*this);
  addMatmulOp(*this);
  addIrisAccessOps(*this);
  addIrisSyncOps(*this);
  addHostOps(*this);
  addCollectiveOps(*this);
  addMatmulCalls(*this);
}

InFlightDiagnostic World::report(Operation *op, const Twine &message) {
  failed = true;
  return op->emitOpError(message);
}

//===----------------------------------------------------------------------===//
// The heap
//===----------------------------------------------------------------------===//

std::shared_ptr<Allocation> World::makeMemory(int64_t number, int64_t bytes,
                                              unsigned copies, bool zeroed) {
  auto result = std::make_shared<Allocation>();
  result->number = number;
  result->address = nextAddress;
  nextAddress += (bytes + 255) / 256 * 256 + 256;
  result->copies.resize(copies);
  for (auto [rank, copy] : llvm::enumerate(result->copies)) {
    copy.number = number;
    copy.rank = rank;
    copy.bytes = ZeroedBytes(bytes);
    copy.states = ZeroedBytes(bytes);
    if (!zeroed)
      llvm::fill(copy.states, Allocation::Copy::Uninitialized);
  }
  return result;
}

std::shared_ptr<Allocation> World::allocate(Program &program, int64_t bytes,
                                            ArrayRef<int64_t> sizes) {
  uint64_t number = ranks[program.rank].numAllocations++;
  if (number == heap.size()) {
    if (bytes < 0 || heapUsed + bytes > options.heapBytes) {
      program.error("allocates " + Twine(bytes) +
                    " bytes; the symmetric heap has " +
                    Twine(options.heapBytes) + " bytes, of which " +
                    Twine(heapUsed) + " are in use");
      return nullptr;
    }
    heapUsed += bytes;
    heap.push_back(makeMemory(number, bytes, ranks.size(), /*zeroed=*/true));
    byAddress[static_cast<int64_t>(heap.back()->address)] = heap.back();
    heap.back()->op = program.current();
    heap.back()->sizes.assign(sizes.begin(), sizes.end());
    heap.back()->isWorkspace = cast<AllocOp>(program.current()).getWorkspace();
    heap.back()->bufferNumber = numBuffers;
    numBuffers += !heap.back()->isWorkspace;
  }
  std::shared_ptr<Allocation> result = heap[number];
  if (!result || result->size() != bytes) {
    program.error(
        "allocates " + Twine(bytes) + " bytes as allocation " + Twine(number) +
        (result
             ? ", which has " + Twine(result->size()) + " bytes on another rank"
             : Twine(", which all ranks have freed")) +
        "; expected the same calls in the same order on all ranks");
    return nullptr;
  }
  return result;
}

std::shared_ptr<Allocation> World::allocationAt(int64_t address,
                                                int64_t bytes) const {
  auto next = byAddress.upper_bound(address);
  if (next == byAddress.begin())
    return nullptr;
  auto [first, allocation] = *std::prev(next);
  std::shared_ptr<Allocation> found = allocation.lock();
  // A comparison that does not overflow: the first byte is not before `first`.
  if (!found || bytes > found->size() - (address - first))
    return nullptr;
  return found;
}

void World::free(Program &program, const Buffer &buffer) {
  Allocation &allocation = *buffer.allocation;
  uint64_t bit = uint64_t(1) << program.rank;
  if (!allocation.isSymmetric())
    return program.error("frees memory that is not on the symmetric heap");
  if (allocation.freedBy & bit)
    return program.error("frees allocation " + Twine(allocation.number) +
                         " for the second time");
  allocation.freedBy |= bit;
  if (llvm::popcount(allocation.freedBy) != static_cast<int>(ranks.size()))
    return;
  // Launches before this keep the memory until they end.
  heapUsed -= allocation.size();
  heap[allocation.number] = nullptr;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

void World::enqueue(Program &main, StreamItem item) {
  item.rank = main.rank;
  if (races)
    item.called = races->enqueue(main);
  ranks[main.rank].stream.push_back(std::move(item));
  pump(main.rank);
}

void World::pump(unsigned rank) {
  Rank &owner = ranks[rank];
  if (failed || owner.running != 0)
    return;
  if (owner.stream.empty())
    return wake(nullptr);
  StreamItem &item = owner.stream.front();
  if (item.started)
    return;
  item.started = true;
  if (!item.kernel)
    return tryCollective(rank);
  item.launch = owner.numLaunches++;
  startPrograms(rank, /*before=*/nullptr);
}

void World::startPrograms(unsigned rank, Program *before) {
  Rank &owner = ranks[rank];
  StreamItem &item = owner.stream.front();
  const uint64_t places = options.resident ? options.resident : UINT64_MAX;
  while (item.numStarted < item.numPrograms() && owner.running < places) {
    const int64_t n = item.numStarted++;
    auto program = std::make_unique<Program>(*this, rank);
    program->function = item.kernel;
    program->block = item.blockOf(n);
    program->grid = item.grid;
    program->launch = item.launch;
    program->group = item.group;
    program->enter(nullptr, &item.kernel.getBody().front(), item.arguments);
    if (races)
      races->startProgram(*program, item.called);
    if (before)
      program->thread.order.join(before->thread.order);
    runnable.push_back(program.get());
    programs.push_back(std::move(program));
    ++owner.running;
  }
}

void World::tryCollective(unsigned rank) {
  StreamItem &first = ranks[rank].stream.front();
  SmallVector<StreamItem *> items;
  for (unsigned member : first.group) {
    std::deque<StreamItem> &stream = ranks[member].stream;
    if (stream.empty() || stream.front().kernel || !stream.front().started)
      return; // it calls again
    StreamItem &item = stream.front();
    if (item.op->getName() != first.op->getName() || item.group != first.group)
      return;
    items.push_back(&item);
  }
  SmallVector<unsigned> members(first.group);
  if (races) {
    SmallVector<const Past *> calls;
    for (StreamItem *item : items)
      calls.push_back(&item->called);
    races->runCollective(members, calls);
  }
  first.collective(*this, items);
  for (unsigned member : members)
    ranks[member].stream.pop_front();
  for (unsigned member : members)
    pump(member);
}

LogicalResult World::showBuffers(Operation *sync) {
  SyncSnapshot snapshot{numSyncs++, sync, {}};
  if (!options.atSync)
    return success();
  for (const std::shared_ptr<Allocation> &allocation : heap) {
    if (!allocation || allocation->isWorkspace)
      continue;
    Type element = elementOf(allocation->op->getResult(0).getType());
    for (auto [owner, copy] : llvm::enumerate(allocation->copies)) {
      if (allocation->freedBy >> owner & 1)
        continue;
      std::vector<bool> defined(copy.bytes.size());
      for (int64_t i = 0; i < copy.states.size(); ++i)
        defined[i] = copy.states[i] == Allocation::Copy::Written;
      snapshot.buffers.push_back({allocation->bufferNumber,
                                  static_cast<unsigned>(owner), allocation->op,
                                  element, allocation->sizes, copy.bytes,
                                  std::move(defined)});
    }
  }
  LogicalResult result = options.atSync(snapshot);
  failed |= mlir::failed(result);
  return result;
}

Step World::sync(Program &program) {
  Rank &rank = ranks[program.rank];
  if (!rank.stream.empty())
    return program.waitFor(nullptr, "the work of its stream");
  if (!rank.atSync) {
    rank.atSync = true;
    if (races)
      races->arriveAtSync(program);
    program.progress = generation;
    if (++numAtSync == ranks.size()) {
      if (mlir::failed(showBuffers(program.current())))
        program.failed = true;
      ++generation;
      numAtSync = 0;
      wake(nullptr);
    }
  }
  if (program.progress == generation)
    return program.waitFor(nullptr, "the other ranks");
  rank.atSync = false;
  if (races)
    races->leaveSync(program);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// The scheduler
//===----------------------------------------------------------------------===//

void World::wake(Allocation::Copy *copy) {
  if (copy)
    copy->watched = false;
  for (std::unique_ptr<Program> &program : programs) {
    if (program->waitsFor.empty() || program->watched != copy)
      continue;
    program->waitsFor.clear();
    runnable.push_back(program.get());
  }
}

bool World::isPoint(const OpEntry &entry, Program &program) {
  switch (entry.point) {
  case Point::None:
    return false;
  case Point::Sync:
  case Point::Wait:
    return true;
  case Point::Access:
    return !scheduler.syncsOnly();
  case Point::Volatile:
    return !scheduler.syncsOnly() && isVolatile(program.current());
  case Point::End:
    return options.resident != 0 &&
           ranks[program.rank].stream.front().numPrograms() >
               static_cast<int64_t>(options.resident);
  }
  llvm_unreachable("unknown scheduling point");
}

/// Tries the wait, without what follows it.
static Step probe(World &world, Program &program, Handler handler) {
  world.probing = true;
  Step step = handler(program, program.current());
  world.probing = false;
  return step;
}

/// Whether what the program polls has changed since its last iteration.
static bool hasChanged(Program &program) {
  const Polled &polled = program.polled;
  uint64_t bits = 0;
  for (int64_t i = 0; i < polled.bytes; ++i)
    bits |= uint64_t(polled.copy->bytes[polled.byte + i]) << (8 * i);
  if (bits != polled.bits)
    return true;
  (void)program.waitFor(
      polled.copy, "bytes " + std::to_string(polled.byte) + " to " +
                       std::to_string(polled.byte + polled.bytes - 1) +
                       " of allocation " + std::to_string(polled.copy->number) +
                       " on rank " + std::to_string(polled.copy->rank) +
                       " to change, which it polls");
  return false;
}

bool World::canGoOn(Program &program) {
  if (program.spins)
    return hasChanged(program);
  if (races)
    races->paused = true;
  Step step = probe(
      *this, program,
      ops.lookup(program.current()->getName().getAsOpaquePointer()).handler);
  if (races)
    races->paused = false;
  return step != Step::Blocked;
}

void World::stopBefore(const OpEntry &entry, Program &program) {
  program.atPoint = true;
  program.spins &= program.current() == program.polled.op;
  program.atWait = entry.point == Point::Wait;
  // An exploration executes a wait once it holds. Its polls until then are
  // accesses as well.
  if (program.atWait && scheduler.syncsOnly()) {
    if (recorder)
      recorder->begin();
    (void)probe(*this, program, entry.handler);
    if (recorder)
      recorder->end(program, /*blocked=*/true);
  }
  program.atWait |= program.spins;
  program.waitsFor.clear();
}

/// Takes steps until the program ends, waits, or comes to a scheduling point.
void World::execute(Program &program) {
  program.atPoint = program.atWait = program.spins = false;
  for (bool isFirst = true;; isFirst = false) {
    Operation *op = program.current();
    const OpEntry entry = ops.lookup(op->getName().getAsOpaquePointer());
    if (!entry.handler) {
      program.error("is not an op that the reference executes");
      return;
    }
    if (!isFirst && isPoint(entry, program))
      return stopBefore(entry, program);
    if (recorder)
      recorder->begin();
    Step step = entry.handler(program, op);
    if (program.failed || failed)
      return;
    if (recorder)
      recorder->end(program, step == Step::Blocked);
    if (isFirst)
      scheduler.began(program);
    program.numSyncs +=
        entry.point == Point::Sync || entry.point == Point::Wait;
    switch (step) {
    case Step::Next:
      program.progress = 0;
      ++program.frames.back().position;
      break;
    case Step::Jump:
      break;
    case Step::Finished:
      program.finished = true;
      return;
    case Step::Blocked:
      return;
    }
  }
}

void World::startMain(unsigned rank) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  auto program = std::make_unique<Program>(*this, rank);
  program->function = main;
  program->isMain = true;
  program->enter(nullptr, &main.getBody().front(), {Datum()});
  if (races)
    races->startMain(*program);
  runnable.push_back(program.get());
  programs.push_back(std::move(program));
}

void World::end(Program &program) {
  idleTurns = 0;
  const unsigned rank = program.rank;
  Rank &owner = ranks[rank];
  if (races && !program.isMain)
    races->endProgram(program);
  if (program.isMain) {
    owner.mainEnded = true;
  } else if (--owner.running == 0 && owner.stream.front().numStarted ==
                                         owner.stream.front().numPrograms()) {
    owner.stream.pop_front();
    pump(rank);
  } else {
    startPrograms(rank, &program);
  }
  llvm::erase_if(programs, [&](const std::unique_ptr<Program> &other) {
    return other.get() == &program;
  });
}

void World::takeTurn(Program &program) {
  // A change wakes it only while it waits.
  program.waitsFor.clear();
  if (options.taken)
    options.taken->add(program.id());
  execute(program);
  if (failed)
    return;
  if (program.finished)
    end(program);
  else if (program.waitsFor.empty())
    runnable.push_back(&program);
  // More than any loop that computes takes, and less than a second.
  constexpr uint64_t mostIdleTurns = 1000000;
  if (!failed && ++idleTurns > mostIdleTurns)
    reportPolling();
}

LogicalResult World::run() {
  if (options.taken) {
    *options.taken = {};
    options.taken->numRanks = options.numRanks;
    options.taken->resident = options.resident;
    options.taken->syncsOnly = scheduler.syncsOnly();
  }
  for (unsigned rank = 0; rank < ranks.size(); ++rank)
    startMain(rank);
  while (!failed) {
    Program *program = scheduler.pick(*this, runnable);
    if (!program)
      break;
    takeTurn(*program);
  }
  if (failed)
    return failure();
  if (scheduler.isAbandoned())
    return success();
  bool waits = !programs.empty();
  for (Rank &rank : ranks)
    waits |= !rank.stream.empty();
  if (waits && numCutOff == 0)
    reportDeadlock();
  else if (!waits)
    (void)showBuffers(/*sync=*/nullptr); // sets `failed`
  return success(!failed);
}

LogicalResult mlir::iris::interp::checkMain(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (main && !main.isExternal() && main.getNumArguments() == 1)
    return success();
  return emitError(module.getLoc(),
                   "the program has no @main; expected func.func @main(%ctx: "
                   "!iris.ctx)");
}

FailureOr<std::vector<RankChecks>>
mlir::iris::interpret(ModuleOp module, const InterpreterOptions &options) {
  if (mlir::failed(checkMain(module)))
    return failure();
  std::unique_ptr<Scheduler> scheduler = makeScheduler(options);
  World world(module, options, *scheduler);
  if (failed(world.run()) || scheduler->isAbandoned())
    return failure();
  std::vector<RankChecks> checks;
  for (Rank &rank : world.ranks)
    checks.push_back(std::move(rank.checks));
  return checks;
}
