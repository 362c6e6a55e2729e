// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that the threads of a program share: shared memory (LDS).
#ifndef IRIS_ANALYSIS_WORKGROUPMEMORY_H
#define IRIS_ANALYSIS_WORKGROUPMEMORY_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::iris {

/// Alignment in bytes of buffers in workgroup memory: the width of the widest
/// access.
inline constexpr uint64_t kWorkgroupAlignment = 16;

/// A buffer that is larger is refused on every target, also on those with more
/// shared memory: kernels compile for all of them.
inline constexpr uint64_t kMaxWorkgroupBytes = 227 << 10;

/// Marks a host allocation that represents workgroup memory: it lives as long
/// as the program, independent of its uses.
inline constexpr llvm::StringLiteral kProgramMemoryAttr = "iris.program_memory";

/// The result for sizes that 64 bits cannot hold.
inline constexpr uint64_t kSaturatedBytes = UINT64_MAX;

/// Bytes of a buffer of static shape; kSaturatedBytes if there are more.
uint64_t getBufferBytes(MemRefType type);

/// Bytes of workgroup memory that `function` declares, including alignment
/// padding; 0 if it is not a `gpu.func`, kSaturatedBytes if there are more.
uint64_t getWorkgroupAttributionBytes(FunctionOpInterface function);

/// True if `type` is in workgroup memory.
bool isWorkgroupMemory(MemRefType type);

} // namespace mlir::iris

#endif // IRIS_ANALYSIS_WORKGROUPMEMORY_H
