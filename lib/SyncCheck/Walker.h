// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Walker.h - Follows the control flow of one program -------*- C++ -*-===//
#ifndef IRIS_LIB_SYNCCHECK_WALKER_H
#define IRIS_LIB_SYNCCHECK_WALKER_H

#include "Values.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include <string>

namespace mlir::iris::sync {

/// How many more ops may be evaluated.
struct Budget {
  uint64_t ops = 0;
  bool take() {
    if (ops == 0)
      return false;
    --ops;
    return true;
  }
};

/// Executes the ops of one program in order, as far as its control flow is
/// known.
class Walker {
public:
  Walker(Values &values, Budget &budget, SymbolTableCollection &symbols)
      : values(values), budget(budget), symbols(symbols) {}
  virtual ~Walker() = default;

  /// Executes a block up to its terminator. False if the program is not
  /// followed to its end.
  bool run(Block &block);

  /// The op beyond which the program is not followed; null: none.
  Operation *getLimit() const { return limit; }
  const std::string &getReason() const { return reason; }

protected:
  /// Executes an op with effects. False: stops.
  virtual bool visit(Operation *op) = 0;
  /// An op with regions that may execute any number of times. False: stops.
  virtual bool skip(Operation *op) = 0;

  /// Ends the walk in front of `op`.
  bool stop(Operation *op, const llvm::Twine &why);

  /// Runs a region of one block, and binds `results` to what it yields.
  bool runRegion(Region &region, ValueRange results);

  Values &values;
  Budget &budget;
  SymbolTableCollection &symbols;

private:
  bool execute(Operation *op);
  bool runSkipped(Operation *op);
  bool runFor(scf::ForOp loop);
  bool runFor(affine::AffineForOp loop);
  bool runCall(func::CallOp call);
  /// The iterations of a loop whose counter takes these numbers.
  bool iterate(Operation *loop, Block &body, Value counter, int64_t from,
               int64_t to, int64_t step, ValueRange inits, ValueRange carried);

  Operation *limit = nullptr;
  std::string reason;
  unsigned callDepth = 0;
};

} // namespace mlir::iris::sync

#endif // IRIS_LIB_SYNCCHECK_WALKER_H
