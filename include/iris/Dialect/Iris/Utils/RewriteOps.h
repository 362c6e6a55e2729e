// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RewriteOps.h - Patterns for some ops of a region ---------*- C++ -*-===//

#ifndef IRIS_DIALECT_IRIS_UTILS_REWRITEOPS_H
#define IRIS_DIALECT_IRIS_UTILS_REWRITEOPS_H

#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace mlir::iris {

/// Applies `patterns` to the ops within `root` for which `isCandidate` is true,
/// and to the ops that the patterns create, until none matches.
///
/// `applyPatternsGreedily(root, ...)` also folds all other ops and simplifies
/// all regions, a multiple of the work for patterns that few ops match. Use
/// that where no canonicalization follows.
LogicalResult rewriteOps(Operation *root,
                         const FrozenRewritePatternSet &patterns,
                         llvm::function_ref<bool(Operation *)> isCandidate);

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_UTILS_REWRITEOPS_H
