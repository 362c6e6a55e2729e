// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../TestPasses.h"

#include "iris/Analysis/Divisibility.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// Remarks on each value of type index or iN the power of two that divides it,
/// and on each buffer those of its address, sizes and strides.
struct PrintDivisibility : PassWrapper<PrintDivisibility, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintDivisibility)

  StringRef getArgument() const override { return "test-print-divisibility"; }
  StringRef getDescription() const override {
    return "Print the powers of two that divide indices, addresses, sizes and "
           "strides";
  }

  void runOnOperation() override {
    getOperation()->walk([](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      Divisibility facts;
      for (BlockArgument argument : function.getArguments())
        print(function, argument, "argument", argument.getArgNumber(), facts);
      function->walk([&](Operation *op) {
        for (OpResult result : op->getResults())
          print(op, result, "result", result.getResultNumber(), facts);
        if (op == function.getOperation())
          return;
        for (Region &region : op->getRegions())
          for (BlockArgument argument : region.getArguments())
            print(op, argument, "argument", argument.getArgNumber(), facts);
      });
    });
  }

private:
  static std::string toText(uint64_t divisor) {
    return divisor >= Divisibility::kMax ? "anything" : std::to_string(divisor);
  }

  static void print(Operation *op, Value value, StringRef kind, unsigned number,
                    Divisibility &facts) {
    auto buffer = dyn_cast<MemRefType>(value.getType());
    if (!buffer && !value.getType().isIntOrIndex())
      return;
    InFlightDiagnostic remark = op->emitRemark();
    remark << kind << " " << number;
    if (!buffer) {
      remark << " is divisible by " << toText(facts.getDivisor(value));
      return;
    }
    remark << ": address divisible by "
           << toText(facts.getPointerDivisor(value));
    if (!buffer.isStrided())
      return;
    remark << ", sizes by";
    for (int64_t dim = 0; dim < buffer.getRank(); ++dim)
      remark << " " << toText(facts.getSizeDivisor(value, dim));
    remark << ", strides by";
    for (int64_t dim = 0; dim < buffer.getRank(); ++dim)
      remark << " " << toText(facts.getStrideDivisor(value, dim));
  }
};
} // namespace

void mlir::iris::test::registerTestDivisibilityPass() {
  PassRegistration<PrintDivisibility>();
}
