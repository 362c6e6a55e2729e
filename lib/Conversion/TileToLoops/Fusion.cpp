// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fusion.cpp - Selects the tiles that get a buffer -------------------===//

#include "TileLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-tile-to-loops"

using namespace mlir;
using namespace mlir::iris;

bool iris::isViewOp(Operation *op) {
  return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransposeOp>(op);
}

bool iris::isLeafOp(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return isa<tensor::SplatOp, tile::RangeOp>(op);
}

bool iris::isElementwiseOp(Operation *op) {
  return op->getNumResults() == 1 && isTile(op->getResult(0)) &&
         op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         OpTrait::hasElementwiseMappableTraits(op);
}

namespace {
/// A use of an expression by an op that is lowered to a loop.
struct FinalUse {
  OpOperand *operand;
  /// Whether the expression goes through a view.
  bool viaView;
  /// Whether it is computed more than once per element.
  bool repeated;
};
} // namespace

/// True if every tile operand of `op` has its own loop.
static bool hasLoopPerOperand(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() != 0;
}

/// Follows `value` through views and expressions to the loops that use it.
static void collectFinalUses(Value value, bool viaView, bool repeated,
                             const llvm::DenseSet<Value> &expressions,
                             SmallVectorImpl<FinalUse> &uses) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isViewOp(user)) {
      bool repeats = isa<tile::BroadcastOp>(user) &&
                     tileType(user->getResult(0)).getNumElements() >
                         tileType(value).getNumElements();
      collectFinalUses(user->getResult(0), /*viaView=*/true,
                       repeated || repeats, expressions, uses);
      continue;
    }
    if (isElementwiseOp(user) && expressions.contains(user->getResult(0))) {
      collectFinalUses(user->getResult(0), viaView, repeated, expressions,
                       uses);
      continue;
    }
    uses.push_back({&use, viaView, repeated});
  }
}

/// An expression may be emitted at its uses if all its inputs are scalars and
/// buffers that do not change before the end of its block. It is emitted there
/// only if it is then computed once per element, that is, if all uses are in
/// one loop of the same block, at the same point.
void TileLowering::fuseExpressions(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    if (op.getNumResults() != 1 || !isTile(op.getResult(0)))
      continue;
    Value result = op.getResult(0);
    if (isLeafOp(&op) || isViewOp(&op)) {
      expressions.insert(result);
      continue;
    }
    if (!isElementwiseOp(&op))
      continue;

    SmallVector<FinalUse> uses;
    collectFinalUses(result, /*viaView=*/false, /*repeated=*/false, expressions,
                     uses);
    bool sameLoop = llvm::all_of(uses, [&](const FinalUse &use) {
      Operation *user = use.operand->getOwner();
      if (user->getBlock() != &block || use.repeated)
        return false;
      if (hasLoopPerOperand(user))
        return use.operand == uses.front().operand;
      return user == uses.front().operand->getOwner();
    });
    bool samePoint =
        uses.size() <= 1 ||
        llvm::none_of(uses, [](const FinalUse &use) { return use.viaView; });
    if (sameLoop && samePoint) {
      LDBG() << "compute in the loop that uses it: " << op;
      expressions.insert(result);
      continue;
    }
    LDBG() << "give a buffer, as it is used "
           << (sameLoop ? "in another order of elements: "
                        : "more than once or in other blocks: ")
           << op;
  }
}
