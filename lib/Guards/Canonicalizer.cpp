// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Canonicalizer.cpp - Canonicalization that keeps roundings ----------===//

#include "iris/Guards/Canonicalizer.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::iris;

/// A conversion of an integer to a float that is then narrowed rounds twice;
/// these patterns make it round once. The names are those of the C++ types of
/// the patterns.
static constexpr const char *kDropRounding[] = {
    "(anonymous namespace)::TruncFSIToFPToSIToFP",
    "(anonymous namespace)::TruncFUIToFPToUIToFP"};

/// index to i32 and back is not the index: its upper bits are gone.
static constexpr const char *kDropTruncation[] = {
    "(anonymous namespace)::IndexCastOfIndexCast",
    "(anonymous namespace)::IndexCastUIOfIndexCastUI"};

std::unique_ptr<Pass> mlir::iris::createCanonicalizerPass(GuardSet guards) {
  SmallVector<std::string> disabled;
  if (guards.contains(Guard::Roundings))
    disabled.append(std::begin(kDropRounding), std::end(kDropRounding));
  if (guards.contains(Guard::IndexCasts))
    disabled.append(std::begin(kDropTruncation), std::end(kDropTruncation));
  return mlir::createCanonicalizerPass(GreedyRewriteConfig(), disabled);
}
