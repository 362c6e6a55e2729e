// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SPILLSEARCH_H
#define IRIS_TARGET_SPILLSEARCH_H

#include "ScalarsInVectors.h"

#include <optional>

namespace mlir::iris {

/// Finds out by how many scalars in vector registers each kernel spills the
/// fewest registers. Kernels that spill no scalars keep all of them. Those that
/// certainly would are first generated with some scalars in vector registers,
/// which saves an attempt if nothing spills then. Use:
///
///     do generate code with `addPasses`; while (search.wantsAnother());
class SpillSearch {
public:
  void addPasses(llvm::TargetPassConfig &config);

  /// Whether the code has to be generated again, with the passes of the next
  /// attempt; the last code is the best one.
  bool wantsAnother();

private:
  struct Best {
    Spills spills;
    std::optional<unsigned> margin;
    bool isFinal;
  };

  bool predictedWrongly();
  void compare();
  ScalarMargins choose() const;

  /// Whether the next attempt is the one with predictions, the first.
  bool predicts = true;
  /// The number of times that code has been generated without predictions.
  unsigned attempts = 0;
  ScalarMargins margins;
  llvm::StringMap<Spills> spills;
  llvm::StringMap<Best> best;
};

} // namespace mlir::iris

#endif // IRIS_TARGET_SPILLSEARCH_H
