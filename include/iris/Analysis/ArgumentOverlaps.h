// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels say of arguments whose memory overlaps.
#ifndef IRIS_ANALYSIS_ARGUMENTOVERLAPS_H
#define IRIS_ANALYSIS_ARGUMENTOVERLAPS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::iris {

/// Unit, on a kernel: it orders what it accesses through arguments that overlap
/// by itself, and may be launched with any.
inline constexpr llvm::StringLiteral kMayOverlapAttr = "iris.may_overlap";
/// On a kernel, from `tile-insert-barriers`: pairs of arguments, by number,
/// whose memory must not overlap, or not unless it is the same.
inline constexpr llvm::StringLiteral kArgumentOverlapsAttr =
    "iris.argument_overlaps";
inline constexpr llvm::StringLiteral kDisjointArguments = "disjoint";
inline constexpr llvm::StringLiteral kSameOrDisjointArguments =
    "same_or_disjoint";

} // namespace mlir::iris

#endif // IRIS_ANALYSIS_ARGUMENTOVERLAPS_H
