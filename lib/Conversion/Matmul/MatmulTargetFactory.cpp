// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulTargetFactory.cpp - Creates matmul targets by name -----------===//

#include "iris/Chips/ChipInfo.h"
#include "iris/Conversion/IrisToNVVM.h"
#include "iris/Conversion/IrisToROCDL.h"
#include "iris/Conversion/MatmulTarget.h"

using namespace mlir;
using namespace mlir::iris;

std::unique_ptr<MatmulTarget> mlir::iris::createMatmulTarget(StringRef name) {
  for (auto create : {createROCDLMatmulTarget, createNVVMMatmulTarget})
    if (std::unique_ptr<MatmulTarget> target = create(name))
      return target;
  return nullptr;
}

LogicalResult mlir::iris::reportNoMatmulTarget(tile::MatmulOp op,
                                               StringRef name) {
  if (!findChip(name))
    return op.emitOpError("is compiled for an ") << describeUnknownTarget(name);
  return op.emitOpError("has no matrix instructions on ") << name;
}
