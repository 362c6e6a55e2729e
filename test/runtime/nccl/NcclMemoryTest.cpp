// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of ncclMemAlloc, registration and windows.
#include "nccl/NcclRanks.h"

#include <cstring>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

class NcclMemory : public NcclRanksTest {};
NCCL_ON_RANKS(NcclMemory, 2);

TEST_P(NcclMemory, AllocateAndFree) {
  EXPECT_EQ(
      "", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
        constexpr size_t count = 100000;
        for (int round = 0; round < 5; ++round) {
          void *in = nullptr, *out = nullptr, *none = nullptr;
          NCCL_TRY(ncclMemAlloc(&in, count * sizeof(int32_t)));
          NCCL_TRY(ncclMemAlloc(&out, count * sizeof(int32_t)));
          NCCL_TRY(ncclMemAlloc(&none, 0));
          RANK_CHECK(reinterpret_cast<uintptr_t>(in) %
                         NCCL_WIN_REQUIRED_ALIGNMENT ==
                     0);
          for (size_t i = 0; i < count; ++i)
            static_cast<int32_t *>(in)[i] = rank.rank + 1;
          void *handle = nullptr;
          ncclWindow_t window = nullptr;
          NCCL_TRY(ncclCommRegister(rank.comm, in, count, &handle));
          NCCL_TRY(ncclCommWindowRegister(rank.comm, out, count, &window,
                                          NCCL_WIN_COLL_SYMMETRIC));
          NCCL_TRY(ncclAllReduce(in, out, count, ncclInt32, ncclSum, rank.comm,
                                 nullptr));
          for (size_t i = 0; i < count; ++i)
            RANK_CHECK(static_cast<int32_t *>(out)[i] == 3);
          NCCL_EXPECT(ncclInvalidUsage, ncclCommDeregister(rank.comm, window));
          NCCL_TRY(ncclCommDeregister(rank.comm, handle));
          NCCL_EXPECT(ncclInvalidUsage, ncclCommDeregister(rank.comm, handle));
          NCCL_TRY(ncclCommDeregister(rank.comm, nullptr));
          NCCL_TRY(ncclCommWindowDeregister(rank.comm, window));
          NCCL_TRY(ncclMemFree(in));
          NCCL_TRY(ncclMemFree(out));
          NCCL_TRY(ncclMemFree(none));
          NCCL_TRY(ncclMemFree(nullptr));
        }
        return "";
      }));
}

TEST_P(NcclMemory, Misuse) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              int local = 0;
              void *handle = nullptr;
              ncclWindow_t window = nullptr;
              NCCL_EXPECT(ncclInvalidArgument, ncclMemAlloc(nullptr, 8));
              NCCL_EXPECT(ncclInvalidArgument, ncclMemFree(&local));
              NCCL_EXPECT(ncclInvalidArgument,
                          ncclCommRegister(rank.comm, nullptr, 4, &handle));
              NCCL_EXPECT(ncclInvalidArgument,
                          ncclCommRegister(rank.comm, &local, 0, &handle));
              NCCL_EXPECT(ncclInvalidArgument,
                          ncclCommRegister(nullptr, &local, 4, &handle));
              NCCL_EXPECT(
                  ncclInvalidArgument,
                  ncclCommWindowRegister(rank.comm, &local, 4, &window, 8));
              return "";
            }));
}
