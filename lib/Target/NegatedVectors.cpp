// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NegatedVectors.h"

#include "ReplaceInstructions.h"
#include "llvm/IR/PatternMatch.h"

#include <algorithm>
#include <numeric>

constexpr unsigned kRegisterBits = 32;

/// The vector of floats that `op` negates, also by its signs as integers; null
/// if it negates none.
static llvm::Value *getNegatedVector(llvm::Instruction &op,
                                     llvm::IRBuilder<> &b) {
  using namespace llvm::PatternMatch;
  llvm::Value *vector;
  if (match(&op, m_FNeg(m_Value(vector))))
    return vector;
  auto signs = m_BitCast(m_Xor(m_Value(vector), m_SignMask()));
  bool sameElements =
      match(&op, signs) && vector->getType()->getScalarSizeInBits() ==
                               op.getType()->getScalarSizeInBits();
  return sameElements ? b.CreateBitCast(vector, op.getType()) : nullptr;
}

/// The negative of the vector that `op` negates, from parts that fill at most
/// one register, or are one element; null if it is one such part.
static llvm::Value *negateParts(llvm::Instruction &op, llvm::IRBuilder<> &b) {
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(op.getType());
  if (!type || !type->getElementType()->isFloatingPointTy())
    return nullptr;
  const unsigned count = type->getNumElements();
  const unsigned perPart =
      std::max(1u, kRegisterBits / type->getScalarSizeInBits());
  llvm::Value *vector = count > perPart ? getNegatedVector(op, b) : nullptr;
  if (!vector)
    return nullptr;
  if (auto *negation = llvm::dyn_cast<llvm::FPMathOperator>(&op))
    b.setFastMathFlags(negation->getFastMathFlags());
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
