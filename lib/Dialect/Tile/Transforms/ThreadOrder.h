// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which thread of a program makes an access, what orders the accesses of
// different threads, and what of that depends on the arguments: for the passes
// of this folder.
#ifndef IRIS_LIB_DIALECT_TILE_TRANSFORMS_THREADORDER_H
#define IRIS_LIB_DIALECT_TILE_TRANSFORMS_THREADORDER_H

#include "iris/Analysis/AccessConflicts.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tile {

/// Pairs of arguments, by number, and what their accesses rely on.
using Overlaps = llvm::MapVector<std::pair<unsigned, unsigned>, iris::Overlap>;

/// Raises what the pair relies on to `needed`.
void addOverlap(Overlaps &overlaps, std::pair<unsigned, unsigned> pair,
                iris::Overlap needed);

/// Assigns a layout to every tile; reports a pinned layout that does not fit.
LogicalResult assignLayouts(FunctionOpInterface function, unsigned warpSize);

/// Inserts all barriers, with a remark for each one if `remarks`; returns what
/// the function relies on.
Overlaps insertBarriers(FunctionOpInterface function, bool remarks);

/// Sets `iris.argument_overlaps`, the pairs of arguments that the launch
/// checks.
void setOverlaps(FunctionOpInterface function, Overlaps overlaps);

} // namespace mlir::tile

#endif // IRIS_LIB_DIALECT_TILE_TRANSFORMS_THREADORDER_H
