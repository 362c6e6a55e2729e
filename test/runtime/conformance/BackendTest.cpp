// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/Backend.h"

#include <gtest/gtest.h>

TEST(Placeholder, Builds) {}
