// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ExactSelection.h"

#include "HideConstant.h"
#include "PreserveControlFlow.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using llvm::BinaryOperator;
using llvm::Instruction;

//===----------------------------------------------------------------------===//
// Narrowed multiplications
//===----------------------------------------------------------------------===//

/// Whether instruction selection looks through `value` for a multiplication to
/// narrow: ops that move elements, change their sign or select between them.
static bool passesProductsOn(const llvm::Value *value) {
  if (llvm::isa<llvm::ExtractElementInst, llvm::FreezeInst,
                llvm::InsertElementInst, llvm::PHINode, llvm::SelectInst,
                llvm::ShuffleVectorInst>(value))
    return true;
  if (auto *unary = llvm::dyn_cast<llvm::UnaryOperator>(value))
    return unary->getOpcode() == Instruction::FNeg;
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  return call &&
         llvm::is_contained({llvm::Intrinsic::canonicalize,
                             llvm::Intrinsic::copysign, llvm::Intrinsic::fabs},
                            call->getIntrinsicID());
}

/// Whether `op` is a multiplication, or becomes one in instruction selection: a
/// division by a constant whose reciprocal is exact, such as infinity.
static bool isProduct(const BinaryOperator &op) {
  return op.getOpcode() == Instruction::FMul ||
         (op.getOpcode() == Instruction::FDiv &&
          llvm::isa<llvm::Constant>(op.getOperand(1)));
}

/// The f32 multiplications in `function` that may be narrowed to f16.
static llvm::SmallVector<BinaryOperator *>
findNarrowedProducts(llvm::Function &function) {
  llvm::SetVector<llvm::Value *> sources;
  for (Instruction &instruction : llvm::instructions(function))
    if (auto *narrowing = llvm::dyn_cast<llvm::FPTruncInst>(&instruction))
      if (narrowing->getType()->getScalarType()->isHalfTy() &&
          narrowing->getSrcTy()->getScalarType()->isFloatTy())
        sources.insert(narrowing->getOperand(0));
  llvm::SmallVector<BinaryOperator *> products;
  for (size_t i = 0; i < sources.size(); ++i) {
    llvm::Value *source = sources[i];
    if (auto *op = llvm::dyn_cast<BinaryOperator>(source); op && isProduct(*op))
      products.push_back(op);
    if (!passesProductsOn(source))
      continue;
    for (llvm::Value *operand : llvm::cast<llvm::User>(source)->operands())
      sources.insert(operand);
  }
  return products;
}

/// Replaces a multiplication by an fma, which is narrowed with the right sign.
static void replaceByFma(BinaryOperator *product) {
  llvm::IRBuilder<> b(product);
  llvm::Type *type = product->getType();
  llvm::CallInst *fma =
      b.CreateIntrinsic(llvm::Intrinsic::fma, {type},
                        {product->getOperand(0), product->getOperand(1),
                         llvm::ConstantFP::getNegativeZero(type)});
  fma->copyIRFlags(product);
  fma->takeName(product);
  product->replaceAllUsesWith(fma);
  product->eraseFromParent();
}

/// Hides the quotient from what narrows it.
static void hideQuotient(BinaryOperator *quotient) {
  llvm::IRBuilder<> b(quotient->getNextNode());
  llvm::SmallVector<llvm::Use *> uses(
      llvm::make_pointer_range(quotient->uses()));
  llvm::Value *hidden = mlir::iris::hideValue(b, quotient);
  for (llvm::Use *use : uses)
    use->set(hidden);
}

//===----------------------------------------------------------------------===//
// Constants hidden from instruction selection
//===----------------------------------------------------------------------===//

/// The index of the operand to hide; none if there is nothing to hide.
static std::optional<unsigned> getOperandToHide(const Instruction &op) {
  using namespace llvm::PatternMatch;
  if (op.getOpcode() == Instruction::FDiv)
    return op.getType()->getScalarType()->isHalfTy() &&
                   (match(op.getOperand(0), m_SpecificFP(1.0)) ||
                    match(op.getOperand(0), m_SpecificFP(-1.0)))
               ? std::optional<unsigned>(0)
               : std::nullopt;
  if (op.getOpcode() != Instruction::FAdd &&
      op.getOpcode() != Instruction::FSub)
    return std::nullopt;
  if (match(op.getOperand(0), m_PosZeroFP()))
    return 0;
  // x - 0 is x, for any x.
  if (op.getOpcode() == Instruction::FAdd &&
      match(op.getOperand(1), m_PosZeroFP()))
    return 1;
  return std::nullopt;
}

static void hide(Instruction &op, unsigned number) {
  llvm::IRBuilder<> b(&op);
  llvm::Type *type = op.getType();
  auto *constant = llvm::cast<llvm::Constant>(op.getOperand(number));
  if (type->isVectorTy())
    constant = constant->getSplatValue(/*AllowPoison=*/true);
  const llvm::APFloat &value =
      llvm::cast<llvm::ConstantFP>(constant)->getValueAPF();
  op.setOperand(number,
                mlir::iris::hideConstant(b, type, value.bitcastToAPInt()));
}

llvm::PreservedAnalyses
mlir::iris::ExactSelectionPass::run(llvm::Function &function,
                                    llvm::FunctionAnalysisManager &) {
  llvm::SmallVector<BinaryOperator *> products = findNarrowedProducts(function);
  for (BinaryOperator *product : products)
    if (product->getOpcode() == Instruction::FMul)
      replaceByFma(product);
    else
      hideQuotient(product);
  bool changed = !products.empty();
  for (Instruction &op :
       llvm::make_early_inc_range(llvm::instructions(function))) {
    std::optional<unsigned> number = getOperandToHide(op);
    if (!number)
      continue;
    hide(op, *number);
    changed = true;
  }
  return mlir::iris::preserveControlFlow(changed);
}
