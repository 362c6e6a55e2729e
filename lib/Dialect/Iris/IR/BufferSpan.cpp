// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Dialect/Iris/IR/BufferSpan.h"

#include "iris/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

/// The product of the extents; saturates.
static uint64_t countElements(MemRefType type) {
  uint64_t count = 1;
  for (int64_t extent : type.getShape())
    if (!ShapedType::isDynamic(extent))
      count = llvm::SaturatingMultiply<uint64_t>(count, extent);
  return count;
}

/// One more than the number of the last element of a strided buffer; saturates.
static uint64_t countSpan(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return 0;
  uint64_t end =
      ShapedType::isDynamic(offset) ? 0 : llvm::AbsoluteValue(offset);
  end = llvm::SaturatingAdd<uint64_t>(end, 1);
  for (auto [extent, stride] : llvm::zip_equal(type.getShape(), strides))
    if (!ShapedType::isDynamic(extent) && !ShapedType::isDynamic(stride) &&
        extent > 0)
      end = llvm::SaturatingMultiplyAdd<uint64_t>(
          extent - 1, llvm::AbsoluteValue(stride), end);
  return end;
}

bool mlir::iris::isAddressable(MemRefType type) {
  // The strides of a row-major buffer are products of extents.
  uint64_t count = countElements(type);
  if (!type.getLayout().isIdentity())
    count = std::max(count, countSpan(type));
  Type element = type.getElementType();
  uint64_t bytes = llvm::SaturatingMultiply<uint64_t>(
      count,
      element.isIntOrIndexOrFloat() ? tile::getElementBytes(element) : 1);
  return bytes <= static_cast<uint64_t>(INT64_MAX);
}
