// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShortLoops.h - Loops of at most one iteration ------------*- C++ -*-===//

#ifndef IRIS_GUARDS_SHORTLOOPS_H
#define IRIS_GUARDS_SHORTLOOPS_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::iris {

/// What the name of MLIR's pattern is, which this one replaces. MLIR subtracts
/// the bounds in their type, so that a loop from -2^31 to 1 of i32 has no
/// iteration.
inline constexpr const char *kSimplifyTrivialLoops =
    "(anonymous namespace)::SimplifyTrivialLoops";

/// Replaces an `scf.for` without iterations by its initial values, one of a
/// single iteration by its body, and one whose body is empty by what it yields.
void populateShortLoopPatterns(RewritePatternSet &patterns);

} // namespace mlir::iris

#endif // IRIS_GUARDS_SHORTLOOPS_H
