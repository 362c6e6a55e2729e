// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "UnsignedConversions.h"

#include "PreserveControlFlow.h"
#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

/// The floats with as many bits as the integers, which a fence needs; null if
/// there are none: all floats hold every integer of 8 bits.
static llvm::Type *getFloatsOfSize(llvm::Type *integers) {
  llvm::LLVMContext &context = integers->getContext();
  switch (integers->getScalarSizeInBits()) {
  case 16:
    return integers->getWithNewType(llvm::Type::getHalfTy(context));
  case 32:
    return integers->getWithNewType(llvm::Type::getFloatTy(context));
  case 64:
    return integers->getWithNewType(llvm::Type::getDoubleTy(context));
  default:
    return nullptr;
  }
}

static bool mayBeNegative(const llvm::UIToFPInst &conversion) {
  const llvm::Value *integer = conversion.getOperand(0);
  const llvm::DataLayout &layout = conversion.getModule()->getDataLayout();
  return !llvm::isa<llvm::Constant>(integer) &&
         !llvm::isKnownNonNegative(integer,
                                   llvm::SimplifyQuery(layout, &conversion));
}

llvm::PreservedAnalyses
mlir::iris::UnsignedConversionsPass::run(llvm::Function &function,
                                         llvm::FunctionAnalysisManager &) {
  bool hasChanged = false;
  for (llvm::Instruction &op :
       llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *conversion = llvm::dyn_cast<llvm::UIToFPInst>(&op);
    if (!conversion || !mayBeNegative(*conversion))
      continue;
    llvm::Value *integer = conversion->getOperand(0);
    llvm::Type *floats = getFloatsOfSize(integer->getType());
    if (!floats)
      continue;
    llvm::IRBuilder<> b(conversion);
    llvm::Value *hidden =
        b.CreateArithmeticFence(b.CreateBitCast(integer, floats), floats);
    conversion->setOperand(0, b.CreateBitCast(hidden, integer->getType()));
    hasChanged = true;
  }
  return mlir::iris::preserveControlFlow(hasChanged);
}
