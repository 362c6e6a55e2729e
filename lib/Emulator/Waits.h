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
             RegisterRange registers) {
    queues[unsigned(counter)].push_back({&issuer, order, registers, 0});
    mark(registers, 1);
  }
  /// An access that two counters count (flat: memory or LDS), and which is
  /// complete when both say so.
  void issueFlat(Counter counter, const Instruction &issuer,
                 RegisterRange registers);
  /// Waits until at most `allowed` accesses of the counter are outstanding.
  void wait(Counter counter, unsigned allowed) {
    if (queues[unsigned(counter)].size() > allowed)
      completeSome(counter, allowed);
  }

  /// The instruction whose result is in one of the registers and has not been
  /// waited for, or null.
  const Instruction *findPending(const Instruction &user) const {
    if (!numPending)
      return nullptr;
    for (unsigned i = 0; i < user.numRanges; ++i)
      if (isPending(user.ranges[i]))
        return findIssuer(user.ranges[i]);
    return nullptr;
  }

private:
  struct Access {
    const Instruction *issuer;
    Order order;
    RegisterRange registers;
    /// Of a flat access, which is in two queues: the same number in both.
    uint64_t flatNumber;
  };

  bool isPending(RegisterRange range) const {
    uint8_t any = 0;
    for (unsigned i = range.first, end = range.first + range.count; i < end;
         ++i)
      any |= pending[i];
    return any;
  }
  const Instruction *findIssuer(RegisterRange range) const;
  void mark(RegisterRange range, int change) {
    for (unsigned i = range.first, end = range.first + range.count; i < end;
         ++i)
      pending[i] += change;
    numPending += range.count * change;
  }
  void completeSome(Counter counter, unsigned allowed);
  void complete(const Access &access, Counter counter);

  std::array<llvm::SmallVector<Access, 8>, kNumCounters> queues;
  /// Of each register, the accesses that write it; and the sum of these.
  std::array<uint8_t, kFirstRowBit + 512 + kNumTemporaries> pending{};
  unsigned numPending = 0;
  uint64_t numFlat = 0;
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_WAITS_H
