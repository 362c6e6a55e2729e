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

  bool operator==(const FinalUse &other) const {
    return operand == other.operand && viaView == other.viaView &&
           repeated == other.repeated;
  }
};

/// Where an expression ends up.
struct FinalUses {
  SmallVector<FinalUse, 1> uses;
  /// Whether several paths of uses lead there.
  bool areSeveral = false;

  void add(FinalUse use) {
    areSeveral |= !uses.empty();
    if (!llvm::is_contained(uses, use))
      uses.push_back(use);
  }
};

/// Follows values through views and expressions to the loops that use them.
/// Each value is followed once: in a graph of expressions that use others
/// several times, the number of paths is exponential.
class UseWalker {
public:
  explicit UseWalker(const llvm::DenseSet<Value> &expressions)
      : expressions(expressions) {}

  /// Whether the users of `value` are expressions must not change afterwards.
  const FinalUses &follow(Value value) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    FinalUses all;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      bool isView = isViewOp(user);
      if (!isView && !(isElementwiseOp(user) &&
                       expressions.contains(user->getResult(0)))) {
        all.add({&use, /*viaView=*/false, /*repeated=*/false});
        continue;
      }
      bool repeats = isa<tile::BroadcastOp>(user) &&
                     tileType(user->getResult(0)).getNumElements() >
                         tileType(value).getNumElements();
      const FinalUses &next = follow(user->getResult(0));
      all.areSeveral |= next.areSeveral;
      for (FinalUse last : next.uses)
        all.add(
            {last.operand, last.viaView || isView, last.repeated || repeats});
    }
    return known[value] = std::move(all);
  }

private:
  const llvm::DenseSet<Value> &expressions;
  llvm::DenseMap<Value, FinalUses> known;
};
} // namespace

/// True if every tile operand of `op` has its own loop.
static bool hasLoopPerOperand(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() != 0;
}

/// An expression may be emitted at its uses if all its inputs are scalars and
/// buffers that do not change before the end of its block. It is emitted there
/// only if it is then computed once per element, that is, if all uses are in
/// one loop of the same block, at the same point.
void TileLowering::fuseExpressions(Block &block) {
  // Users come first, so that they are decided on when values are followed.
  UseWalker walker(expressions);
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

    const FinalUses &all = walker.follow(result);
    ArrayRef<FinalUse> uses = all.uses;
    bool sameLoop = llvm::all_of(uses, [&](const FinalUse &use) {
      Operation *user = use.operand->getOwner();
      if (user->getBlock() != &block || use.repeated)
        return false;
      if (hasLoopPerOperand(user))
        return use.operand == uses.front().operand;
      return user == uses.front().operand->getOwner();
    });
    bool samePoint =
        !all.areSeveral ||
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
