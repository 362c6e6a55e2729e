// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../TestPasses.h"

#include "IndexConstraints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// Remarks on each `arith.cmpi` with the attribute `test.ask` whether the
/// constraints of its operands, and the control flow around it, exclude that it
/// is true, or that it is false. Nothing is known of other values' ranges.
struct PrintIndexConstraints
    : PassWrapper<PrintIndexConstraints, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintIndexConstraints)

  StringRef getArgument() const override {
    return "test-print-index-constraints";
  }
  StringRef getDescription() const override {
    return "Print which comparisons linear constraints decide";
  }

  void runOnOperation() override {
    getOperation()->walk([](arith::CmpIOp op) {
      if (!op->hasAttr("test.ask"))
        return;
      bool canHold = isPossible(op, op.getPredicate());
      bool canFail = isPossible(op, arith::invertPredicate(op.getPredicate()));
      op->emitRemark(!canHold  ? "never true"
                     : canFail ? "not known"
                               : "always true");
    });
  }

private:
  static IntegerInterval getRange(Value value) {
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return {*constant, *constant};
    return IntegerInterval();
  }

  /// False if `predicate` contradicts what is known at `op`.
  static bool isPossible(arith::CmpIOp op, arith::CmpIPredicate predicate) {
    auto ask = [&](auto add) {
      IndexConstraints constraints(
          getRange, /*isStale=*/[](Value) { return false; },
          IndexConstraints::Case(),
          /*isModular=*/false);
      constraints.addControl(op, /*isBefore=*/false);
      LinearSum a = constraints.get(op.getLhs(), /*isBefore=*/false);
      LinearSum b = constraints.get(op.getRhs(), /*isBefore=*/false);
      add(constraints, a, b);
      return !constraints.areContradictory();
    };
    auto less = [](IndexConstraints &all, LinearSum a, LinearSum b) {
      all.addLessOrEqual(a + LinearSum(1), b);
    };
    auto lessOrEqual = [](IndexConstraints &all, LinearSum a, LinearSum b) {
      all.addLessOrEqual(a, b);
    };
    auto swapped = [](auto add) {
      return [add](IndexConstraints &all, LinearSum a, LinearSum b) {
        add(all, b, a);
      };
    };
    switch (predicate) {
    case arith::CmpIPredicate::eq:
      return ask([](IndexConstraints &all, LinearSum a, LinearSum b) {
        all.addEqual(a, b);
      });
    case arith::CmpIPredicate::ne:
      return ask(less) || ask(swapped(less));
    case arith::CmpIPredicate::slt:
      return ask(less);
    case arith::CmpIPredicate::sle:
      return ask(lessOrEqual);
    case arith::CmpIPredicate::sgt:
      return ask(swapped(less));
    case arith::CmpIPredicate::sge:
      return ask(swapped(lessOrEqual));
    default:
      // Unsigned comparisons are not linear in signed numbers.
      return true;
    }
  }
};
} // namespace

void mlir::iris::test::registerTestIndexConstraintsPass() {
  PassRegistration<PrintIndexConstraints>();
}
