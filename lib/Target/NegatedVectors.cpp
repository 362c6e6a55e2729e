// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NegatedVectors.h"

#include "ReplaceInstructions.h"

#include <algorithm>
#include <numeric>

constexpr unsigned kRegisterBits = 32;

/// The negative of `op`'s operand, from parts that fill at most one register,
/// or are one element; null if it is one such part.
static llvm::Value *negateParts(llvm::Instruction &op, llvm::IRBuilder<> &b) {
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(op.getType());
  if (op.getOpcode() != llvm::Instruction::FNeg || !type)
    return nullptr;
  const unsigned count = type->getNumElements();
  const unsigned perPart =
      std::max(1u, kRegisterBits / type->getScalarSizeInBits());
  if (count <= perPart)
    return nullptr;
  b.setFastMathFlags(op.getFastMathFlags());
  llvm::Value *vector = op.getOperand(0);
  llvm::Value *result = llvm::PoisonValue::get(type);
  for (unsigned first = 0; first < count; first += perPart) {
    if (perPart == 1) {
      llvm::Value *element = b.CreateExtractElement(vector, first);
      result = b.CreateInsertElement(result, b.CreateFNeg(element), first);
      continue;
    }
    // Elements of the part, then the whole vector with the part in its place.
    llvm::SmallVector<int> part(std::min(perPart, count - first));
    std::iota(part.begin(), part.end(), first);
    llvm::Value *negated = b.CreateFNeg(b.CreateShuffleVector(vector, part));
    llvm::SmallVector<int> widened(count, -1), merged(count);
    std::iota(widened.begin(), widened.begin() + part.size(), 0);
    std::iota(merged.begin(), merged.end(), 0);
    for (unsigned i = 0; i < part.size(); ++i)
      merged[first + i] = count + i;
    result = b.CreateShuffleVector(
        result, b.CreateShuffleVector(negated, widened), merged);
  }
  return result;
}

llvm::PreservedAnalyses
mlir::iris::NegatedVectorsPass::run(llvm::Function &function,
                                    llvm::FunctionAnalysisManager &) {
  return replaceInstructions(function, negateParts);
}
