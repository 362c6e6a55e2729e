// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled where NCCL's header is installed (IRIS_NCCL_INCLUDE).
#include <nccl.h>
#include <nccl_device.h>

#ifdef IRIS_NCCL_HEADER
#error "this is Iris' header"
#endif

#include "nccl/AbiTable.inc"

std::vector<iris::rt::test::AbiEntry> iris::rt::test::describeTheirHeader() {
  return describeHeader();
}
