// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomics and checks on tiles: executed by the owner of each element.
#include "Patterns.h"

#include "iris/Analysis/TileLayout.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static bool releases(MemSemantic sem) {
  return sem == MemSemantic::Release || sem == MemSemantic::AcqRel;
}
static bool acquires(MemSemantic sem) {
  return sem == MemSemantic::Acquire || sem == MemSemantic::AcqRel;
}

namespace {

/// The ordering of an atomic on a tile is that of the program: one fence before
/// all elements and one after, with relaxed accesses in between.
template <typename OpT>
struct AtomicPattern : ThreadPattern<OpT> {
  using ThreadPattern<OpT>::ThreadPattern;

  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getResult().getType());
    if (!type)
      return rewriter.notifyMatchFailure(op, "not on a tile");
    if (op.getRank())
      return rewriter.notifyMatchFailure(op, "names a rank");
    ThreadBuilder t = this->getBuilder(rewriter, op);
    LinearLayout layout = *getLinearLayout(type);
    BufferView view(adaptor.getBuffer(), t);
    uint64_t free = layout.getFreeBits().reg;
    Value zero = arith::ConstantOp::create(
        rewriter, t.loc, rewriter.getZeroAttr(type.getElementType()));
    Value owner = t.getOwnerPredicate(layout);

    if (releases(op.getSem()))
      FenceOp::create(rewriter, t.loc, MemSemantic::Release, op.getScope());
    SmallVector<Value> old;
    for (auto [reg, coordinates] :
         llvm::enumerate(getCoordinates(op, adaptor, t, layout))) {
      if (reg & free) {
        old.push_back(zero);
        continue;
      }
      Value condition = emitAnd(t, owner, view.isInside(t, coordinates));
      condition = emitAnd(t, condition, getMask(adaptor, t, reg));
      old.push_back(emitGuardedValue(
          t, condition, zero,
          [&, reg = reg, &coordinates = coordinates](ThreadBuilder &inner) {
            return emitElement(op, adaptor, inner, reg,
                               view.getElementPointer(inner, coordinates));
          }));
    }
    Value result = t.pack(old);
    if (acquires(op.getSem()))
      FenceOp::create(rewriter, t.loc, MemSemantic::Acquire, op.getScope());
    // Only owners have the previous values.
    if ((owner || free) && !op.getResult().use_empty())
      result = t.exchange(result, layout, layout,
                          [](uint64_t index) { return index; });
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  /// Those of the elements of each register.
  static SmallVector<SmallVector<Value>>
  getCoordinates(OpT op, typename OpT::Adaptor adaptor, ThreadBuilder &t,
                 const LinearLayout &layout) {
    if (!areIndexTiles(op.getOffsets()))
      return getWindowCoordinates(t, layout, adaptor.getOffsets());
    SmallVector<SmallVector<Value>> all;
    for (uint64_t reg = 0; reg < layout.getNumRegisters(); ++reg)
      all.push_back(extractEach(t, adaptor.getOffsets(), reg));
    return all;
  }

  static Value getMask(AtomicRMWOp::Adaptor adaptor, ThreadBuilder &t,
                       int64_t reg) {
    Value mask = adaptor.getMask();
    return mask ? t.extract(mask, reg) : Value();
  }
  static Value getMask(AtomicCASOp::Adaptor, ThreadBuilder &, int64_t) {
    return {};
  }

  static Value emitElement(AtomicRMWOp op, AtomicRMWOp::Adaptor adaptor,
                           ThreadBuilder &t, int64_t reg, Value pointer) {
    return ElementRMWOp::create(
        t.b, t.loc, getElementTypeOrSelf(op.getValue()), op.getKind(),
        t.extract(adaptor.getValue(), reg), pointer, op.getScope());
  }
  static Value emitElement(AtomicCASOp op, AtomicCASOp::Adaptor adaptor,
                           ThreadBuilder &t, int64_t reg, Value pointer) {
    return ElementCASOp::create(t.b, t.loc, getElementTypeOrSelf(op.getValue()),
                                t.extract(adaptor.getCompare(), reg),
                                t.extract(adaptor.getValue(), reg), pointer,
                                op.getScope());
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Returns the raw bits of a scalar, zero extended to i64.
static Value getBits(ThreadBuilder &t, Value value) {
  Type type = value.getType();
  if (type.isIndex())
    return t.toI64(value);
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(
        t.b, t.loc, t.b.getIntegerType(type.getIntOrFloatBitWidth()), value);
  if (value.getType().isInteger(64))
    return value;
  return arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), value);
}

