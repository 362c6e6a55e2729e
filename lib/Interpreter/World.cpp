// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- World.cpp - Ranks, their heaps and streams, and the scheduler ------===//
#include "Machine.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

World::World(ModuleOp module, const InterpreterOptions &options)
    : module(module), options(options), ranks(options.numRanks),
      state(options.seed) {
  if (options.checkRaces)
    races = std::make_unique<Races>(*this);
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

/// SplitMix64 (public domain): every seed has a sequence of its own.
uint64_t World::random() {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
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
    copy.bytes.assign(bytes, 0);
    copy.states.assign(bytes, zeroed ? Allocation::Copy::Written
                                     : Allocation::Copy::Uninitialized);
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
  for (int64_t z = 0; z < item.grid[2]; ++z) {
    for (int64_t y = 0; y < item.grid[1]; ++y) {
      for (int64_t x = 0; x < item.grid[0]; ++x) {
        auto program = std::make_unique<Program>(*this, rank);
        program->function = item.kernel;
        program->block = {x, y, z};
        program->grid = item.grid;
        program->group = item.group;
        program->enter(nullptr, &item.kernel.getBody().front(), item.arguments);
        if (races)
          races->startProgram(*program, item.called);
        runnable.push_back(program.get());
        programs.push_back(std::move(program));
        ++owner.running;
      }
    }
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
    SmallVector<const VectorClock *> calls;
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
      for (size_t i = 0; i < copy.states.size(); ++i)
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

/// Takes steps until the program ends, waits, or another one's turn comes.
void World::execute(Program &program) {
  while (true) {
    Operation *op = program.current();
    Handler handler = handlerOf(op);
    if (!handler) {
      program.error("is not an op that the reference executes");
      return;
    }
    Step step = handler(program, op);
    if (program.failed || failed)
      return;
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
    if (program.mayYield) {
      program.mayYield = false;
      if (random() % 4 == 0)
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

void World::reportDeadlock() {
  constexpr size_t most = 16;
  // A program of a kernel, if any: the cause is there.
  Operation *first = nullptr;
  for (Rank &rank : ranks)
    if (!rank.stream.empty())
      first = rank.stream.front().op;
  for (std::unique_ptr<Program> &program : llvm::reverse(programs))
    if (!first || !program->isMain)
      first = program->current();
  InFlightDiagnostic diagnostic =
      report(first, "waits forever: no program can go on");
  for (auto [n, program] : llvm::enumerate(programs)) {
    if (n == most) {
      diagnostic.attachNote()
          << "and " << programs.size() - most << " other programs";
      break;
    }
    diagnostic.attachNote(program->current()->getLoc())
        << program->describe() << ": '" << program->current()->getName()
        << "' waits for " << program->waitsFor;
  }
  for (auto [rank, owner] : llvm::enumerate(ranks))
    if (!owner.stream.empty() && !owner.stream.front().kernel)
      diagnostic.attachNote(owner.stream.front().op->getLoc())
          << "rank " << rank << ": '" << owner.stream.front().op->getName()
          << "' waits for the other ranks of its group";
}

LogicalResult World::run() {
  for (unsigned rank = 0; rank < ranks.size(); ++rank)
    startMain(rank);
  while (!runnable.empty() && !failed) {
    size_t pick = random() % runnable.size();
    Program *program = runnable[pick];
    std::swap(runnable[pick], runnable.back());
    runnable.pop_back();
    // A change wakes it only while it waits.
    program->waitsFor.clear();
    execute(*program);
    if (failed)
      break;
    if (!program->finished) {
      if (program->waitsFor.empty())
        runnable.push_back(program);
      continue;
    }
    unsigned rank = program->rank;
    bool isMain = program->isMain;
    if (races && !isMain)
      races->endProgram(*program);
    llvm::erase_if(programs, [&](const std::unique_ptr<Program> &other) {
      return other.get() == program;
    });
    if (isMain) {
      ranks[rank].mainEnded = true;
    } else if (--ranks[rank].running == 0) {
      ranks[rank].stream.pop_front();
      pump(rank);
    }
  }
  bool waits = !programs.empty();
  for (Rank &rank : ranks)
    waits |= !rank.stream.empty();
  if (!failed && waits)
    reportDeadlock();
  if (!failed)
    (void)showBuffers(/*sync=*/nullptr); // sets `failed`
  return success(!failed);
}

FailureOr<std::vector<RankChecks>>
mlir::iris::interpret(ModuleOp module, const InterpreterOptions &options) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal() || main.getNumArguments() != 1)
    return emitError(module.getLoc(),
                     "the program has no @main; expected func.func @main(%ctx: "
                     "!iris.ctx)");
  World world(module, options);
  if (failed(world.run()))
    return failure();
  std::vector<RankChecks> checks;
  for (Rank &rank : world.ranks)
    checks.push_back(std::move(rank.checks));
  return checks;
}
