// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AffineOps.cpp - affine ---------------------------------------------===//
#include "Machine.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris::interp;

/// The expression's value; divisors have to be positive.
static int64_t evaluate(Program &program, AffineExpr expr,
                        ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = evaluate(program, binary.getLHS(), dims, symbols);
  int64_t b = evaluate(program, binary.getRHS(), dims, symbols);
  if (expr.getKind() == AffineExprKind::Add)
    return static_cast<int64_t>(static_cast<uint64_t>(a) + b);
  if (expr.getKind() == AffineExprKind::Mul)
    return static_cast<int64_t>(static_cast<uint64_t>(a) * b);
  if (b <= 0) {
    program.error("divides by " + Twine(b) + "; expected more than 0");
    return 0;
  }
  switch (expr.getKind()) {
  case AffineExprKind::Mod:
    return llvm::mod(a, b);
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(a, b);
  default:
    return llvm::divideCeilSigned(a, b);
  }
}

/// The map's results for its operands: dimensions, then symbols.
static SmallVector<int64_t> evaluate(Program &program, AffineMap map,
                                     ValueRange operands) {
  SmallVector<int64_t> values = program.indices(operands), results;
  ArrayRef<int64_t> all(values);
  for (AffineExpr expr : map.getResults())
    results.push_back(evaluate(program, expr, all.take_front(map.getNumDims()),
                               all.drop_front(map.getNumDims())));
  return results;
}

static Step apply(Program &program, Operation *op) {
  auto apply = cast<affine::AffineApplyOp>(op);
  program.set(op->getResult(0),
              fromIndex(evaluate(program, apply.getAffineMap(),
                                 apply.getMapOperands())[0]));
  return Step::Next;
}
static Step least(Program &program, Operation *op) {
  auto min = cast<affine::AffineMinOp>(op);
  SmallVector<int64_t> all = evaluate(program, min.getMap(), min.getOperands());
  program.set(op->getResult(0),
              fromIndex(*std::min_element(all.begin(), all.end())));
  return Step::Next;
}
static Step largest(Program &program, Operation *op) {
  auto max = cast<affine::AffineMaxOp>(op);
  SmallVector<int64_t> all = evaluate(program, max.getMap(), max.getOperands());
  program.set(op->getResult(0),
              fromIndex(*std::max_element(all.begin(), all.end())));
  return Step::Next;
}

static Step beginFor(Program &program, Operation *op) {
  auto loop = cast<affine::AffineForOp>(op);
  SmallVector<int64_t> lowers =
      evaluate(program, loop.getLowerBoundMap(), loop.getLowerBoundOperands());
  SmallVector<int64_t> uppers =
      evaluate(program, loop.getUpperBoundMap(), loop.getUpperBoundOperands());
  SmallVector<Datum> init = program.getAll(loop.getInits());
  int64_t lower = *std::max_element(lowers.begin(), lowers.end());
  int64_t upper = *std::min_element(uppers.begin(), uppers.end());
  int64_t step = loop.getStepAsInt();
  if (program.failed || lower >= upper) {
    for (auto [result, datum] : llvm::zip(op->getResults(), init))
      program.set(result, datum);
    return Step::Next;
  }
  init.insert(init.begin(), Datum(fromIndex(lower)));
  Step result = program.enter(op, loop.getBody(), init);
  Frame &frame = program.frames.back();
  frame.value = lower;
  frame.step = step;
  frame.remaining = llvm::divideCeilSigned(upper - lower, step) - 1;
  return result;
}

static Step beginIf(Program &program, Operation *op) {
  auto branch = cast<affine::AffineIfOp>(op);
  IntegerSet set = branch.getIntegerSet();
  SmallVector<int64_t> values = program.indices(op->getOperands());
  ArrayRef<int64_t> all(values);
  bool holds = true;
  for (auto [n, expr] : llvm::enumerate(set.getConstraints())) {
    int64_t value = evaluate(program, expr, all.take_front(set.getNumDims()),
                             all.drop_front(set.getNumDims()));
    holds &= set.isEq(n) ? value == 0 : value >= 0;
  }
  Region &region = holds ? branch.getThenRegion() : branch.getElseRegion();
  if (program.failed || region.empty())
    return Step::Next;
  return program.enter(op, &region.front(), {});
}

static Step yield(Program &program, Operation *op) {
  SmallVector<Datum> values = program.getAll(op->getOperands());
  Frame &frame = program.frames.back();
  auto loop = dyn_cast<affine::AffineForOp>(frame.owner);
  if (!loop || frame.remaining-- == 0)
    return program.leave(values);
  frame.value += frame.step;
  values.insert(values.begin(), Datum(Element{frame.value}));
  return program.jump(loop.getBody(), values);
}

static Step load(Program &program, Operation *op) {
  auto access = cast<affine::AffineLoadOp>(op);
  const Buffer &buffer = program.buffer(access.getMemref());
  SmallVector<int64_t> at =
      evaluate(program, access.getAffineMap(), access.getMapOperands());
  if (!program.failed && program.checkInside(buffer, at))
    program.set(op->getResult(0), program.load(buffer, access.getType(), at));
  return Step::Next;
}
static Step store(Program &program, Operation *op) {
  auto access = cast<affine::AffineStoreOp>(op);
  const Buffer &buffer = program.buffer(access.getMemref());
  SmallVector<int64_t> at =
      evaluate(program, access.getAffineMap(), access.getMapOperands());
  const Datum &value = program.get(access.getValueToStore());
  if (!program.failed && program.checkInside(buffer, at))
    program.store(buffer, access.getValueToStore().getType(), at,
                  value.elements[0]);
  return Step::Next;
}

void mlir::iris::interp::addAffineOps(World &world) {
  world.add("affine.apply", apply);
  world.add("affine.min", least);
  world.add("affine.max", largest);
  world.add("affine.for", beginFor);
  world.add("affine.if", beginIf);
  world.add("affine.yield", yield);
  world.add("affine.load", load);
  world.add("affine.store", store);
}
