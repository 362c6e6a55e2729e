// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectivesTest.cpp - The dialect and the table of collectives -----===//
//
// What ODS repeats of iris/Plan/Collectives.def agrees with it.
//
//===----------------------------------------------------------------------===//

#include "iris/Plan/Collectives.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <iterator>

using namespace mlir;
using namespace mlir::iris;

static StringRef toRef(std::string_view text) {
  return {text.data(), text.size()};
}

TEST(Collectives, NamesOfKindsAreThoseOfTheTable) {
  for (const plan::Collective &each : plan::collectives) {
    auto kind = symbolizeCollectiveKind(toRef(each.name));
    ASSERT_TRUE(kind.has_value()) << each.name;
    EXPECT_EQ(static_cast<int>(*kind), static_cast<int>(each.kind));
  }
  EXPECT_EQ(getMaxEnumValForCollectiveKind() + 1, std::size(plan::collectives));
}

TEST(Collectives, OpsTakeWhatTheTableSays) {
  MLIRContext context;
  context.loadDialect<IrisDialect>();
  for (const plan::Collective &each : plan::collectives) {
    if (each.mnemonic.empty())
      continue;
    auto name = RegisteredOperationName::lookup(
        ("iris." + toRef(each.mnemonic)).str(), &context);
    ASSERT_TRUE(name.has_value()) << each.mnemonic;
    auto attributes = name->getAttributeNames();
    EXPECT_EQ(llvm::is_contained(attributes, "reduction"), each.reduces())
        << each.name;
    EXPECT_TRUE(name->hasInterface<CollectiveCallOpInterface>()) << each.name;
  }
}

TEST(Collectives, VariantsAreNamedOnce) {
  for (const plan::Collective &each : plan::collectives) {
    ASSERT_NE(each.begin(), each.end()) << each.name;
    EXPECT_TRUE(each.begin()->hasKernel()) << each.name << " has no default";
    for (const plan::Variant &variant : each)
      EXPECT_EQ(each.find(variant.name), &variant)
          << each.name << " " << variant.name;
  }
}