/// Returns whether `got` and `want`, with the bits given, differ by more than
/// `tolerance`; if it is null, whether they differ at all. Two NaNs are equal.
static Value differs(ThreadBuilder &t, Value got, Value want, Value gotBits,
                     Value wantBits, FloatAttr tolerance) {
  Value unequal = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne,
                                        gotBits, wantBits);
  auto type = dyn_cast<FloatType>(got.getType());
  if (!type)
    return unequal;
  auto isNaN = [&](Value value) {
    return arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::UNO, value,
                                 value);
  };
  Value bothNaN = arith::AndIOp::create(t.b, t.loc, isNaN(got), isNaN(want));
  Value close = bothNaN;
  if (tolerance) {
    // At least f32: the difference of two f16 may need more bits.
    Type wide = type.getWidth() < 32 ? t.b.getF32Type() : Type(type);
    auto widen = [&](Value value) {
      return wide == type
                 ? value
                 : arith::ExtFOp::create(t.b, t.loc, wide, value).getResult();
    };
    Value difference =
        arith::SubFOp::create(t.b, t.loc, widen(got), widen(want));
    // |difference| <= tolerance, without a call of the math library.
    Value limit = arith::ConstantOp::create(
        t.b, t.loc, t.b.getFloatAttr(wide, tolerance.getValueAsDouble()));
    Value negative = arith::ConstantOp::create(
        t.b, t.loc, t.b.getFloatAttr(wide, -tolerance.getValueAsDouble()));
    Value below = arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::OLE,
                                        difference, limit);
    Value above = arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::OGE,
                                        difference, negative);
    close = arith::OrIOp::create(
        t.b, t.loc, close, arith::AndIOp::create(t.b, t.loc, below, above));
  }
  Value isFar = arith::XOrIOp::create(
      t.b, t.loc, close, arith::ConstantIntOp::create(t.b, t.loc, 1, 1));
  return arith::AndIOp::create(t.b, t.loc, unequal, isFar);
}

namespace {

/// Each owner checks its elements and reports its first mismatch.
struct ExpectEqPattern : ThreadPattern<ExpectEqOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(ExpectEqOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getGot().getType());
    if (!type)
      return rewriter.notifyMatchFailure(op, "not on a tile");
    ThreadBuilder t = getBuilder(rewriter, op);
    LinearLayout layout = *getLinearLayout(type);
    emitGuarded(t, t.getOwnerPredicate(layout), [&](ThreadBuilder &owner) {
      emitChecks(op, adaptor, owner, layout, type.getElementType());
    });
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void emitChecks(ExpectEqOp op, OpAdaptor adaptor, ThreadBuilder &t,
                         const LinearLayout &layout, Type element) {
    uint64_t free = layout.getFreeBits().reg;
    Value thread = t.getThreadIndex(layout);
    Value failed = t.i64(0), first = t.i64(0), firstGot = t.i64(0),
          firstWant = t.i64(0);
    int64_t checked = 0;
    // Iterate backwards, so that the first mismatch is kept.
    for (uint64_t reg = layout.getNumRegisters(); reg-- > 0;) {
      if (reg & free)
        continue;
      ++checked;
      Value got = t.extract(adaptor.getGot(), reg);
      Value want = t.extract(adaptor.getWant(), reg);
      Value gotBits = getBits(t, got), wantBits = getBits(t, want);
      Value wrong = differs(t, got, want, gotBits, wantBits, op.getTolAttr());
      Value index = t.b.createOrFold<arith::XOrIOp>(
          t.loc, thread, t.i32(layout.apply({reg, 0, 0})));
      index = arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), index);
      auto keep = [&](Value mine, Value other) -> Value {
        return arith::SelectOp::create(t.b, t.loc, wrong, mine, other);
      };
      failed = t.add(
          failed, arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), wrong));
      first = keep(index, first);
      firstGot = keep(gotBits, firstGot);
      firstWant = keep(wantBits, firstWant);
    }
    RecordExpectOp::create(t.b, t.loc, t.kernel.ctx, t.i64(checked), failed,
                           first, firstGot, firstWant, op.getWhatAttr(),
                           TypeAttr::get(element));
  }
};

} // namespace

void mlir::iris::populateElementPatterns(const TypeConverter &converter,
                                         const ConversionFacts &facts,
                                         RewritePatternSet &patterns) {
  patterns.add<AtomicPattern<AtomicCASOp>, AtomicPattern<AtomicRMWOp>,
               ExpectEqPattern>(converter, patterns.getContext(), facts);
}
