// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisThreadOps.cpp - Ops below the tile level -----------------------===//

#include "iris/Dialect/Iris/IR/Iris.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::iris;

ArrayRef<ContextField> mlir::iris::getContextFields() {
  // In the order of IrisRtContext.
  static constexpr ContextField fields[] = {
      {"rank", 32},         {"numRanks", 32},  {"heapBase", 64},
      {"heapStride", 64},   {"heapTable", 64}, {"heapBytes", 64},
      {"control", 64},      {"waitLimit", 64}, {"trace", 64},
      {"groupMembers", 64}, {"groupSize", 32}, {"groupIndex", 32},
      {"memoryKind", 32},   {"launchId", 32}};
  return fields;
}

LogicalResult CtxFieldOp::verify() {
  for (const ContextField &field : getContextFields())
    if (field.name == getField()) {
      if (getType().getIntOrFloatBitWidth() != field.bits)
        return emitOpError("result is ")
               << getType() << "; expected i" << field.bits << " for field "
               << field.name;
      return success();
    }
  return emitOpError("there is no field ")
         << getField() << " in the device context";
}
