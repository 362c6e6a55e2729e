// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Canonicalizer.cpp - Canonicalization that keeps results ------------===//

#include "iris/Guards/Canonicalizer.h"

#include "ShortLoops.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

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

/// The difference of the bounds is computed in their type: a loop from -2^31 to
/// 1 of i32 has no iteration. ShortLoops.h has the pattern that replaces this
/// one.
static constexpr const char *kDropIterations =
    "(anonymous namespace)::SimplifyTrivialLoops";

/// All uses of the result of the scf.if are replaced at its first position
/// among those that the loop forwards.
static constexpr const char *kDropThen =
    "(anonymous namespace)::WhileMoveIfDown";

static SmallVector<std::string> getDisabledPatterns(GuardSet guards) {
  SmallVector<std::string> disabled;
  if (guards.contains(Guard::Roundings))
    disabled.append(std::begin(kDropRounding), std::end(kDropRounding));
  if (guards.contains(Guard::IndexCasts))
    disabled.append(std::begin(kDropTruncation), std::end(kDropTruncation));
  if (guards.contains(Guard::TripCounts))
    disabled.push_back(kDropIterations);
  if (guards.contains(Guard::ForwardedResults))
    disabled.push_back(kDropThen);
  return disabled;
}

namespace {
/// MLIR's canonicalizer takes no patterns besides those of the dialects.
class CanonicalizerPass
    : public PassWrapper<CanonicalizerPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CanonicalizerPass)

  explicit CanonicalizerPass(GuardSet guards) : guards(guards) {}

  StringRef getName() const override { return "Canonicalizer"; }

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(all, context);
    if (guards.contains(Guard::TripCounts))
      populateShortLoopPatterns(all);
    patterns =
        FrozenRewritePatternSet(std::move(all), getDisabledPatterns(guards));
    return success();
  }

  void runOnOperation() override {
    // Like MLIR's, it is content with IR that is not at a fixed point.
    (void)applyPatternsGreedily(getOperation(), patterns);
  }

private:
  GuardSet guards;
  FrozenRewritePatternSet patterns;
};
} // namespace

std::unique_ptr<Pass> mlir::iris::createCanonicalizerPass(GuardSet guards) {
  return std::make_unique<CanonicalizerPass>(guards);
}
