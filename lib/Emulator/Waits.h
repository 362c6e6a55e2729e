// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Waits.h - Outstanding accesses of a wave -----------------*- C++ -*-===//
//
// Loads are executed when they are issued, but their registers are unavailable
// until a wait says that the load has completed. So no program can tell that
// its values were early: using them before is an error.
#ifndef IRIS_EMULATOR_WAITS_H
#define IRIS_EMULATOR_WAITS_H

#include "Instruction.h"
#include <array>

namespace mlir::iris::emulator {

/// What a wait can wait for. Chips with fewer counters use the first of those
/// that they count together.
enum class Counter : uint8_t { Load, Store, Lds, Scalar };
constexpr unsigned kNumCounters = 4;

/// Accesses of one order complete in the order of their issue; `Any` ones in
/// any order.
enum class Order : uint8_t { Vector, Lds, Any };

/// Accesses that were issued and not yet waited for.
class OutstandingAccesses {
public:
  /// Registers an access of `issuer`, whose result goes to the given registers
  /// (none: count 0).
  void issue(Counter counter, Order order, const Instruction &issuer,
             RegisterRange registers, bool isToShared = false) {
    add(counter, issuer, order, isToShared, registers, 0, ++numIssued);
    mark(registers, 1);
  }
  /// An access that two counters count (flat: memory or LDS), and which is
  /// complete when both say so.
  void issueFlat(Counter counter, const Instruction &issuer,
                 RegisterRange registers);
  /// Waits until at most `allowed` accesses of the counter are outstanding.
  void wait(Counter counter, unsigned allowed, const Instruction &waiter) {
    auto &queue = queues[unsigned(counter)];
    if (size_t before = queue.size(); before > allowed) {
      completeSome(counter, allowed);
      waiter.completed[unsigned(counter)] += before - queue.size();
    }
  }

  /// Prepares `mayBePending` for an instruction with all its ranges.
  static void collectRegisters(Instruction &user);
  /// Whether `findPending` has to be asked.
  bool mayBePending(const Instruction &user) const {
    if (!(wordsWithPending & user.wordsWithRegisters))
      return false;
    uint64_t bits = user.hasMoreRegisters;
    for (unsigned i = 0; i < std::size(user.registerBits); ++i)
      bits |= pending[user.registerWords[i]] & user.registerBits[i];
    return bits != 0;
  }

  /// The instruction whose result is in one of the registers and has not been
  /// waited for, or null.
  const Instruction *findPending(const Instruction &user) const {
    for (unsigned i = 0; i < user.numRanges; ++i)
      if (isPending(user.ranges[i]))
        return findIssuer(user.ranges[i]);
    return nullptr;
  }

  /// Accesses that were issued, which are numbered from 1 on.
  uint64_t count() const { return numIssued; }
  /// The registers that the last one writes, if it is outstanding.
  RegisterRange registersOfLast() const;
  /// Whether all instructions do the same with these ones as with the others.
  bool areLike(const OutstandingAccesses &others) const;
  /// The last number up to which all vector stores (loads, accesses of LDS)
  /// have been waited for. `counter` counts stores.
  uint32_t completedStores(Counter counter) const;
  uint32_t completedLoads() const;
  uint32_t completedShared() const;
  /// The same for loads to LDS, which another counter counts.
  uint32_t completedLoadsToShared() const;

private:
  struct Access {
    const Instruction *issuer;
    Order order;
    /// Of a load to LDS.
    bool isToShared;
    RegisterRange registers;
    /// Of a flat access, which is in two queues: the same number in both.
    uint64_t flatNumber;
    uint64_t number;
  };

  /// Writes the fields where they stay: a copy would read words whose bytes
  /// were just written one by one, which takes longer than all the rest.
  void add(Counter counter, const Instruction &issuer, Order order,
           bool isToShared, RegisterRange registers, uint64_t flatNumber,
           uint64_t number) {
    auto &queue = queues[unsigned(counter)];
    queue.resize_for_overwrite(queue.size() + 1);
    Access &access = queue.back();
    access.issuer = &issuer;
    access.order = order;
    access.isToShared = isToShared;
    access.registers = registers;
    access.flatNumber = flatNumber;
    access.number = number;
  }

  /// The number before the first access of a queue with a property.
  template <class Predicate>
  uint32_t countBefore(Counter counter, Predicate predicate) const {
    for (const Access &access : queues[unsigned(counter)])
      if (predicate(access))
        return uint32_t(access.number - 1);
    return uint32_t(numIssued);
  }

  /// Of at most kMaxRangeRegisters registers.
  bool isPending(RegisterRange range) const {
    unsigned word = range.first / 64, shift = range.first % 64;
    uint64_t bits = pending[word] >> shift | pending[word + 1] << 1
                                                               << (63 - shift);
    return bits & ((uint64_t(1) << range.count) - 1);
  }
  const Instruction *findIssuer(RegisterRange range) const;
  /// The index of a flat access among those of LDS, if it is outstanding there.
  size_t indexInLds(const Access &access) const;
  void mark(RegisterRange range, int change) {
    for (unsigned i = range.first, end = range.first + range.count; i < end;
         ++i) {
      counts[i] += change;
      unsigned word = i / 64;
      uint64_t bit = uint64_t(1) << i % 64;
      pending[word] = counts[i] ? pending[word] | bit : pending[word] & ~bit;
      uint16_t wordBit = uint16_t(1) << word;
      wordsWithPending = pending[word] ? wordsWithPending | wordBit
                                       : wordsWithPending & ~wordBit;
    }
  }
  void completeSome(Counter counter, unsigned allowed);
  void complete(const Access &access, Counter counter);

  std::array<llvm::SmallVector<Access, 8>, kNumCounters> queues;
  /// Of each register, the accesses that write it.
  static constexpr unsigned kNumRegisters =
      kFirstRowBit + 512 + kNumTemporaries;
  std::array<uint8_t, kNumRegisters> counts{};
  /// A bit for each register with a count, and a word that `isPending` may
  /// read.
  std::array<uint64_t, kNumRegisters / 64 + 2> pending{};
  /// A bit for each word that is not 0.
  uint16_t wordsWithPending = 0;
  static_assert(kNumRegisters / 64 + 2 <= 16);
  uint64_t numFlat = 0, numIssued = 0;
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_WAITS_H
