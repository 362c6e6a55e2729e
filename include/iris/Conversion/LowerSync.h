// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerSync.h - Lowering of the sync ops -------------------*- C++ -*-===//

#ifndef IRIS_CONVERSION_LOWERSYNC_H
#define IRIS_CONVERSION_LOWERSYNC_H

#include "iris/Conversion/TargetInfo.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::iris {

/// How the address of a buffer on another rank is computed.
enum class Translation {
  /// Heaps have a uniform stride: a multiply-add.
  Stride,
  /// A table in memory holds the base of every heap.
  Table
};

/// Attributes that the lowering sets on a kernel, for its metadata
/// (RuntimeABI.h). The op, location, message and element type of each `site`
/// number.
inline constexpr StringLiteral kSitesAttr = "iris.sites";
/// The arguments that hold the state of barriers: the metadata's "barriers".
inline constexpr StringLiteral kBarriersAttr = "iris.barriers";
/// Unit attribute: the programs of the kernel wait for each other, and must be
/// co-resident.
inline constexpr StringLiteral kCoresidentAttr = "iris.coresident";
/// Bytes of workgroup memory.
inline constexpr StringLiteral kSharedBytesAttr = "iris.shared_bytes";
/// Marks the kernels among the `func.func`s of the host target. A string value
/// is the kernel's name if it differs from the function's.
inline constexpr StringLiteral kHostKernelAttr = "iris.kernel";

/// Set by iris-elide-fences (unit attributes).
/// The op's release is a fence that later ops share.
inline constexpr StringLiteral kReleaseSharedAttr = "iris.release_shared";
/// The fence of an earlier op releases this op.
inline constexpr StringLiteral kReleaseCoveredAttr = "iris.release_covered";
/// A later fence or wait acquires for this op.
inline constexpr StringLiteral kAcquireCoveredAttr = "iris.acquire_covered";

/// Lowers every op of the iris dialect in `kernel` except `iris.ctx_field`.
/// Control flow must be unstructured and tiles must be lowered; other ops are
/// errors.
LogicalResult lowerSync(FunctionOpInterface kernel, const TargetInfo &target,
                        Translation translation);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_LOWERSYNC_H
