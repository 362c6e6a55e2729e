// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A text that one rank's process tells the others, such as an address.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_SHAREDTEXT_H
#define IRIS_TEST_RUNTIME_SUPPORT_SHAREDTEXT_H

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace iris::rt::test {

/// In memory that processes share if they are forked after its creation.
class SharedText {
public:
  SharedText() {
    void *memory = ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      std::abort();
    memory_ = new (memory) Memory();
  }
  ~SharedText() { ::munmap(memory_, sizeof(Memory)); }
  SharedText(const SharedText &) = delete;

  /// At most 255 bytes.
  void set(const std::string &text) {
    std::strncpy(memory_->text, text.c_str(), sizeof(memory_->text) - 1);
    memory_->isSet.store(true);
  }
  /// Waits for set(); "" if it takes a minute.
  std::string get() const {
    for (int i = 0; i < 60000 && !memory_->isSet.load(); ++i)
      ::usleep(1000);
    return memory_->isSet.load() ? memory_->text : "";
  }

private:
  struct Memory {
    std::atomic<bool> isSet{false};
    char text[256] = {};
  };
  Memory *memory_;
};

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_SHAREDTEXT_H
