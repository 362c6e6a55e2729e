// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris-nccl/nccl_device.h"

#include "nccl/AbiTable.inc"

// What RCCL has beside NCCL's functions, as its documentation declares it.
static_assert(std::is_same_v<decltype(ncclAllToAll), decltype(ncclAlltoAll)>);
static_assert(std::is_same_v<
              decltype(ncclAllToAllv),
              ncclResult_t(const void *sendBuffer, const size_t sendCounts[],
                           const size_t sendOffsets[], void *recvBuffer,
                           const size_t recvCounts[],
                           const size_t recvOffsets[], ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)>);

std::vector<iris::rt::test::AbiEntry> iris::rt::test::describeOurHeader() {
  return describeHeader();
}
