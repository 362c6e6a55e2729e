// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares Iris' nccl.h with NCCL's.
#include "nccl/AbiEntry.h"

#include <gtest/gtest.h>

using namespace iris::rt::test;

TEST(NcclAbi, EqualsThatOfNcclsHeader) {
  const std::vector<AbiEntry> ours = describeOurHeader();
  EXPECT_GT(ours.size(), 150u);
#ifdef IRIS_HAS_NCCL_HEADER
  const std::vector<AbiEntry> theirs = describeTheirHeader();
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].name, theirs[i].name);
    EXPECT_EQ(ours[i].value, theirs[i].value) << ours[i].name;
  }
#else
  GTEST_SKIP() << "there is no NCCL header of version 2.28";
#endif
}
