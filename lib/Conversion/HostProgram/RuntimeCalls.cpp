// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RuntimeCalls.cpp - Calls through IrisRtHostApi ---------------------===//

#include "RuntimeCalls.h"

#include "iris-c/RuntimeABI.h"

using namespace mlir;
using namespace mlir::iris;

RuntimeCalls::RuntimeCalls(RewriterBase &rewriter, Operation *op, Value api)
    : rewriter(rewriter), op(op), loc(op->getLoc()), api(api) {}

static Value fieldAddress(RewriterBase &rewriter, Location loc, Value base,
                          size_t offset) {
  if (offset == 0)
    return base;
  return LLVM::GEPOp::create(
      rewriter, loc, base.getType(), rewriter.getI8Type(), base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

Value RuntimeCalls::loadField(Type type, Value base, size_t offset) {
  return LLVM::LoadOp::create(rewriter, loc, type,
                              fieldAddress(rewriter, loc, base, offset));
}

void RuntimeCalls::storeField(Value value, Value base, size_t offset) {
  LLVM::StoreOp::create(rewriter, loc, value,
                        fieldAddress(rewriter, loc, base, offset));
}

Value RuntimeCalls::constant(unsigned bits, int64_t value) {
  return LLVM::ConstantOp::create(rewriter, loc, rewriter.getIntegerType(bits),
                                  value);
}

Value RuntimeCalls::text(const std::string &symbol, std::string value) {
  auto module = op->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    value += '\0';
    LLVM::GlobalOp::create(
        rewriter, loc,
        LLVM::LLVMArrayType::get(rewriter.getI8Type(), value.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, symbol,
        rewriter.getStringAttr(value));
  }
  return LLVM::AddressOfOp::create(
      rewriter, loc, LLVM::LLVMPointerType::get(rewriter.getContext()), symbol);
}

Value RuntimeCalls::stackSlot(int64_t bytes) {
  // In the entry block, so that loops do not allocate in every iteration.
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&op->getParentRegion()->front());
  return LLVM::AllocaOp::create(
      rewriter, loc, LLVM::LLVMPointerType::get(rewriter.getContext()),
      rewriter.getI8Type(), constant(64, bytes), /*alignment=*/8);
}

void RuntimeCalls::returnIf(Value failed, Value status) {
  Block *before = rewriter.getInsertionBlock();
  Block *after = rewriter.splitBlock(before, rewriter.getInsertionPoint());
  Block *exit = &op->getParentRegion()->back();
  rewriter.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(rewriter, loc, failed, exit, status, after,
                         ValueRange());
  rewriter.setInsertionPointToStart(after);
}

void RuntimeCalls::call(size_t offset, ValueRange arguments) {
  Type pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
  SmallVector<Value> operands = {
      loadField(pointer, api, offset),
      loadField(pointer, api, offsetof(IrisRtHostApi, world))};
  llvm::append_range(operands, arguments);
  auto type = LLVM::LLVMFunctionType::get(
      rewriter.getI32Type(),
      llvm::to_vector(TypeRange(ValueRange(operands).drop_front().getTypes())));
  Value status =
      LLVM::CallOp::create(rewriter, loc, type, operands).getResult();
  Value failed = LLVM::ICmpOp::create(rewriter, loc, LLVM::ICmpPredicate::ne,
                                      status, constant(32, 0));
  returnIf(failed, status);
}
