// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Explorer.cpp - Dynamic partial-order reduction ---------------------===//
#include "Explorer.h"

using namespace mlir;
using namespace mlir::iris::interp;

//===----------------------------------------------------------------------===//
// One execution
//===----------------------------------------------------------------------===//

void Explorer::start() {
  events.clear();
  counts.assign(counts.size(), 0);
  active = nullptr;
  abandoned = false;
}

Program *Explorer::pick(World &world, std::vector<Program *> &runnable) {
  active = nullptr;
  auto take = [&](Program *program) {
    runnable.erase(llvm::find(runnable, program));
    return program;
  };
  // What comes before the first synchronizing op is no choice.
  for (Program *program : runnable)
    if (!program->atPoint)
      return take(program);
  SmallVector<Program *> enabled;
  for (Program *program : runnable) {
    if (program->atWait && !world.canGoOn(*program)) {
      program->waitsFor.clear();
      continue;
    }
    if (world.failed)
      return nullptr;
    enabled.push_back(program);
  }
  if (enabled.empty())
    return nullptr;
  active = choose(enabled);
  if (!active)
    return nullptr;
  lastThread = active->thread.number;
  touches.clear();
  awaited.reset();
  if (active->atWait)
    awaited = awaitedBy(*active);
  return take(active);
}

Program *Explorer::choose(ArrayRef<Program *> enabled) {
  const size_t depth = events.size();
  auto find = [&](uint32_t thread) -> Program * {
    for (Program *program : enabled)
      if (program->thread.number == thread)
        return program;
    return nullptr;
  };
  if (depth < nodes.size()) {
    Node &node = nodes[depth];
    if (Program *program = find(node.chosen))
      return program;
    if (depth != firstNew) {
      diverged = abandoned = true;
      return nullptr;
    }
    // The load of a packet whose flags were not all known: it does not hold
    // here, so that any program may have to come first.
    llvm::erase(node.planned, node.chosen);
    for (Program *program : enabled)
      if (!llvm::is_contained(node.planned, program->thread.number))
        node.planned.push_back(program->thread.number);
    for (uint32_t thread : node.planned) {
      Program *program = node.sleep.count(thread) ? nullptr : find(thread);
      if (program) {
        node.chosen = thread;
        return program;
      }
    }
    abandoned = true;
    return nullptr;
  }
  Node node;
  if (depth > 0)
    node.sleep = sleepAfter(nodes[depth - 1], events[depth - 1]);
  Program *chosen = find(lastThread);
  if (!chosen || node.sleep.count(lastThread) != 0) {
    chosen = nullptr;
    for (Program *program : enabled)
      if (node.sleep.count(program->thread.number) == 0 &&
          (!chosen || program->thread.number < chosen->thread.number))
        chosen = program;
  }
  if (!chosen) {
    abandoned = true;
    return nullptr;
  }
  node.chosen = chosen->thread.number;
  node.planned.push_back(node.chosen);
  nodes.push_back(std::move(node));
  return chosen;
}

std::map<uint32_t, Footprint> Explorer::sleepAfter(const Node &node,
                                                   const Event &event) const {
  std::map<uint32_t, Footprint> result;
  for (const auto &[thread, footprint] : node.sleep)
    if (thread != event.thread && !footprint.conflictsWith(event.touches))
      result[thread] = footprint;
  return result;
}

void Explorer::touch(const Allocation::Copy &copy, int64_t byte, int64_t bytes,
                     bool writes) {
  if (!active)
    return;
  Touch touch{copy.number, copy.rank, byte, byte + bytes, writes, 0};
  for (int64_t i = 0; writes && i < bytes; ++i)
    touch.before |= uint64_t(copy.bytes[byte + i]) << (8 * i);
  touches.push_back(touch);
}

