// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gathers and scatters: each element has its own coordinates and bounds check.
#include "Patterns.h"

#include "iris/Analysis/TileLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::iris;

SmallVector<Value> mlir::iris::extractEach(ThreadBuilder &t, ValueRange vectors,
                                           int64_t reg) {
  return llvm::map_to_vector(
      vectors, [&](Value vector) { return t.extract(vector, reg); });
}

namespace {

struct GatherPattern : ThreadPattern<tile::GatherOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(tile::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = getBuilder(rewriter, op);
    BufferView view(adaptor.getSource(), t);
    RankedTensorType type = op.getResult().getType();
    LinearLayout layout = *getLinearLayout(type);
    Value other = adaptor.getOther();
    if (!other)
      other = arith::ConstantOp::create(
          rewriter, t.loc, rewriter.getZeroAttr(type.getElementType()));
    // See getFlags(tile::LoadOp).
    bool isVolatile =
        op.getIsVolatile() || op.getCache() != tile::LoadCache::ca;

    SmallVector<Value> elements;
    for (uint64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
      SmallVector<Value> coordinates =
          extractEach(t, adaptor.getIndices(), reg);
      Value condition = view.isInside(t, coordinates);
      if (Value mask = adaptor.getMask())
        condition = emitAnd(t, condition, t.extract(mask, reg));
      elements.push_back(emitGuardedValue(
          t, condition, other, [&](ThreadBuilder &inner) -> Value {
            return LLVM::LoadOp::create(
                inner.b, inner.loc, type.getElementType(),
                view.getElementPointer(inner, coordinates), /*alignment=*/0,
                isVolatile);
          }));
    }
    rewriter.replaceOp(op, t.pack(elements));
    return success();
  }
};

struct ScatterPattern : ThreadPattern<tile::ScatterOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(tile::ScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = getBuilder(rewriter, op);
    BufferView view(adaptor.getDestination(), t);
    LinearLayout layout = *getLinearLayout(op.getValue().getType());
    uint64_t free = layout.getFreeBits().reg;
    bool isVolatile =
        op.getIsVolatile() || op.getCache() == tile::StoreCache::wt;
    bool isNontemporal = op.getCache() == tile::StoreCache::cs;

    emitGuarded(t, t.getOwnerPredicate(layout), [&](ThreadBuilder &owner) {
      for (uint64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
        if (reg & free)
          continue;
        SmallVector<Value> coordinates =
            extractEach(owner, adaptor.getIndices(), reg);
        Value condition = view.isInside(owner, coordinates);
        if (Value mask = adaptor.getMask())
          condition = emitAnd(owner, condition, owner.extract(mask, reg));
        Value value = owner.extract(adaptor.getValue(), reg);
        emitGuarded(owner, condition, [&](ThreadBuilder &inner) {
          LLVM::StoreOp::create(inner.b, inner.loc, value,
                                view.getElementPointer(inner, coordinates),
                                /*alignment=*/0, isVolatile, isNontemporal);
        });
      }
    });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::iris::populateIndexedPatterns(const TypeConverter &converter,
                                         const ConversionFacts &facts,
                                         RewritePatternSet &patterns) {
  patterns.add<GatherPattern, ScatterPattern>(converter, patterns.getContext(),
                                              facts);
}
