// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarizeSingles.cpp - Vectors of one element as scalars -----------===//
//
// LLVM's backends scalarize such vectors late, and not always well: the AMD
// backend crashes if a copysign of them is rounded.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/TileToThreads.h"

#include "iris/Dialect/Iris/Utils/RewriteOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISSCALARIZESINGLESPASS
#include "iris/Conversion/TileToThreads.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

static bool isSingle(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && !vector.isScalable() && vector.getNumElements() == 1;
}

/// The element of `value`; `value` itself if it is a scalar.
static Value getSingle(RewriterBase &rewriter, Location loc, Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return value;
  SmallVector<int64_t> first(type.getRank(), 0);
  return vector::ExtractOp::create(rewriter, loc, value, first);
}

namespace {
struct ComputeOnElement : RewritePattern {
  ComputeOnElement(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) ||
        !llvm::all_of(op->getResultTypes(), isSingle))
      return rewriter.notifyMatchFailure(op, "not on vectors of one element");
    Location loc = op->getLoc();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(getSingle(rewriter, loc, operand));
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(cast<VectorType>(type).getElementType());
    Operation *scalar = Operation::create(
        loc, op->getName(), types, operands, op->getDiscardableAttrDictionary(),
        op->getPropertiesStorage(), /*successors=*/{}, /*numRegions=*/0);
    rewriter.insert(scalar);
    SmallVector<Value> results;
    for (auto [type, result] :
         llvm::zip_equal(op->getResultTypes(), scalar->getResults()))
      results.push_back(
          vector::BroadcastOp::create(rewriter, loc, type, result));
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct ScalarizeSinglesPass
    : iris::impl::IrisScalarizeSinglesPassBase<ScalarizeSinglesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ComputeOnElement>(&getContext());
    if (failed(
            rewriteOps(getOperation(), std::move(patterns), [](Operation *op) {
              return llvm::any_of(op->getResultTypes(), isSingle);
            })))
      signalPassFailure();
  }
};
} // namespace
