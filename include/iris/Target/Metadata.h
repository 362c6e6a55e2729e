// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of attributes of lowered kernels to the JSON metadata of a package
// (RuntimeABI.h, section 5).
#ifndef IRIS_TARGET_METADATA_H
#define IRIS_TARGET_METADATA_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::iris {

/// Discardable attribute of a lowered kernel: a dictionary that mirrors the
/// kernel's JSON object one to one.
inline constexpr llvm::StringLiteral kernelMetaAttrName = "iris.meta";

/// The lowered kernels (functions that the image exports) of `module`, a
/// `gpu.module` or a top-level module in the LLVM dialect, in order.
SmallVector<Operation *> getExportedFunctions(Operation *module);

/// The symbol that the image exports for `function`: the one in its metadata,
/// or the function's name if it has none.
StringRef getExportedSymbol(Operation *function);

/// Threads per workgroup of a lowered kernel, from its metadata; none if
/// unknown.
std::optional<int64_t> getWorkgroupThreads(Operation *kernel);

/// The `iris.meta` string of a package entry: `{"kernels": [...]}` for the
/// kernels of `gpuModules`. It is an error (reported) if a kernel has no
/// metadata, or an attribute that JSON cannot represent.
FailureOr<std::string> buildKernelMetadata(ArrayRef<Operation *> gpuModules);

} // namespace mlir::iris

#endif // IRIS_TARGET_METADATA_H
