// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Walker.cpp - Follows the control flow of one program ---------------===//
#include "Walker.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris::sync;

bool Walker::stop(Operation *op, const llvm::Twine &why) {
  if (!limit) {
    limit = op;
    reason = why.str();
  }
  return false;
}

bool Walker::run(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (!budget.take())
      return stop(&op, "the program executes too many ops");
    if (!execute(&op))
      return false;
  }
  return true;
}

bool Walker::runRegion(Region &region, ValueRange results) {
  if (!region.hasOneBlock())
    return stop(region.getParentOp(), "its region has several blocks");
  if (!run(region.front()))
    return false;
  Operation *terminator = region.front().getTerminator();
  for (auto [from, to] : llvm::zip(terminator->getOperands(), results))
    values.copy(from, to);
  return true;
}

bool Walker::runSkipped(Operation *op) {
  if (!skip(op))
    return false;
  for (Value result : op->getResults())
    values.clear(result);
  return true;
}

bool Walker::iterate(Operation *loop, Block &body, Value counter, int64_t from,
                     int64_t to, int64_t step, ValueRange inits,
                     ValueRange carried) {
  for (auto [init, argument] : llvm::zip(inits, carried))
    values.copy(init, argument);
  Operation *terminator = body.getTerminator();
  for (int64_t i = from; i < to;) {
    if (!budget.take())
      return stop(loop, "the loop has too many iterations");
    values.set(counter, Scalar{IntegerAttr::get(counter.getType(), i), {}});
    if (!run(body))
      return false;
    // A value that is yielded may be another one's argument.
    SmallVector<std::pair<Scalar, Buffer>> yielded;
    for (Value value : terminator->getOperands())
      yielded.emplace_back(values.get(value), values.getBuffer(value));
    for (auto [value, argument] : llvm::zip(yielded, carried)) {
      values.clear(argument);
      if (value.first.isKnown())
        values.set(argument, value.first);
      if (value.second.root != Buffer::kUnknown)
        values.set(argument, value.second);
    }
    if (llvm::AddOverflow(i, step, i))
      break;
  }
  for (auto [argument, result] : llvm::zip(carried, loop->getResults()))
    values.copy(argument, result);
  return true;
}

bool Walker::runFor(scf::ForOp loop) {
  std::optional<int64_t> from = values.getNumber(loop.getLowerBound());
  std::optional<int64_t> to = values.getNumber(loop.getUpperBound());
  std::optional<int64_t> step = values.getNumber(loop.getStep());
  if (!from || !to || !step || *step <= 0 || loop.getUnsignedCmp())
    return runSkipped(loop);
  return iterate(loop, *loop.getBody(), loop.getInductionVar(), *from, *to,
                 *step, loop.getInitArgs(), loop.getRegionIterArgs());
}

bool Walker::runFor(affine::AffineForOp loop) {
  if (!loop.hasConstantBounds())
    return runSkipped(loop);
  return iterate(loop, *loop.getBody(), loop.getInductionVar(),
                 loop.getConstantLowerBound(), loop.getConstantUpperBound(),
                 loop.getStepAsInt(), loop.getInits(),
                 loop.getRegionIterArgs());
}

bool Walker::runCall(func::CallOp call) {
  auto callee =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  constexpr unsigned maxDepth = 16;
  if (!callee || callee.isExternal() || callDepth == maxDepth)
    return stop(call, "the called function is not known");
  for (auto [operand, argument] :
       llvm::zip(call.getOperands(), callee.getArguments()))
    values.copy(operand, argument);
  ++callDepth;
  bool done = runRegion(callee.getBody(), call.getResults());
  --callDepth;
  return done;
}

bool Walker::execute(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](scf::IfOp conditional) {
        std::optional<int64_t> condition =
            values.getNumber(conditional.getCondition());
        if (!condition)
          return runSkipped(op);
        Region &region = *condition ? conditional.getThenRegion()
                                    : conditional.getElseRegion();
        return region.empty() || runRegion(region, op->getResults());
      })
      .Case([&](scf::IndexSwitchOp choice) {
        std::optional<int64_t> number = values.getNumber(choice.getArg());
        if (!number)
          return runSkipped(op);
        for (auto [value, region] :
             llvm::zip(choice.getCases(), choice.getCaseRegions()))
          if (value == *number)
            return runRegion(region, op->getResults());
        return runRegion(choice.getDefaultRegion(), op->getResults());
      })
      .Case([&](scf::ExecuteRegionOp region) {
        return runRegion(region.getRegion(), op->getResults());
      })
      .Case<scf::ForOp, affine::AffineForOp>(
          [&](auto loop) { return runFor(loop); })
      .Case([&](func::CallOp call) { return runCall(call); })
      .Default([&](Operation *) {
        if (isMemoryEffectFree(op) && op->getNumRegions() == 0) {
          values.evaluate(op);
          return true;
        }
        for (Value result : op->getResults())
          values.clear(result);
        return visit(op);
      });
}
