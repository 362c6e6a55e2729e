// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SpillSearch.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/DebugLog.h"

#include <utility>

#define DEBUG_TYPE "iris-spill-search"

using mlir::iris::SpillSearch;

/// Values of several registers need consecutive ones, so the allocator cannot
/// use all of them, nor is it known how many. So margins grow.
static constexpr unsigned kMostMargin = 4;

SpillSearch::SpillSearch(llvm::LLVMContext &context)
    : context(context), gate(sinking) {
  context.setOptPassGate(gate);
}

SpillSearch::~SpillSearch() {
  context.setOptPassGate(llvm::getGlobalPassGate());
}

void SpillSearch::addPasses(llvm::TargetPassConfig &config) {
  spills.clear();
  sinkInvariants(config, sinking);
  keepScalarsInVectors(config, margins, predicts);
  countSpills(config, spills);
}

/// A larger margin is of no use if there are too few vector registers as well.
/// Kernels that spill those compute invariants in outer loops first; others, if
/// no margin helps, since margins change less.
SpillSearch::Attempt SpillSearch::chooseNext(Kernel &kernel,
                                             const Spills &found) {
  const Attempt last = kernel.attempt;
  bool isBest = !kernel.fewest || found < *kernel.fewest;
  if (isBest) {
    kernel.fewest = found;
    kernel.best = last;
  }
  const Spills &fewest = *kernel.fewest;
  bool wantsMargin = found.scalars > 0 && found.vectors <= fewest.vectors &&
                     last.margin < kMostMargin;
  if (fewest.scalars + fewest.vectors == 0)
    kernel.isFinal = true;
  else if (!kernel.hasSunk && (fewest.vectors > 0 || !wantsMargin)) {
    kernel.hasSunk = true;
    return {0, true};
  } else if (last == Attempt{0, true} && kernel.best == Attempt{} &&
             fewest.scalars > 0)
    return {kFirstMargin, false};
  else if (wantsMargin)
    return {last.margin + 1, last.sinks};
  kernel.isFinal = true;
  return kernel.best;
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
  for (const auto &[kernel, margin] : margins)
    kernels[kernel].attempt.margin = margin;
  return !wrong.empty();
}

bool SpillSearch::wantsAnother() {
  if (std::exchange(predicts, false) && predictedWrongly())
    return true;
  bool differs = false;
  for (const auto &[name, found] : spills) {
    Kernel &kernel = kernels[name];
    LDBG() << name << ", margin " << kernel.attempt.margin
           << (kernel.attempt.sinks ? ", invariants in outer loops" : "")
           << ": spills " << found.scalars << " scalar registers, "
           << found.vectors << " vector registers";
    if (kernel.isFinal)
      continue;
    Attempt next = chooseNext(kernel, found);
    differs |= !(next == kernel.attempt);
    kernel.attempt = next;
    if (next.margin > 0)
      margins[name] = next.margin;
    else
      margins.erase(name);
    if (next.sinks)
      sinking.insert(name);
    else
      sinking.erase(name);
  }
  return differs;
}
