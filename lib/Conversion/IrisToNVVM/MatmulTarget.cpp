// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulTarget.cpp - The matmul lowering of a chip -------------------===//

#include "MmaMatmul.h"
#include "WgmmaMatmul.h"
#include "iris/Chips/ChipInfo.h"
#include "iris/Conversion/IrisToNVVM.h"

using namespace mlir;
using namespace mlir::iris;

std::unique_ptr<MatmulTarget>
mlir::iris::createNVVMMatmulTarget(StringRef name) {
  const ChipInfo *chip = findChip(name);
  if (!chip || chip->isAMD())
    return nullptr;
  return chip->nvidia.hasWgmma ? createWgmmaMatmulTarget(*chip)
                               : createMmaMatmulTarget(*chip);
}
