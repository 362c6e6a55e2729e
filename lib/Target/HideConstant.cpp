// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HideConstant.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

llvm::Value *mlir::iris::hideConstant(llvm::IRBuilder<> &b, llvm::Type *type,
                                      const llvm::APInt &bits) {
  unsigned width = bits.getBitWidth();
  llvm::Type *word = b.getIntNTy(std::max(width, 32u));
  llvm::Value *hidden = b.CreateIntrinsic(
      llvm::Intrinsic::amdgcn_readfirstlane, {word},
      {llvm::ConstantInt::get(word, bits.zext(word->getIntegerBitWidth()))});
  hidden = b.CreateBitCast(b.CreateTrunc(hidden, b.getIntNTy(width)),
                           type->getScalarType());
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    hidden = b.CreateVectorSplat(vector->getElementCount(), hidden);
  return hidden;
}
