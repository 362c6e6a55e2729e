// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What holds after each stage of the pipeline: a single table for
// iris-verify-stage, `iris-compile --list-stages` and
// docs/internals/architecture.md.
#ifndef IRIS_PIPELINES_POSTCONDITIONS_H
#define IRIS_PIPELINES_POSTCONDITIONS_H

#include "mlir/IR/Operation.h"

namespace mlir::iris {

/// Bits: the kinds of targets on which a post-condition holds.
enum StageTargets : unsigned {
  OnHost = 1 << 0,
  OnAMD = 1 << 1,
  OnNVIDIA = 1 << 2,

  OnGPUs = OnAMD | OnNVIDIA,
  OnAllTargets = OnHost | OnGPUs
};

/// One promise of a stage.
struct PostCondition {
  StringLiteral stage;
  unsigned targets;
  /// What holds, as the object of "expected".
  StringLiteral expected;
  /// The pass that makes it hold.
  StringLiteral pass;
  /// True if `op`, without its regions, violates it. Null for the order of
  /// accesses, which is a property of a function.
  bool (*isViolatedBy)(Operation *op);
};

/// All post-conditions, in the order of the stages.
ArrayRef<PostCondition> getPostConditions();

/// True if stage `name` has post-conditions.
bool isVerifiedStage(StringRef name);

/// Prints the table as Markdown.
void printPostConditions(raw_ostream &os);

} // namespace mlir::iris

#endif // IRIS_PIPELINES_POSTCONDITIONS_H
