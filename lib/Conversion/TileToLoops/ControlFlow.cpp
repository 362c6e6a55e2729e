// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlow.cpp - Loop-carried and yielded tiles -------------------===//
//
// A carried tile has one buffer for the lifetime of the op: the initial value
// is written before the op, every iteration overwrites it at its end. The
// values that an iteration yields are computed from this iteration's tiles. If
// another yielded tile, or another element of the same one, still reads the
// buffer, it is written only after all values have been computed.
//
//===----------------------------------------------------------------------===//

#include "TileLowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::iris;

bool TileLowering::readsTile(Value tile, Value carried, bool atOtherElements) {
  Value buffer = buffers.lookup(carried);
  return anyOfExpression(tile, [&](Value value, bool viaView) {
    Value read = buffers.lookup(value);
    return read && read == buffer && (viaView || !atOtherElements);
  });
}

void TileLowering::carryTiles(scf::ForOp op) {
  Operation *yield = op.getBody()->getTerminator();
  ImplicitLocOpBuilder b(yield->getLoc(), yield);
  SmallVector<std::pair<Value, Value>> late;
  for (auto [number, tile] : llvm::enumerate(yield->getOperands())) {
    Value carried = op.getRegionIterArg(number);
    if (!isTile(carried) || tile == carried)
      continue;
    bool stillRead = readsTile(tile, carried, /*atOtherElements=*/true);
    for (auto [other, otherTile] : llvm::enumerate(yield->getOperands()))
      stillRead |= other != number && readsTile(otherTile, carried,
                                                /*atOtherElements=*/false);
    Value buffer = buffers.lookup(carried);
    if (stillRead) {
      Value next = allocate(b, tile);
      fill(b, tile, next);
      late.push_back({next, buffer});
      continue;
    }
    fill(b, tile, buffer);
  }
  for (auto [next, buffer] : late)
    memref::CopyOp::create(b, next, buffer);
}

LogicalResult TileLowering::lowerFor(scf::ForOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  for (auto [init, carried, result] : llvm::zip_equal(
           op.getInitArgs(), op.getRegionIterArgs(), op.getResults())) {
    if (!isTile(carried))
      continue;
    Value buffer = allocate(b, init);
    fill(b, init, buffer);
    // Two assignments: a reference into the map is invalid after it grows.
    buffers[carried] = buffer;
    buffers[result] = buffer;
  }
  if (failed(lowerBlock(*op.getBody())))
    return failure();
  carryTiles(op);
  return success();
}

LogicalResult TileLowering::lowerWhile(scf::WhileOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  for (auto [init, carried] :
       llvm::zip_equal(op.getInits(), op.getBeforeArguments())) {
    if (!isTile(carried))
      continue;
    buffers[carried] = allocate(b, init);
    fill(b, init, buffers.lookup(carried));
  }
  // The last values passed to the body are the results.
  for (auto [passed, result] :
       llvm::zip_equal(op.getAfterArguments(), op.getResults())) {
    if (!isTile(result))
      continue;
    Value buffer = allocate(b, result);
    buffers[passed] = buffer;
    buffers[result] = buffer;
  }

  if (failed(lowerBlock(*op.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  b.setInsertionPoint(condition);
  for (auto [tile, passed] :
       llvm::zip_equal(condition.getArgs(), op.getAfterArguments()))
    if (isTile(tile))
      fill(b, tile, buffers.lookup(passed));

  if (failed(lowerBlock(*op.getAfterBody())))
    return failure();
  scf::YieldOp yield = op.getYieldOp();
  b.setInsertionPoint(yield);
  for (auto [tile, carried] :
       llvm::zip_equal(yield.getResults(), op.getBeforeArguments()))
    if (isTile(tile))
      fill(b, tile, buffers.lookup(carried));
  return success();
}

LogicalResult TileLowering::lowerBranches(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (Value result : op->getResults())
    if (isTile(result))
      buffers[result] = allocate(b, result);
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    if (failed(lowerBlock(region.front())))
      return failure();
    Operation *yield = region.front().getTerminator();
    b.setInsertionPoint(yield);
    for (auto [tile, result] :
         llvm::zip(yield->getOperands(), op->getResults()))
      if (isTile(tile))
        fill(b, tile, buffers.lookup(result));
  }
  return success();
}
