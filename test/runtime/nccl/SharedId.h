// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unique id that one rank's process tells the others.
#ifndef IRIS_TEST_RUNTIME_NCCL_SHAREDID_H
#define IRIS_TEST_RUNTIME_NCCL_SHAREDID_H

#include <atomic>
#include <cstdlib>
#include <nccl.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace iris::rt::test {

/// An id that the process of rank 0 makes.
class SharedId {
public:
  SharedId() {
    void *memory = ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      std::abort();
    memory_ = new (memory) Memory();
  }
  ~SharedId() { ::munmap(memory_, sizeof(Memory)); }
  SharedId(const SharedId &) = delete;

  void set(const ncclUniqueId &id) {
    memory_->id = id;
    memory_->isSet.store(true);
  }
  /// Waits for set(), at most for a minute.
  ncclUniqueId get() const {
    for (int i = 0; i < 60000 && !memory_->isSet.load(); ++i)
      ::usleep(1000);
    return memory_->id;
  }

private:
  struct Memory {
    std::atomic<bool> isSet{false};
    ncclUniqueId id = {};
  };
  Memory *memory_;
};

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_NCCL_SHAREDID_H
