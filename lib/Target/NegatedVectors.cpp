// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NegatedVectors.h"

#include "ReplaceInstructions.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/PatternMatch.h"

#include <algorithm>

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
  llvm::SmallVector<llvm::Value *> parts;
  for (unsigned first = 0; first < count; first += perPart) {
    llvm::SmallVector<int, 16> elements = llvm::createSequentialMask(
        first, std::min(perPart, count - first), /*NumUndefs=*/0);
    parts.push_back(b.CreateFNeg(b.CreateShuffleVector(vector, elements)));
  }
  return llvm::concatenateVectors(b, parts);
}

llvm::PreservedAnalyses
mlir::iris::NegatedVectorsPass::run(llvm::Function &function,
                                    llvm::FunctionAnalysisManager &) {
  return replaceInstructions(function, negateParts);
}
