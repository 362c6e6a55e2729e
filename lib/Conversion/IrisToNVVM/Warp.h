// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all NVIDIA chips have in common.
#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_WARP_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_WARP_H

#include <cstdint>

namespace mlir::iris {

/// Threads of a warp.
inline constexpr int64_t kWarpSize = 32;
/// The address space of shared memory.
inline constexpr unsigned kSharedSpace = 3;

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_WARP_H
