// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandSlices.cpp - Slices of vectors become shuffles ---------------===//
//
// The conversions to LLVM have no patterns for slices. Vectors have one
// dimension here, so that a slice is a choice of elements.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "iris/Dialect/Iris/Utils/RewriteOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

#define DEBUG_TYPE "iris-expand-slices"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISEXPANDSLICESPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

static int64_t firstOf(ArrayAttr numbers) {
  return cast<IntegerAttr>(numbers[0]).getInt();
}

namespace {
struct ExtractPattern : OpRewritePattern<vector::ExtractStridedSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ExtractStridedSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getSourceVectorType().getRank() != 1)
      return rewriter.notifyMatchFailure(op, "has several dimensions");
    SmallVector<int64_t> chosen;
    for (int64_t n = 0; n < op.getType().getNumElements(); ++n)
      chosen.push_back(firstOf(op.getOffsets()) + n * firstOf(op.getStrides()));
    Value source = op.getSource();
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, source, source, chosen);
    return success();
  }
};

struct InsertPattern : OpRewritePattern<vector::InsertStridedSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::InsertStridedSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getDestVectorType().getRank() != 1)
      return rewriter.notifyMatchFailure(op, "has several dimensions");
    int64_t inserted = op.getSourceVectorType().getNumElements();
    // The elements of the slice are in front of those of the vector.
    SmallVector<int64_t> chosen;
    for (int64_t n = 0; n < op.getType().getNumElements(); ++n)
      chosen.push_back(inserted + n);
    for (int64_t n = 0; n < inserted; ++n)
      chosen[firstOf(op.getOffsets()) + n * firstOf(op.getStrides())] = n;
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, op.getValueToStore(),
                                                   op.getDest(), chosen);
    return success();
  }
};

struct ExpandSlicesPass
    : iris::impl::IrisExpandSlicesPassBase<ExpandSlicesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExtractPattern, InsertPattern>(&getContext());
    if (failed(rewriteOps(getOperation(), std::move(patterns),
                          llvm::IsaPred<vector::ExtractStridedSliceOp,
                                        vector::InsertStridedSliceOp>)))
      signalPassFailure();
  }
};
} // namespace
