// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HideConstant.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

llvm::Value *mlir::iris::hideConstant(llvm::IRBuilder<> &b, llvm::Type *type,
                                      const llvm::APInt &bits) {
  unsigned width = bits.getBitWidth();
  // Selection knows readfirstlane of 32 and of 64 bits.
  constexpr unsigned most = 64;
  llvm::IntegerType *all = b.getIntNTy(width);
  llvm::Value *hidden = nullptr;
  for (unsigned from = 0; from < width; from += most) {
    llvm::APInt part = bits.extractBits(std::min(most, width - from), from);
    llvm::Type *word = b.getIntNTy(part.getBitWidth() > 32 ? 64 : 32);
    llvm::Value *copy = b.CreateIntrinsic(
        llvm::Intrinsic::amdgcn_readfirstlane, {word},
        {llvm::ConstantInt::get(word, part.zext(word->getIntegerBitWidth()))});
    copy = b.CreateZExtOrTrunc(copy, all);
    hidden = hidden ? b.CreateOr(hidden, b.CreateShl(copy, from)) : copy;
  }
  hidden = b.CreateBitCast(hidden, type->getScalarType());
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    hidden = b.CreateVectorSplat(vector->getElementCount(), hidden);
  return hidden;
}

llvm::Value *mlir::iris::hideValue(llvm::IRBuilder<> &b, llvm::Value *value) {
  llvm::Type *type = value->getType();
  unsigned width = type->getScalarSizeInBits();
  llvm::Type *integers = type->getWithNewType(b.getIntNTy(width));
  llvm::Value *hidden =
      b.CreateXor(b.CreateBitCast(value, integers),
                  hideConstant(b, integers, llvm::APInt(width, 0)));
  return b.CreateBitCast(hidden, type);
}
