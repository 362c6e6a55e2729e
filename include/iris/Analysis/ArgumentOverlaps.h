// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of kernels whose arguments may overlap in memory.
#ifndef IRIS_ANALYSIS_ARGUMENTOVERLAPS_H
#define IRIS_ANALYSIS_ARGUMENTOVERLAPS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::iris {

/// Unit attribute of a kernel: the kernel itself orders its accesses through
/// overlapping arguments, and may be launched with any arguments.
inline constexpr llvm::StringLiteral kMayOverlapAttr = "iris.may_overlap";
/// Attribute of a kernel, set by `tile-insert-barriers` and, for the host, by
/// `tile-record-overlaps`: pairs of argument numbers whose buffers must be
/// disjoint, or identical or disjoint.
inline constexpr llvm::StringLiteral kArgumentOverlapsAttr =
    "iris.argument_overlaps";
inline constexpr llvm::StringLiteral kDisjointArguments = "disjoint";
inline constexpr llvm::StringLiteral kSameOrDisjointArguments =
    "same_or_disjoint";

} // namespace mlir::iris

#endif // IRIS_ANALYSIS_ARGUMENTOVERLAPS_H
