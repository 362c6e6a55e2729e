// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NarrowCases.cpp - Cases of 32 bits ---------------------------------===//
//
// The lowering of scf.index_switch truncates the index and its cases to 32
// bits: 2^32 + 5 takes case 5.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <set>

namespace mlir::iris {
#define GEN_PASS_DEF_IRISNARROWCASESPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;

/// Gives the cases beyond 32 bits, and all other indices beyond them, numbers
/// that no case has.
static void narrowCases(scf::IndexSwitchOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value index = op.getArg();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  SmallVector<int64_t> cases(op.getCases());
  std::set<int64_t> taken(cases.begin(), cases.end());
  int64_t next = 0;
  auto takeFree = [&] {
    while (!taken.insert(next).second)
      ++next;
    return next;
  };

  constexpr int64_t least = std::numeric_limits<int32_t>::min();
  Value above = arith::SubIOp::create(b, loc, index, constant(least));
  Value isNarrow =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, above,
                            constant(std::numeric_limits<uint32_t>::max()));
  Value number =
      arith::SelectOp::create(b, loc, isNarrow, index, constant(takeFree()));
  for (int64_t &value : cases) {
    if (llvm::isInt<32>(value))
      continue;
    Value isCase = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                         index, constant(value));
    value = takeFree();
    number = arith::SelectOp::create(b, loc, isCase, constant(value), number);
  }
  op.getArgMutable().assign(number);
  op.setCases(cases);
}

namespace {
struct NarrowCasesPass : iris::impl::IrisNarrowCasesPassBase<NarrowCasesPass> {
  void runOnOperation() override { getOperation()->walk(narrowCases); }
};
} // namespace
