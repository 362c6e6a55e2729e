// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Analysis/WorkgroupMemory.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

uint64_t mlir::iris::getBufferBytes(MemRefType type) {
  uint64_t bytes = getElementBytes(type.getElementType());
  for (int64_t extent : type.getShape())
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, extent);
  return bytes;
}

/// The end of a buffer of `more` bytes after the first `bytes`; saturates.
static uint64_t addBuffer(uint64_t bytes, uint64_t more) {
  uint64_t end = llvm::SaturatingAdd<uint64_t>(bytes, more);
  return end > kSaturatedBytes - kWorkgroupAlignment
             ? kSaturatedBytes
             : llvm::alignTo(end, kWorkgroupAlignment);
}

uint64_t
mlir::iris::getWorkgroupAttributionBytes(FunctionOpInterface function) {
  auto kernel = dyn_cast<gpu::GPUFuncOp>(*function);
  uint64_t bytes = 0;
  if (kernel)
    for (BlockArgument buffer : kernel.getWorkgroupAttributions())
      bytes =
          addBuffer(bytes, getBufferBytes(cast<MemRefType>(buffer.getType())));
  return bytes;
}

bool mlir::iris::isWorkgroupMemory(MemRefType type) {
  Attribute space = type.getMemorySpace();
  // The numeric address space of GPUs.
  if (auto number = dyn_cast_or_null<IntegerAttr>(space))
    return number.getInt() == 3;
  auto named = dyn_cast_or_null<gpu::AddressSpaceAttr>(space);
  return named && named.getValue() == gpu::AddressSpace::Workgroup;
}
