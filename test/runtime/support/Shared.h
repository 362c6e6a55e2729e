// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the processes of a test share: those that are forked after its creation.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_SHARED_H
#define IRIS_TEST_RUNTIME_SUPPORT_SHARED_H

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace iris::rt::test {

/// An object in shared memory.
template <class T>
class Shared {
public:
  Shared() {
    void *memory = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      std::abort();
    object_ = new (memory) T();
  }
  ~Shared() { ::munmap(object_, sizeof(T)); }
  Shared(const Shared &) = delete;

  T *operator->() const { return object_; }

private:
  T *object_;
};

/// Waits until `isTrue()`, at most for a minute.
template <class Condition>
bool waitUntil(Condition isTrue) {
  for (int i = 0; i < 60000 && !isTrue(); ++i)
    ::usleep(1000);
  return isTrue();
}

/// A value that one process sets and others wait for.
template <class T>
class SharedValue {
public:
  void set(const T &value) {
    memory_->value = value;
    memory_->isSet.store(true);
  }
  /// Waits for set(); T() if it takes a minute.
  T get() const {
    return waitUntil([&] { return memory_->isSet.load(); }) ? memory_->value
                                                            : T();
  }

private:
  struct Memory {
    std::atomic<bool> isSet{false};
    T value = {};
  };
  Shared<Memory> memory_;
};

/// Ranks that have come to a place in a test. A rank that fails behind a
/// barrier waits for them: its failure may overtake the barrier's end.
class Arrivals {
public:
  void arrive() { ++memory_->count; }
  bool wait(uint32_t numRanks) const {
    return waitUntil([&] { return memory_->count.load() >= numRanks; });
  }

private:
  struct Memory {
    std::atomic<uint32_t> count{0};
  };
  Shared<Memory> memory_;
};

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_SHARED_H
