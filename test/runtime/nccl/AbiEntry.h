// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TEST_RUNTIME_NCCL_ABIENTRY_H
#define IRIS_TEST_RUNTIME_NCCL_ABIENTRY_H

#include <string>
#include <vector>

namespace iris::rt::test {

/// A value, a layout or a signature of an nccl.h.
struct AbiEntry {
  std::string name, value;
};

/// Of Iris' header, and of NCCL's where one is installed.
std::vector<AbiEntry> describeOurHeader();
std::vector<AbiEntry> describeTheirHeader();

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_NCCL_ABIENTRY_H
