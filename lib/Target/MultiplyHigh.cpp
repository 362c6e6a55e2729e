// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MultiplyHigh.h"

#include "ReplaceInstructions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

/// Bits of the factors, and of what they give.
static constexpr unsigned kHalfBits = 16, kResultBits = 32;

/// The bits of the multiplication from `amount` on, of `op`: a truncation to 16
/// bits.
static llvm::Value *shiftResult(llvm::Instruction &op, llvm::IRBuilder<> &b) {
  using namespace llvm::PatternMatch;
  llvm::Value *x, *y;
  const llvm::APInt *amount;
  if (!op.getType()->isIntOrIntVectorTy(kHalfBits) ||
      !match(&op,
             m_Trunc(m_Shr(m_Mul(m_Value(x), m_Value(y)), m_APInt(amount)))))
    return nullptr;
  unsigned width = x->getType()->getScalarSizeInBits();
  const llvm::DataLayout &layout = op.getModule()->getDataLayout();
  auto isHalf = [&](llvm::Value *value) {
    return llvm::ComputeNumSignBits(value, layout) > width - kHalfBits;
  };
  if (width <= kResultBits || amount->ule(kHalfBits) ||
      amount->ugt(width - kHalfBits) || !isHalf(x) || !isHalf(y))
    return nullptr;
  llvm::Type *narrow = x->getType()->getWithNewBitWidth(kResultBits);
  llvm::Value *result =
      b.CreateMul(b.CreateTrunc(x, narrow), b.CreateTrunc(y, narrow));
  // Above these bits are copies of its sign.
  uint64_t bits = std::min<uint64_t>(amount->getZExtValue(), kResultBits - 1);
  return b.CreateTrunc(b.CreateAShr(result, bits), op.getType());
}

llvm::PreservedAnalyses
mlir::iris::MultiplyHighPass::run(llvm::Function &function,
                                  llvm::FunctionAnalysisManager &) {
  return replaceInstructions(function, shiftResult);
}
