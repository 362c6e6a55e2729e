// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RecentHandles.h - Lock-free cache of valid handles -------*- C++ -*-===//
#ifndef IRIS_RT_BACKENDS_GPU_RECENTHANDLES_H
#define IRIS_RT_BACKENDS_GPU_RECENTHANDLES_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace iris::rt::gpu {

/// Caches some of the handles in a set, so that launches avoid the set's lock.
/// A handle replaces another one in the same slot; after a miss, look into the
/// set.
class RecentHandles {
public:
  bool contains(uint64_t handle) const {
    return handle != 0 &&
           slotOf(handle).load(std::memory_order_relaxed) == handle;
  }
  /// `handle` is in the set, whose lock the caller holds.
  void add(uint64_t handle) const {
    slotOf(handle).store(handle, std::memory_order_relaxed);
  }
  /// `handle` leaves the set, whose lock the caller holds.
  void remove(uint64_t handle) {
    slotOf(handle).compare_exchange_strong(handle, 0,
                                           std::memory_order_relaxed);
  }
  void clear() {
    for (std::atomic<uint64_t> &slot : slots_)
      slot.store(0, std::memory_order_relaxed);
  }

private:
  static constexpr size_t log2Slots = 6;
  std::atomic<uint64_t> &slotOf(uint64_t handle) const {
    // Multiplicative hashing, because handles are addresses with equal low
    // bits.
    return slots_[(handle * 0x9e3779b97f4a7c15ull) >> (64 - log2Slots)];
  }
  mutable std::array<std::atomic<uint64_t>, size_t(1) << log2Slots> slots_{};
};

} // namespace iris::rt::gpu

#endif // IRIS_RT_BACKENDS_GPU_RECENTHANDLES_H
