// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NegatedVectors.h"

#include "ReplaceInstructions.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/PatternMatch.h"

#include <algorithm>

//===----------------------------------------------------------------------===//
// Negations of several registers
//===----------------------------------------------------------------------===//

constexpr unsigned kRegisterBits = 32;

/// The vector that `op` negates as one of floats, also by its signs as
/// integers; null if it negates none.
static llvm::Value *getNegatedVector(llvm::Instruction &op) {
  using namespace llvm::PatternMatch;
  if (!op.getType()->isVectorTy() || !op.getType()->isFPOrFPVectorTy())
    return nullptr;
  llvm::Value *vector;
  if (match(&op, m_FNeg(m_Value(vector))))
    return vector;
  auto signs = m_BitCast(m_Xor(m_Value(vector), m_SignMask()));
  bool sameElements =
      match(&op, signs) && vector->getType()->getScalarSizeInBits() ==
                               op.getType()->getScalarSizeInBits();
  return sameElements ? vector : nullptr;
}

/// The negative of the vector that `op` negates, from parts that fill at most
/// one register, or are one element; null if it is one such part.
static llvm::Value *negateParts(llvm::Instruction &op, llvm::IRBuilder<> &b) {
  llvm::Value *vector = getNegatedVector(op);
  if (!vector)
    return nullptr;
  auto *type = llvm::cast<llvm::FixedVectorType>(op.getType());
  const unsigned count = type->getNumElements();
  const unsigned perPart =
      std::max(1u, kRegisterBits / type->getScalarSizeInBits());
  if (count <= perPart)
    return nullptr;
  vector = b.CreateBitCast(vector, type);
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

//===----------------------------------------------------------------------===//
// Negations of rounded vectors
//===----------------------------------------------------------------------===//

/// The roundings of vectors whose results are negated, also behind other
/// operations on vectors of floats. Instruction selection moves the negation in
/// front of them, where the vector has several registers.
static llvm::SetVector<llvm::Instruction *>
findNegatedRoundings(llvm::Function &function) {
  llvm::SetVector<llvm::Value *> values;
  for (llvm::Instruction &op : llvm::instructions(function))
    if (llvm::Value *vector = getNegatedVector(op))
      values.insert(vector);
  llvm::SetVector<llvm::Instruction *> roundings;
  for (size_t i = 0; i < values.size(); ++i) {
    auto *op = llvm::dyn_cast<llvm::Instruction>(values[i]);
    if (!op || !op->getType()->isVectorTy())
      continue;
    if (llvm::isa<llvm::FPTruncInst>(op))
      roundings.insert(op);
    else if (op->getType()->isFPOrFPVectorTy() ||
             llvm::isa<llvm::BitCastInst>(op))
      values.insert_range(op->operands());
  }
  return roundings;
}

/// Rounds the elements one by one.
static llvm::Value *roundElements(llvm::Instruction &rounding,
                                  llvm::IRBuilder<> &b) {
  auto *type = llvm::cast<llvm::FixedVectorType>(rounding.getType());
  llvm::Value *result = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    llvm::Value *element = b.CreateExtractElement(rounding.getOperand(0), i);
    result = b.CreateInsertElement(
        result, b.CreateFPTrunc(element, type->getElementType()), i);
  }
  return result;
}

llvm::PreservedAnalyses
mlir::iris::NegatedVectorsPass::run(llvm::Function &function,
                                    llvm::FunctionAnalysisManager &) {
  llvm::SetVector<llvm::Instruction *> roundings =
      findNegatedRoundings(function);
  return replaceInstructions(function, [&](llvm::Instruction &op,
                                           llvm::IRBuilder<> &b) {
    return roundings.contains(&op) ? roundElements(op, b) : negateParts(op, b);
  });
}
