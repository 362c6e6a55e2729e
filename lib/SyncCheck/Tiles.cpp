// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tiles.cpp - Tiles of integers that follow from scalars -------------===//
#include "Values.h"

#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::iris::sync;

/// A tile, given those that were computed before.
static DenseIntElementsAttr
computeTile(const Values &values, Value tile,
            llvm::DenseMap<Value, DenseIntElementsAttr> &known) {
  constexpr int64_t maxElements = 1024;
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  Operation *op = tile.getDefiningOp();
  if (!type || !type.hasStaticShape() ||
      !type.getElementType().isIntOrIndex() ||
      type.getNumElements() > maxElements || !op || !isMemoryEffectFree(op) ||
      op->getNumRegions() > 0 || op->getNumResults() != 1)
    return {};
  auto [it, isNew] = known.try_emplace(tile);
  if (!isNew)
    return it->second;
  DenseIntElementsAttr result;
  if (isa<tile::RangeOp>(op)) {
    if (type.getRank() != 1)
      return {};
    Type element = type.getElementType();
    SmallVector<Attribute> elements;
    for (int64_t i : llvm::seq(type.getNumElements()))
      elements.push_back(IntegerAttr::get(element, i));
    result = cast<DenseIntElementsAttr>(DenseElementsAttr::get(type, elements));
  } else {
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands()) {
      Attribute value = isa<RankedTensorType>(operand.getType())
                            ? Attribute(computeTile(values, operand, known))
                            : Attribute(values.get(operand).number);
      // Folders of ops with some constant operands may change the op.
      if (!value)
        return {};
      operands.push_back(value);
    }
    SmallVector<OpFoldResult> folded;
    if (failed(op->fold(operands, folded)) || folded.size() != 1)
      return {};
    if (auto value = dyn_cast<Value>(folded.front()))
      result = computeTile(values, value, known);
    else
      result = dyn_cast<DenseIntElementsAttr>(cast<Attribute>(folded.front()));
  }
  known[tile] = result;
  return result;
}

DenseIntElementsAttr Values::getTile(Value tile) const {
  llvm::DenseMap<Value, DenseIntElementsAttr> known;
  return computeTile(*this, tile, known);
}
