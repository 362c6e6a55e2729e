// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TranslatePointers.cpp - Expands remote accesses --------------------===//
//
// Rewrites every op with a rank into iris.translate and an op without a rank.
// The translation is inserted immediately before the access; CSE and LICM,
// which run after this pass, share it and hoist it out of loops.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-translate-pointers"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISTRANSLATEPOINTERSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

static Value translate(RewriterBase &rewriter, Location loc, Value ctx,
                       Value buffer, Value rank) {
  return TranslateOp::create(rewriter, loc, ctx, buffer, rank);
}

//===----------------------------------------------------------------------===//
// Windows and elementwise accesses
//===----------------------------------------------------------------------===//

static void expandAccess(iris::LoadOp op, RewriterBase &rewriter) {
  Value source = translate(rewriter, op.getLoc(), op.getCtx(), op.getSource(),
                           op.getRank());
  rewriter.replaceOpWithNewOp<tile::LoadOp>(op, op.getType(), source,
                                            op.getOffsets(), op.getOther(),
                                            op.getCache(), op.getIsVolatile());
}

static void expandAccess(iris::StoreOp op, RewriterBase &rewriter) {
  Value destination = translate(rewriter, op.getLoc(), op.getCtx(),
                                op.getDestination(), op.getRank());
  rewriter.replaceOpWithNewOp<tile::StoreOp>(op, op.getValue(), destination,
                                             op.getOffsets(), op.getCache(),
                                             op.getIsVolatile());
}

static void expandAccess(iris::GatherOp op, RewriterBase &rewriter) {
  Value source = translate(rewriter, op.getLoc(), op.getCtx(), op.getSource(),
                           op.getRank());
  rewriter.replaceOpWithNewOp<tile::GatherOp>(
      op, op.getType(), source, op.getIndices(), op.getMask(), op.getOther(),
      op.getCache(), op.getIsVolatile());
}

static void expandAccess(iris::ScatterOp op, RewriterBase &rewriter) {
  Value destination = translate(rewriter, op.getLoc(), op.getCtx(),
                                op.getDestination(), op.getRank());
  rewriter.replaceOpWithNewOp<tile::ScatterOp>(
      op, op.getValue(), destination, op.getIndices(), op.getMask(),
      op.getCache(), op.getIsVolatile());
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// The coordinates of the window at `offsets` along each dimension, as tiles.
static SmallVector<Value> windowIndices(RewriterBase &rewriter, Location loc,
                                        ValueRange offsets,
                                        RankedTensorType tile) {
  auto type = RankedTensorType::get(tile.getShape(), rewriter.getIndexType(),
                                    tile.getEncoding());
  SmallVector<Value> indices;
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    Value range = tile::RangeOp::create(rewriter, loc, type, dim);
    Value base = tensor::SplatOp::create(rewriter, loc, offset, type);
    indices.push_back(arith::AddIOp::create(rewriter, loc, base, range));
  }
  return indices;
}

/// Copies the window from `source` to `destination`, both already translated.
/// Masked transfers use gather and scatter.
template <typename OpT>
static void expandTransfer(OpT op, Value source, Value destination,
                           RewriterBase &rewriter) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getTileType();
  Value mask = op.getMask();
  if (!mask) {
    Value tile =
        tile::LoadOp::create(rewriter, loc, type, source, op.getSourceOffsets(),
                             op.getOther(), op.getCache(), op.getIsVolatile());
    rewriter.replaceOpWithNewOp<tile::StoreOp>(
        op, tile, destination, op.getDestinationOffsets(), op.getStoreCache(),
        op.getIsVolatile());
    return;
  }
  Value tile = tile::GatherOp::create(
      rewriter, loc, type, source,
      windowIndices(rewriter, loc, op.getSourceOffsets(), type), mask,
      op.getOther(), op.getCache(), op.getIsVolatile());
  rewriter.replaceOpWithNewOp<tile::ScatterOp>(
      op, tile, destination,
      windowIndices(rewriter, loc, op.getDestinationOffsets(), type), mask,
      op.getStoreCache(), op.getIsVolatile());
}

static void expandAccess(GetOp op, RewriterBase &rewriter) {
  Value source = translate(rewriter, op.getLoc(), op.getCtx(), op.getSource(),
                           op.getRank());
  expandTransfer(op, source, op.getDestination(), rewriter);
}

static void expandAccess(PutOp op, RewriterBase &rewriter) {
  Value destination = translate(rewriter, op.getLoc(), op.getCtx(),
                                op.getDestination(), op.getRank());
  expandTransfer(op, op.getSource(), destination, rewriter);
}

static void expandAccess(CopyOp op, RewriterBase &rewriter) {
  Value source = translate(rewriter, op.getLoc(), op.getCtx(), op.getSource(),
                           op.getFromRank());
  Value destination = translate(rewriter, op.getLoc(), op.getCtx(),
                                op.getDestination(), op.getToRank());
  expandTransfer(op, source, destination, rewriter);
}

//===----------------------------------------------------------------------===//
// Atomics, signals, waits
//===----------------------------------------------------------------------===//

static void expandAccess(RankedAccessOpInterface op, RewriterBase &rewriter) {
  Value rank = op.getAccessedRank();
  if (!rank)
    return;
  OpOperand &buffer = op.getBufferOperand();
  // All these ops have the context as an operand.
  auto ctx = llvm::find_if(op->getOperands(), [](Value operand) {
    return isa<CtxType>(operand.getType());
  });
  Value peer = translate(rewriter, op.getLoc(), *ctx, buffer.get(), rank);
  rewriter.modifyOpInPlace(op, [&] {
    buffer.set(peer);
    op.dropAccessedRank();
  });
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// What `op` becomes, for the log; empty if it is not such an op.
static StringRef describeAccess(Operation *op) {
  if (isa<iris::LoadOp, iris::StoreOp>(op))
    return "a window at a translated address";
  if (isa<iris::GatherOp, iris::ScatterOp>(op))
    return "elements at a translated address";
  if (isa<GetOp, PutOp, CopyOp>(op))
    return "a load and a store, one or both at translated addresses";
  auto access = dyn_cast<RankedAccessOpInterface>(op);
  if (!access)
    return "";
  return access.getAccessedRank() ? "at a translated address"
                                  : "on this rank, not translated";
}

namespace {
struct TranslatePointersPass
    : iris::impl::IrisTranslatePointersPassBase<TranslatePointersPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](Operation *op) {
      rewriter.setInsertionPoint(op);
      if (StringRef kind = describeAccess(op); !kind.empty())
        LDBG() << *op << ": " << kind;
      llvm::TypeSwitch<Operation *>(op)
          .Case<iris::LoadOp, iris::StoreOp, iris::GatherOp, iris::ScatterOp,
                GetOp, PutOp, CopyOp, RankedAccessOpInterface>(
              [&](auto access) { expandAccess(access, rewriter); });
    });
  }
};
} // namespace
