// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShortLoops.h - Loops of at most one iteration ------------*- C++ -*-===//

#ifndef IRIS_GUARDS_SHORTLOOPS_H
#define IRIS_GUARDS_SHORTLOOPS_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::iris {

/// Replaces an `scf.for` without iterations by its initial values, one of a
/// single iteration by its body, and one whose body is empty by what it yields.
void populateShortLoopPatterns(RewritePatternSet &patterns);

} // namespace mlir::iris

#endif // IRIS_GUARDS_SHORTLOOPS_H
