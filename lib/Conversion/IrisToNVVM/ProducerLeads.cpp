// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProducerLeads.cpp - What producer warps compute --------------------===//

#include "ProducerLeads.h"

#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::iris;

bool mlir::iris::holdsMatmul(Operation *op) {
  return op->walk([](tile::MatmulOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

ProducerLeads::ProducerLeads(FunctionOpInterface function) {
  function->walk([&](Operation *op) {
    if (holdsMatmul(op))
      addOperands(op);
  });
  function->walk([&](tile::MatmulOp op) {
    op.getBody().walk([&](Operation *inner) { addOperands(inner); });
  });
  while (!pending.empty())
    visit(pending.pop_back_val());
}

void ProducerLeads::add(Value value) {
  if (!isa<RankedTensorType>(value.getType()) && seen.insert(value).second)
    pending.push_back(value);
}

void ProducerLeads::addOperands(Operation *op) {
  for (Value operand : op->getOperands())
    add(operand);
}

void ProducerLeads::visit(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    op = cast<BlockArgument>(value).getOwner()->getParentOp();
  if (isa<FunctionOpInterface, tile::MatmulOp>(op))
    return;
  if (isa<memref::LoadOp>(op))
    loads.insert(op);
  addOperands(op);
  // Also the values that control flow yields, and all their operands.
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        if (inner.hasTrait<OpTrait::IsTerminator>())
          addOperands(&inner);
}
