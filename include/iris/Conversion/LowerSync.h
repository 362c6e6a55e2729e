// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerSync.h - Addresses, orderings and atomics ------------*- C++
//-*-===//

#ifndef IRIS_CONVERSION_LOWERSYNC_H
#define IRIS_CONVERSION_LOWERSYNC_H

#include "iris/Conversion/TargetInfo.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::iris {

/// How the address of a buffer on another rank is found.
enum class Translation {
  /// Heaps lie at a uniform stride: a multiply-add.
  Stride,
  /// A table in memory has every heap's base.
  Table
};

/// What the lowering leaves on a kernel, for its metadata (RuntimeABI.h).
/// The op, location, message and element type behind each `site` number.
inline constexpr StringLiteral kSitesAttr = "iris.sites";
/// Which arguments hold the state of barriers: the metadata's "barriers".
inline constexpr StringLiteral kBarriersAttr = "iris.barriers";
/// Unit: the programs of the kernel wait for each other.
inline constexpr StringLiteral kCoresidentAttr = "iris.coresident";
/// Bytes of workgroup memory.
inline constexpr StringLiteral kSharedBytesAttr = "iris.shared_bytes";
/// Marks the kernels among the `func.func`s of the host target; a string is the
/// kernel's name where the function has another one.
inline constexpr StringLiteral kHostKernelAttr = "iris.kernel";

/// Set by iris-elide-fences (unit attributes).
/// The op's release is a fence that later ops rely on.
inline constexpr StringLiteral kReleaseSharedAttr = "iris.release_shared";
/// An earlier fence is the op's release.
inline constexpr StringLiteral kReleaseCoveredAttr = "iris.release_covered";
/// A later fence or wait is the op's acquire.
inline constexpr StringLiteral kAcquireCoveredAttr = "iris.acquire_covered";

/// Lowers every op of the iris dialect in `kernel` but `iris.ctx_field`.
/// Control flow must be unstructured, and tiles gone; what is left is reported.
LogicalResult lowerSync(FunctionOpInterface kernel, const TargetInfo &target,
                        Translation translation);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_LOWERSYNC_H
