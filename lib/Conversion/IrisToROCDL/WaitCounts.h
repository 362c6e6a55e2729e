// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of s_waitcnt.
#ifndef IRIS_LIB_CONVERSION_IRISTOROCDL_WAITCOUNTS_H
#define IRIS_LIB_CONVERSION_IRISTOROCDL_WAITCOUNTS_H

#include <cstdint>

namespace mlir::iris {

/// On gfx9: wait until all memory accesses of the wave have completed. The
/// fields are vmcnt 3:0 and 15:14, expcnt 6:4, lgkmcnt 11:8; a field with all
/// ones does not wait.
inline constexpr uint32_t kWaitForMemoryGFX9 = (0x7 << 4) | (0xf << 8);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTOROCDL_WAITCOUNTS_H
