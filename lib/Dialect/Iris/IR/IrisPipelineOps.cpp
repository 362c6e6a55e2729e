// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisPipelineOps.cpp - Ops of warp-specialized kernels --------------===//

#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

LogicalResult TensorMapOp::verify() {
  auto type = cast<MemRefType>(getBuffer().getType());
  if (type.getRank() != 2)
    return emitOpError("describes ") << type << "; expected two dimensions";
  if (getContiguous() > 1)
    return emitOpError("has dimension ")
           << getContiguous() << " as contiguous; expected 0 or 1";
  ArrayRef<int64_t> box = getBox();
  if (box.size() != 2 ||
      llvm::any_of(box, [](int64_t n) { return n < 1 || n > 256; }))
    return emitOpError("has the box [")
           << box << "]; expected two extents from 1 to 256";
  int64_t swizzle = getSwizzle();
  int64_t row = box.front() * type.getElementTypeBitWidth() / 8;
  if (swizzle < 32 || swizzle > 128 || !llvm::isPowerOf2_64(swizzle) ||
      row != swizzle)
    return emitOpError("has rows of ")
           << row << " bytes and a swizzle of " << swizzle
           << "; expected rows of as many bytes as the swizzle, 32, 64 or 128";
  return success();
}

#define GET_OP_CLASSES
#include "iris/Dialect/Iris/IR/IrisPipelineOps.cpp.inc"
