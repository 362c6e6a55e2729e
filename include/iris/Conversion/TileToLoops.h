// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of tiles to loops over memory for the host target, where one OS
// thread holds whole tiles.

#ifndef IRIS_CONVERSION_TILETOLOOPS_H
#define IRIS_CONVERSION_TILETOLOOPS_H

#include "iris/Guards/Guards.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::iris {

/// Marks the func.func of an outlined kernel.
inline constexpr StringLiteral kKernelAttr = "iris.kernel";
/// Bytes of tile buffers that one program of a kernel needs.
inline constexpr StringLiteral kArenaBytesAttr = "iris.arena_bytes";

#define GEN_PASS_DECL
#include "iris/Conversion/TileToLoopsPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Conversion/TileToLoopsPasses.h.inc"

/// Stage `tiles` of the host target, on a gpu.module: converts kernels to
/// func.func without tiles.
void buildTileToLoopsPipeline(OpPassManager &pm, GuardSet guards);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_TILETOLOOPS_H
