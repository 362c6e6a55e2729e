// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Waits.h"

using namespace mlir::iris::emulator;

void OutstandingAccesses::mark(llvm::ArrayRef<RegisterRange> registers,
                               int change) {
  for (RegisterRange range : registers) {
    for (unsigned i = range.first, end = range.first + range.count; i < end;
         ++i)
      pending[i] += change;
    numPending += range.count * change;
  }
}

const Instruction *OutstandingAccesses::findIssuer(RegisterRange range) const {
  for (const std::deque<Access> &queue : queues)
    for (const Access &access : queue)
      for (RegisterRange other : access.registers)
        if (range.first < other.first + other.count &&
            other.first < range.first + range.count)
          return access.issuer;
  return nullptr;
}

void OutstandingAccesses::issue(Counter counter, Order order,
                                const Instruction &issuer,
                                llvm::ArrayRef<RegisterRange> registers) {
  queues[unsigned(counter)].push_back(
      {&issuer, order, 0, {registers.begin(), registers.end()}});
  mark(registers, 1);
}

void OutstandingAccesses::issueFlat(Counter counter, const Instruction &issuer,
                                    llvm::ArrayRef<RegisterRange> registers) {
  ++numFlat;
  for (Counter each : {counter, Counter::Lds})
    queues[unsigned(each)].push_back(
        {&issuer, Order::Any, numFlat, {registers.begin(), registers.end()}});
  mark(registers, 1);
}

void OutstandingAccesses::complete(const Access &access, Counter counter) {
  if (access.flatNumber) {
    for (unsigned other = 0; other < kNumCounters; ++other)
      if (other != unsigned(counter))
        for (const Access &twin : queues[other])
          if (twin.flatNumber == access.flatNumber)
            return;
  }
  mark(access.registers, -1);
}

void OutstandingAccesses::wait(Counter counter, unsigned allowed) {
  std::deque<Access> &queue = queues[unsigned(counter)];
  if (queue.size() <= allowed)
    return;
  if (allowed == 0) {
    for (const Access &access : queue)
      complete(access, counter);
    queue.clear();
    return;
  }
  // An access of an order has completed if more accesses of that order than are
  // allowed to be outstanding come with and after it. Of accesses in any order,
  // each may be the one that is still outstanding.
  unsigned later[3] = {0, 0, 0};
  std::deque<Access> kept;
  for (auto access = queue.rbegin(); access != queue.rend(); ++access) {
    unsigned &count = later[unsigned(access->order)];
    if (access->order != Order::Any && ++count > allowed)
      complete(*access, counter);
    else
      kept.push_front(std::move(*access));
  }
  queue = std::move(kept);
}
