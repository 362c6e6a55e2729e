// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetRegistryTest.cpp - What registering a backend changes --------===//

#include "iris/Target/TargetRegistry.h"

#include "llvm/Support/CommandLine.h"
#include "gtest/gtest.h"

using namespace mlir::iris;

/// An LLVM without this option would compile large kernels as before, in a time
/// that is quadratic in their blocks.
TEST(TargetRegistry, LimitsRestartsOfCodeGenPrepare) {
  initializeBackend(TargetKind::AMDGPU);
  auto &known = llvm::cl::getRegisteredOptions();
  auto found = known.find("cgpp-huge-func");
  ASSERT_NE(found, known.end());
  auto *option = static_cast<llvm::cl::opt<unsigned> *>(found->second);
  EXPECT_EQ(option->getValue(), 500u);
}
