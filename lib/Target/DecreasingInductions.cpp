// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DecreasingInductions.h"

#include "PreserveControlFlow.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using llvm::Instruction;

/// Drops the flags of `value` if it is a subtraction that has some.
static bool dropFlags(llvm::Value *value) {
  auto *op = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (!op || op->getOpcode() != Instruction::Sub ||
      !(op->hasNoSignedWrap() || op->hasNoUnsignedWrap()))
    return false;
  op->setHasNoSignedWrap(false);
  op->setHasNoUnsignedWrap(false);
  return true;
}

llvm::PreservedAnalyses
mlir::iris::DecreasingInductionsPass::run(llvm::Function &function,
                                          llvm::FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &op : llvm::instructions(function))
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&op))
      for (llvm::Value *incoming : phi->incoming_values())
        changed |= dropFlags(incoming);
  return mlir::iris::preserveControlFlow(changed);
}
