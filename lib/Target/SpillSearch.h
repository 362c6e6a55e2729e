// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SPILLSEARCH_H
#define IRIS_TARGET_SPILLSEARCH_H

#include "ScalarsInVectors.h"
#include "SinkInvariants.h"

#include <optional>

namespace llvm {
class LLVMContext;
} // namespace llvm

namespace mlir::iris {

/// Finds out how each kernel spills the fewest registers: by how many scalars
/// in vector registers, and whether invariants are computed in outer loops.
/// Kernels that spill nothing keep LLVM's code. Those that certainly spill
/// scalars are first generated with some of them in vector registers, which
/// saves an attempt if nothing spills then. Use:
///
///     do generate code with `addPasses`; while (search.wantsAnother());
class SpillSearch {
public:
  /// \param context of the module, while code is generated
  explicit SpillSearch(llvm::LLVMContext &context);
  SpillSearch(const SpillSearch &) = delete;
  ~SpillSearch();

  void addPasses(llvm::TargetPassConfig &config);

  /// Whether the code has to be generated again, with the passes of the next
  /// attempt; the last code is the best one.
  bool wantsAnother();

private:
  struct Attempt {
    /// Of scalars in vector registers; 0: as LLVM allocates them.
    unsigned margin = 0;
    /// Whether invariants are computed in outer loops.
    bool sinks = false;

    bool operator==(const Attempt &other) const {
      return margin == other.margin && sinks == other.sinks;
    }
  };
  struct Kernel {
    /// That of the last code.
    Attempt attempt;
    Attempt best;
    std::optional<Spills> fewest;
    bool hasSunk = false;
    bool isFinal = false;
  };

  bool predictedWrongly();
  static Attempt chooseNext(Kernel &kernel, const Spills &found);

  llvm::LLVMContext &context;
  HoistingGate gate;
  /// Whether the next attempt is the one with predictions, the first.
  bool predicts = true;
  /// What the next attempt does.
  ScalarMargins margins;
  llvm::StringSet<> sinking;
  llvm::StringMap<Spills> spills;
  llvm::StringMap<Kernel> kernels;
};

} // namespace mlir::iris

#endif // IRIS_TARGET_SPILLSEARCH_H
