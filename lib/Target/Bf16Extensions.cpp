// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Bf16Extensions.h"

#include "PreserveControlFlow.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

static bool narrowsToF16(const llvm::Instruction &op) {
  return llvm::isa<llvm::FPTruncInst>(op) &&
         op.getType()->getScalarType()->isHalfTy();
}

static bool extendsBf16(const llvm::Instruction &op) {
  return llvm::isa<llvm::FPExtInst>(op) &&
         op.getOperand(0)->getType()->getScalarType()->isBFloatTy();
}

/// The extension by bits: those of a bf16 are the upper half of those of f32.
static llvm::Value *extendBits(llvm::Instruction &extension) {
  llvm::IRBuilder<> b(&extension);
  llvm::Value *source = extension.getOperand(0);
  llvm::Type *type = source->getType();
  llvm::Value *bits =
      b.CreateBitCast(source, type->getWithNewType(b.getInt16Ty()));
  llvm::Value *wide = b.CreateZExt(bits, type->getWithNewType(b.getInt32Ty()));
  llvm::Value *number = b.CreateBitCast(b.CreateShl(wide, 16),
                                        type->getWithNewType(b.getFloatTy()));
  return b.CreateFPExt(number, extension.getType());
}

llvm::PreservedAnalyses
mlir::iris::Bf16ExtensionsPass::run(llvm::Function &function,
                                    llvm::FunctionAnalysisManager &) {
  if (llvm::none_of(llvm::instructions(function), narrowsToF16))
    return llvm::PreservedAnalyses::all();
  llvm::SmallVector<llvm::Instruction *> extensions;
  for (llvm::Instruction &op : llvm::instructions(function))
    if (extendsBf16(op))
      extensions.push_back(&op);
  for (llvm::Instruction *op : extensions) {
    op->replaceAllUsesWith(extendBits(*op));
    op->eraseFromParent();
  }
  return mlir::iris::preserveControlFlow(!extensions.empty());
}
