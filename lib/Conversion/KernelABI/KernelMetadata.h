// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelMetadata.h - Argument layout and metadata ----------*- C++ -*-===//
//
// The layout of arguments in the argument block of RuntimeABI.h, and their
// description in the package's metadata.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_KERNELABI_KERNELMETADATA_H
#define IRIS_LIB_CONVERSION_KERNELABI_KERNELMETADATA_H

#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::iris {

/// Of a kernel that waits for the one in front of it itself (unit).
inline constexpr llvm::StringLiteral kDependentLaunchAttr =
    "iris.dependent_launch";

/// One item of the argument block: a context field, a pointer, a size, a
/// stride or a scalar.
struct BlockItem {
  int64_t offset;
  /// Type of the item in memory: iN, fN, or null for a pointer.
  Type type;
};

/// One argument of a kernel and its items.
struct ArgumentLayout {
  SmallVector<BlockItem> items;
};

/// A tensor map that the runtime creates for the kernel, and the ops that use
/// it.
struct TensorMapLayout {
  int64_t offset;
  SmallVector<TensorMapOp> uses;
};

/// The argument block of a kernel.
struct BlockLayout {
  SmallVector<ArgumentLayout> arguments;
  int64_t bytes = 0;
  /// Hidden arguments: an i64 with a bit for each valid map, followed by the
  /// maps. Neither exists if there are no maps.
  int64_t mapMaskOffset = 0;
  SmallVector<TensorMapLayout> maps;
};

/// Lays out the arguments of `kernel`; emits an error for types that the ABI
/// does not support.
FailureOr<BlockLayout> layOutArguments(FunctionOpInterface kernel);

/// The `iris.meta` dictionary of `kernel`, in the shape of the package's JSON.
/// The image exports the kernel as `symbol`.
DictionaryAttr describeKernel(FunctionOpInterface kernel,
                              const BlockLayout &layout, int64_t threads,
                              StringRef symbol);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_KERNELABI_KERNELMETADATA_H
