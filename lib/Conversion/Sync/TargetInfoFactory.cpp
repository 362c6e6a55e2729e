// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetInfoFactory.cpp - Creates targets by name --------------------===//

#include "iris/Conversion/IrisToLLVM.h"
#include "iris/Conversion/IrisToNVVM.h"
#include "iris/Conversion/IrisToROCDL.h"
#include "iris/Conversion/TargetInfo.h"

using namespace mlir;
using namespace mlir::iris;

std::unique_ptr<TargetInfo> mlir::iris::createTargetInfo(StringRef name) {
  for (auto create :
       {createROCDLTargetInfo, createNVVMTargetInfo, createHostTargetInfo})
    if (std::unique_ptr<TargetInfo> target = create(name))
      return target;
  return nullptr;
}