void Explorer::began(Program &program) {
  if (&program != active)
    return;
  active = nullptr; // what follows is plain
  if (program.current()->getName().getStringRef() ==
      gpu::ReturnOp::getOperationName())
    touches.push_back(slotOf(program.rank));
  const uint32_t thread = program.thread.number;
  if (thread >= counts.size())
    counts.resize(thread + 1, 0);
  Event event{thread, ++counts[thread], Footprint(touches),
              program.thread.order};
  const VectorClock before = event.past;
  for (size_t n = events.size(); n-- > 0;)
    if (!isBefore(events[n], event.past) &&
        events[n].touches.conflictsWith(event.touches))
      event.past.join(events[n].past);
  event.past.set(thread, event.number);
  if (events.size() >= firstNew)
    findRaces(event, before, awaited);
  program.thread.order = event.past;
  events.push_back(std::move(event));
}

//===----------------------------------------------------------------------===//
// Other orders
//===----------------------------------------------------------------------===//

void Explorer::findRaces(const Event &event, const VectorClock &before,
                         const std::optional<Awaited> &awaited) {
  VectorClock past = before;
  const Footprint flags = awaited ? Footprint(*awaited) : Footprint();
  for (size_t n = events.size(); n-- > 0;) {
    const Event &other = events[n];
    if (other.thread == event.thread ||
        !other.touches.conflictsWith(event.touches))
      continue;
    if (awaited) {
      // The last write before which the wait holds: executions with that order
      // show the earlier ones.
      if (!isBefore(other, before) && other.touches.mayHoldBefore(*awaited)) {
        reverse(n, event, before);
        if (other.touches.conflictsWith(flags))
          return;
      }
    } else if (!isBefore(other, past)) {
      reverse(n, event, before);
    }
    past.join(other.past);
  }
}

void Explorer::reverse(size_t n, const Event &event,
                       const VectorClock &before) {
  // Events that do not come after events[n], and `event`; of each thread the
  // first one, if no other one comes before it, may begin an execution that has
  // them all.
  SmallVector<const Event *> rest;
  SmallVector<uint32_t, 8> seen, initials;
  for (size_t i = n + 1; i < events.size(); ++i) {
    const Event &next = events[i];
    if (isBefore(events[n], next.past))
      continue;
    if (!llvm::is_contained(seen, next.thread)) {
      seen.push_back(next.thread);
      if (llvm::none_of(rest, [&](const Event *earlier) {
            return isBefore(*earlier, next.past);
          }))
        initials.push_back(next.thread);
    }
    rest.push_back(&next);
  }
  if (!llvm::is_contained(seen, event.thread) &&
      llvm::none_of(rest, [&](const Event *earlier) {
        return isBefore(*earlier, before) ||
               earlier->touches.conflictsWith(event.touches);
      }))
    initials.push_back(event.thread);
  Node &node = nodes[n];
  for (uint32_t thread : initials)
    if (llvm::is_contained(node.planned, thread) || node.sleep.count(thread))
      return;
  if (!initials.empty())
    node.planned.push_back(initials.back());
}

bool Explorer::finish(World &world) {
  // An op that failed has accessed something as well.
  if (active && events.size() < nodes.size())
    began(*active);
  // Waits that never came to hold.
  for (const std::unique_ptr<Program> &program : world.livePrograms()) {
    if (!program->atWait || program->failed || world.canGoOn(*program))
      continue;
    std::optional<Awaited> waiting = awaitedBy(*program);
    if (!waiting)
      continue;
    const Event event{program->thread.number, 0, Footprint(*waiting), {}};
    findRaces(event, program->thread.order, waiting);
  }
  while (!nodes.empty()) {
    Node &node = nodes.back();
    if (nodes.size() <= events.size())
      node.sleep[node.chosen] = std::move(events[nodes.size() - 1].touches);
    auto *next = llvm::find_if(node.planned, [&](uint32_t thread) {
      return node.sleep.count(thread) == 0;
    });
    if (next != node.planned.end()) {
      node.chosen = *next;
      firstNew = nodes.size() - 1;
      return true;
    }
    nodes.pop_back();
  }
  return false;
}
