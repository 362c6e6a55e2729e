// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarBuilder.cpp - Integer arithmetic and control flow ------------===//

#include "iris/Kernels/ScalarBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value ScalarBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}
Value ScalarBuilder::add(Value a, Value c) {
  return arith::AddIOp::create(b, a, c);
}
Value ScalarBuilder::sub(Value a, Value c) {
  return arith::SubIOp::create(b, a, c);
}
Value ScalarBuilder::mul(Value a, Value c) {
  return arith::MulIOp::create(b, a, c);
}
Value ScalarBuilder::div(Value a, Value c) {
  return arith::DivUIOp::create(b, a, c);
}
Value ScalarBuilder::rem(Value a, Value c) {
  return arith::RemUIOp::create(b, a, c);
}
Value ScalarBuilder::ceilDiv(Value a, Value c) {
  return div(add(a, sub(c, index(1))), c);
}
Value ScalarBuilder::divUpTo(Value a, Value b, int64_t most) {
  Value quotient = index(0);
  for (int64_t i = 1; i <= most; ++i)
    quotient = select(notLess(a, mul(b, index(i))), index(i), quotient);
  return quotient;
}

Value ScalarBuilder::min(Value a, Value c) {
  return arith::MinUIOp::create(b, a, c);
}
Value ScalarBuilder::max(Value a, Value c) {
  return arith::MaxUIOp::create(b, a, c);
}
Value ScalarBuilder::equal(Value a, Value c) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, a, c);
}
Value ScalarBuilder::notEqual(Value a, Value c) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, a, c);
}
Value ScalarBuilder::less(Value a, Value c) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, a, c);
}
Value ScalarBuilder::notLess(Value a, Value c) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::uge, a, c);
}
Value ScalarBuilder::select(Value condition, Value a, Value c) {
  return arith::SelectOp::create(b, condition, a, c);
}
Value ScalarBuilder::i32(int64_t value) {
  return arith::ConstantIntOp::create(b, b.getI32Type(), value);
}
Value ScalarBuilder::asI32(Value value) {
  return arith::IndexCastOp::create(b, b.getI32Type(), value);
}
Value ScalarBuilder::asIndex(Value value) {
  return arith::IndexCastOp::create(b, b.getIndexType(), value);
}
Value ScalarBuilder::addI32(Value a, Value c) {
  return arith::AddIOp::create(b, a, c);
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

void ScalarBuilder::loop(Value from, Value to, Value step, Body body) {
  auto loop = scf::ForOp::create(b, from, to, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void ScalarBuilder::ifThen(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

void ScalarBuilder::ifThenElse(Value condition, llvm::function_ref<void()> body,
                               llvm::function_ref<void()> other) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
  b.setInsertionPointToStart(branch.elseBlock());
  other();
}
