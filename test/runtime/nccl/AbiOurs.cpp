// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris-nccl/nccl_device.h"

#include "nccl/AbiTable.inc"

std::vector<iris::rt::test::AbiEntry> iris::rt::test::describeOurHeader() {
  return describeHeader();
}
