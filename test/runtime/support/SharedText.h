// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A text that one rank's process tells the others, such as an address.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_SHAREDTEXT_H
#define IRIS_TEST_RUNTIME_SUPPORT_SHAREDTEXT_H

#include "support/Shared.h"

#include <array>
#include <cstring>
#include <string>

namespace iris::rt::test {

/// In memory that processes share if they are forked after its creation.
class SharedText {
public:
  /// At most 255 bytes.
  void set(const std::string &text) {
    Bytes bytes = {};
    std::strncpy(bytes.data(), text.c_str(), bytes.size() - 1);
    bytes_.set(bytes);
  }
  /// Waits for set(); "" if it takes a minute.
  std::string get() const { return bytes_.get().data(); }

private:
  using Bytes = std::array<char, 256>;
  SharedValue<Bytes> bytes_;
};

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_SHAREDTEXT_H
