// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- World.cpp - All programs of all ranks ------------------------------===//
#include "World.h"

#include "Memory.h"
#include "SharedBuffers.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

/// Programs of a launch that are followed.
static constexpr int64_t kMaxPrograms = 64;

/// Notes how far a program was followed.
static void addTrace(World &world, StreamItem &item, Trace trace) {
  if (trace.limit) {
    world.limits.emplace_back(trace.limit, trace.reason);
    world.isComplete = false;
  }
  world.isUnsupported |= trace.outside != nullptr;
  item.programs.push_back(std::move(trace));
}

/// The programs of a launch on one rank.
static void addPrograms(World &world, StreamItem &item, const HostEvent &launch,
                        unsigned rank, Budget &budget,
                        SymbolTableCollection &symbols, Memory &memory) {
  ArrayRef<int64_t> grid = *launch.grid;
  for (int64_t z = 0; z < grid[2]; ++z)
    for (int64_t y = 0; y < grid[1]; ++y)
      for (int64_t x = 0; x < grid[0]; ++x) {
        if (int64_t(item.programs.size()) == kMaxPrograms) {
          item.isPartial = true;
          world.isComplete = false;
          world.limits.emplace_back(launch.op, "it has many programs");
          return;
        }
        Position position{
            rank, world.numRanks, launch.group, {x, y, z}, launch.grid};
        addTrace(world, item,
                 traceKernel(launch.kernel, position, launch.arguments, budget,
                             symbols, &memory));
      }
}

/// The world of `main`. Of the contents of memory, those of the buffers in
/// `shared` are not known.
static World buildMain(func::FuncOp main, unsigned numRanks, uint64_t maxOps,
                       SymbolTableCollection &symbols,
                       const BufferSet &shared) {
  World world;
  world.numRanks = numRanks;
  world.isWhole = true;
  world.streams.resize(numRanks);
  for (unsigned rank : llvm::seq(numRanks)) {
    Position position{rank, numRanks};
    // Each rank has its own, so that none comes too short.
    Budget budget{maxOps};
    Memory memory(rank, shared);
    HostTrace host = traceMain(main, position, budget, symbols);
    world.isUnsupported |= host.isOutside;
    if (host.limit) {
      world.limits.emplace_back(host.limit, host.reason);
      world.isComplete = false;
    }
    for (HostEvent &event : host.events) {
      StreamItem item{event.kind, event.op};
      item.members = Position{rank, numRanks, event.group}.members();
      item.buffers = event.buffers;
      if (event.kind == HostEvent::Kind::Launch)
        addPrograms(world, item, event, rank, budget, symbols, memory);
      for (const Buffer &buffer : event.buffers)
        memory.forget(buffer.root);
      world.streams[rank].push_back(std::move(item));
    }
  }
  return world;
}

World mlir::iris::sync::buildWorld(func::FuncOp main, unsigned numRanks,
                                   uint64_t maxOps,
                                   SymbolTableCollection &symbols) {
  BufferSet shared;
  while (true) {
    World world = buildMain(main, numRanks, maxOps, symbols, shared);
    BufferSet found = findSharedBuffers(world);
    if (found.empty())
      return world;
    shared.insert(found.begin(), found.end());
  }
}

World mlir::iris::sync::buildWorld(gpu::GPUFuncOp kernel, unsigned numRanks,
                                   uint64_t maxOps,
                                   SymbolTableCollection &symbols) {
  World world;
  world.numRanks = numRanks;
  world.streams.resize(numRanks);
  int numBuffers = 0;
  SmallVector<std::pair<Scalar, Buffer>> arguments;
  for (Value argument : kernel.getArguments()) {
    Scalar scalar;
    Buffer buffer;
    if (auto type = dyn_cast<MemRefType>(argument.getType())) {
      buffer = {numBuffers++, /*isExact=*/true};
      for (int64_t extent : type.getShape())
        buffer.sizes.push_back(ShapedType::isDynamic(extent)
                                   ? std::nullopt
                                   : std::optional<int64_t>(extent));
    } else if (argument.getType().isIntOrIndex()) {
      scalar.argument = argument;
    }
    arguments.emplace_back(scalar, buffer);
  }
  for (unsigned rank : llvm::seq(numRanks)) {
    Position position{rank, numRanks};
    Budget budget{maxOps};
    StreamItem item{HostEvent::Kind::Launch, kernel};
    item.members = position.members();
    addTrace(world, item,
             traceKernel(kernel, position, arguments, budget, symbols,
                         /*memory=*/nullptr));
    item.isPartial = true;
    world.streams[rank].push_back(std::move(item));
  }
  return world;
}
