// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SpillSearch.h"

#include "llvm/Support/DebugLog.h"

#include <utility>

#define DEBUG_TYPE "iris-spill-search"

using mlir::iris::ScalarMargins;
using mlir::iris::SpillSearch;

/// Values of several registers need consecutive ones, so the allocator cannot
/// use all of them, nor is it known how many. So margins grow.
static constexpr unsigned kMostAttempts = 4;

void SpillSearch::addPasses(llvm::TargetPassConfig &config) {
  spills.clear();
  keepScalarsInVectors(config, margins, predicts);
  countSpills(config, spills);
}

/// Records the kernels that spill less than before. A larger margin is of no
/// use if there are too few vector registers as well.
void SpillSearch::compare() {
  for (auto &[kernel, found] : spills) {
    LDBG() << kernel << ", attempt " << attempts << ", margin "
           << margins.lookup(kernel) << ": spills " << found.scalars
           << " scalar registers, " << found.vectors << " vector registers";
    auto margin = margins.find(kernel);
    Best first{found, {}, false};
    if (margin != margins.end())
      first.margin = margin->second;
    auto [known, isNew] = best.try_emplace(kernel, first);
    Best &other = known->second;
    other.isFinal |= found.scalars == 0 || found.vectors > other.spills.vectors;
    if (isNew || !(found < other.spills))
      continue;
    other.spills = found;
    other.margin = margins.lookup(kernel);
  }
}

/// The margins with which each kernel spills the fewest registers; those of
/// kernels that still spill scalars, the next ones to try.
ScalarMargins SpillSearch::choose() const {
  ScalarMargins chosen;
  for (const auto &[kernel, found] : best) {
    if (!found.isFinal && attempts <= kMostAttempts)
      chosen[kernel] = attempts;
    else if (found.margin)
      chosen[kernel] = *found.margin;
  }
  return chosen;
}

static bool areEqual(const ScalarMargins &a, const ScalarMargins &b) {
  return a.size() == b.size() && llvm::all_of(a, [&](const auto &each) {
           auto other = b.find(each.first());
           return other != b.end() && other->second == each.second;
         });
}

/// Removes the margins of kernels that spill in spite of them; true if there
/// are any. Their search then begins without copies.
bool SpillSearch::predictedWrongly() {
  llvm::SmallVector<llvm::StringRef> wrong;
  for (const auto &[kernel, margin] : margins)
    if (Spills found = spills.lookup(kernel); found.scalars + found.vectors > 0)
      wrong.push_back(kernel);
  for (llvm::StringRef kernel : wrong)
    margins.erase(kernel);
  return !wrong.empty();
}

bool SpillSearch::wantsAnother() {
  if (std::exchange(predicts, false) && predictedWrongly())
    return true;
  compare();
  ++attempts;
  ScalarMargins next = choose();
  if (areEqual(next, margins))
    return false;
  margins = std::move(next);
  return true;
}
