// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Waits.h"

using namespace mlir::iris::emulator;

void OutstandingAccesses::collectRegisters(Instruction &user) {
  unsigned count = 0;
  for (unsigned i = 0; i < user.numRanges; ++i)
    for (unsigned j = 0; j < user.ranges[i].count; ++j) {
      unsigned number = user.ranges[i].first + j, slot = 0;
      user.wordsWithRegisters |= 1u << number / 64;
      while (slot < count && user.registerWords[slot] != number / 64)
        ++slot;
      if (slot == std::size(user.registerWords)) {
        user.hasMoreRegisters = true;
        continue;
      }
      count = std::max(count, slot + 1);
      user.registerWords[slot] = uint8_t(number / 64);
      user.registerBits[slot] |= uint64_t(1) << number % 64;
    }
}

const Instruction *OutstandingAccesses::findIssuer(RegisterRange range) const {
  for (const auto &queue : queues)
    for (const Access &access : queue) {
      RegisterRange other = access.registers;
      if (range.first < other.first + other.count &&
          other.first < range.first + range.count)
        return access.issuer;
    }
  return nullptr;
}

RegisterRange OutstandingAccesses::registersOfLast() const {
  for (const auto &queue : queues)
    if (!queue.empty() && queue.back().number == numIssued)
      return queue.back().registers;
  return {};
}

size_t OutstandingAccesses::indexInLds(const Access &access) const {
  const auto &queue = queues[unsigned(Counter::Lds)];
  size_t index = 0;
  while (index < queue.size() && queue[index].flatNumber != access.flatNumber)
    ++index;
  return index;
}

bool OutstandingAccesses::areLike(const OutstandingAccesses &others) const {
  for (unsigned i = 0; i < kNumCounters; ++i) {
    if (queues[i].size() != others.queues[i].size())
      return false;
    for (size_t k = 0; k < queues[i].size(); ++k) {
      const Access &a = queues[i][k], &b = others.queues[i][k];
      if (a.issuer != b.issuer || a.order != b.order ||
          a.isToShared != b.isToShared ||
          a.registers.first != b.registers.first ||
          a.registers.count != b.registers.count ||
          (a.flatNumber != 0) != (b.flatNumber != 0) ||
          (a.flatNumber && indexInLds(a) != others.indexInLds(b)))
        return false;
    }
  }
  return true;
}

void OutstandingAccesses::issueFlat(Counter counter, const Instruction &issuer,
                                    RegisterRange registers) {
  ++numFlat;
  ++numIssued;
  for (Counter each : {counter, Counter::Lds})
    add(each, issuer, Order::Any, false, registers, numFlat, numIssued);
  mark(registers, 1);
}

uint32_t OutstandingAccesses::completedStores(Counter counter) const {
  return countBefore(counter, [](const Access &access) {
    return access.registers.count == 0 && !access.isToShared;
  });
}

uint32_t OutstandingAccesses::completedLoads() const {
  return countBefore(Counter::Load, [](const Access &access) {
    return access.registers.count != 0 || access.isToShared;
  });
}

uint32_t OutstandingAccesses::completedShared() const {
  return countBefore(Counter::Lds, [](const Access &access) {
    return access.order == Order::Lds || access.flatNumber;
  });
}

uint32_t OutstandingAccesses::completedLoadsToShared() const {
  return countBefore(Counter::Load,
                     [](const Access &access) { return access.isToShared; });
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

void OutstandingAccesses::completeSome(Counter counter, unsigned allowed) {
  auto &queue = queues[unsigned(counter)];
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
  auto kept = queue.end();
  for (auto access = queue.end(); access != queue.begin();) {
    --access;
    if (access->order != Order::Any &&
        ++later[unsigned(access->order)] > allowed)
      complete(*access, counter);
    else
      *--kept = *access;
  }
  queue.erase(queue.begin(), kept);
}
