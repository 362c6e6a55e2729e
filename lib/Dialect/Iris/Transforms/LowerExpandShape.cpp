// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerExpandShape.cpp - Several dynamic sizes in a group ------------===//
//
// ExpandStridedMetadata computes the sizes of a group from that of its source,
// which leaves one of them open; it crashes where several are dynamic. The op
// has all of them since it has an output shape.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

#define DEBUG_TYPE "iris-lower-expand-shape"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISLOWEREXPANDSHAPEPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

static bool hasSeveralDynamicSizes(memref::ExpandShapeOp op) {
  return llvm::any_of(op.getReassociationIndices(),
                      [&](ArrayRef<int64_t> group) {
                        return llvm::count_if(group, [&](int64_t dim) {
                                 return op.getResultType().isDynamicDim(dim);
                               }) > 1;
                      });
}

/// The stride of an inner dimension times that dimension's size is the stride
/// of the next outer one of the group.
static SmallVector<OpFoldResult>
stridesOf(OpBuilder &b, memref::ExpandShapeOp op, ArrayRef<int64_t> known,
          ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> sourceStrides) {
  Location loc = op.getLoc();
  auto value = [&](OpFoldResult number) {
    return getValueOrCreateConstantIndexOp(b, loc, number);
  };
  SmallVector<OpFoldResult> strides(sizes.size());
  for (auto [source, group] : llvm::enumerate(op.getReassociationIndices())) {
    OpFoldResult stride = sourceStrides[source];
    for (int64_t dim : llvm::reverse(group)) {
      strides[dim] = ShapedType::isDynamic(known[dim])
                         ? OpFoldResult(value(stride))
                         : b.getIndexAttr(known[dim]);
      if (dim != group.front())
        stride = b.createOrFold<arith::MulIOp>(loc, value(strides[dim]),
                                               value(sizes[dim]));
    }
  }
  return strides;
}

static LogicalResult lower(IRRewriter &rewriter, memref::ExpandShapeOp op) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(op.getResultType().getStridesAndOffset(strides, offset)))
    return op.emitOpError("has no strides; expected a strided layout");
  rewriter.setInsertionPoint(op);
  auto source = memref::ExtractStridedMetadataOp::create(rewriter, op.getLoc(),
                                                         op.getSrc());
  OpFoldResult start = ShapedType::isDynamic(offset)
                           ? OpFoldResult(source.getOffset())
                           : rewriter.getIndexAttr(offset);
  SmallVector<OpFoldResult> sizes =
      getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), rewriter);
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, op.getResultType(), source.getBaseBuffer(), start, sizes,
      stridesOf(rewriter, op, strides, sizes,
                source.getConstifiedMixedStrides()));
  return success();
}

namespace {
struct LowerExpandShapePass
    : iris::impl::IrisLowerExpandShapePassBase<LowerExpandShapePass> {
  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> shapes;
    getOperation()->walk([&](memref::ExpandShapeOp op) {
      if (hasSeveralDynamicSizes(op))
        shapes.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (memref::ExpandShapeOp op : shapes)
      if (failed(lower(rewriter, op)))
        return signalPassFailure();
  }
};
} // namespace
