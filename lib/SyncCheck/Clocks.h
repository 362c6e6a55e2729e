// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Clocks.h - What comes before a point of an execution -----*- C++ -*-===//
#ifndef IRIS_LIB_SYNCCHECK_CLOCKS_H
#define IRIS_LIB_SYNCCHECK_CLOCKS_H

#include "iris/Dialect/Iris/IR/Iris.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::iris::sync {

/// Of every thread, how many of its steps came before.
class VectorClock {
public:
  bool covers(unsigned thread, uint32_t step) const {
    return thread < steps.size() && steps[thread] >= step;
  }
  void set(unsigned thread, uint32_t step) {
    if (thread >= steps.size())
      steps.resize(thread + 1, 0);
    steps[thread] = step;
  }
  void join(const VectorClock &other) {
    if (other.steps.size() > steps.size())
      steps.resize(other.steps.size(), 0);
    for (auto [mine, theirs] : llvm::zip(steps, other.steps))
      mine = std::max(mine, theirs);
  }

private:
  SmallVector<uint32_t, 8> steps;
};

/// What comes before a point.
struct Past {
  /// By the memory model.
  VectorClock clock;
  /// The same if every synchronizing op were a release and an acquire at scope
  /// sys: the order that the program seems to mean.
  VectorClock meant;

  void join(const Past &other) {
    clock.join(other.clock);
    meant.join(other.meant);
  }
  void set(unsigned thread, uint32_t step) {
    clock.set(thread, step);
    meant.set(thread, step);
  }
};

/// What a write of a flag makes visible, and to whom.
struct Release {
  Past past;
  Scope scope = Scope::Sys;
  unsigned thread = 0;
  unsigned rank = 0;
};

/// A program and its successors with the same block index on one rank.
struct Thread {
  Past past;
  uint32_t step = 1;
  /// Of the last release: relaxed writes after it publish it.
  VectorClock released;
  /// What relaxed reads saw: the next acquire makes it visible.
  VectorClock seen;
};

} // namespace mlir::iris::sync

#endif // IRIS_LIB_SYNCCHECK_CLOCKS_H
