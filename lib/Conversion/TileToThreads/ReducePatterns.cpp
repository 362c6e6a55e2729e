// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions: first over the registers of a thread, in order of coordinates,
// then over lanes with butterfly shuffles, then over warps through scratch
// memory. The order depends only on the layout.
#include "Patterns.h"

#include "iris/Analysis/TileLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Bits of the reduced dimension
//===----------------------------------------------------------------------===//

namespace {

/// The input bits of a layout whose bases change the reduced coordinate.
struct ReducedBits {
  LayoutIndex bits;
  /// Some basis changes the reduced coordinate and another one.
  bool mixed = false;
};

} // namespace

static ReducedBits getReducedBits(const LinearLayout &layout, unsigned dim) {
  ReducedBits result;
  LayoutIndex free = layout.getFreeBits();
  uint64_t mask = layout.getDimMask(dim);
  auto collect = [&](LayoutDim input, uint64_t freeBits, uint64_t &bits) {
    for (auto [i, basis] : llvm::enumerate(layout.getBases(input))) {
      // Elements of free bits are duplicates of those of the other bits.
      if (!(basis & mask) || (freeBits >> i & 1))
        continue;
      result.mixed |= (basis & ~mask) != 0;
      bits |= uint64_t(1) << i;
    }
  };
  collect(LayoutDim::Register, free.reg, result.bits.reg);
  collect(LayoutDim::Lane, free.lane, result.bits.lane);
  collect(LayoutDim::Warp, free.warp, result.bits.warp);
  return result;
}

/// Enumerates all subsets of `bits`, starting with the empty set.
static SmallVector<uint64_t> getSettings(uint64_t bits) {
  SmallVector<uint64_t> result;
  uint64_t setting = 0;
  do {
    result.push_back(setting);
    setting = (setting - bits) & bits;
  } while (setting != 0);
  return result;
}

uint64_t mlir::iris::getScratchBytes(Operation *op, unsigned numWarps) {
  if (needsExchange(op)) {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    return getExchangeBytes(*getLinearLayout(type), type.getElementType());
  }
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    LinearLayout layout = *getLinearLayout(reduce.getSource().getType());
    if (getReducedBits(layout, reduce.getDim()).bits.warp == 0)
      return 0;
    // One partial result per warp, of at most 8 bytes each.
    return layout.slice(reduce.getDim()).getNumElements() * numWarps * 8;
  }
  if (isa<AtomicRMWOp, AtomicCASOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || op->getResult(0).use_empty())
      return 0;
    LinearLayout layout = *getLinearLayout(type);
    if (layout.getFreeBits() == LayoutIndex())
      return 0;
    return getExchangeBytes(layout, type.getElementType());
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <typename OpT>
static Value make(ThreadBuilder &t, Value lhs, Value rhs) {
  return OpT::create(t.b, t.loc, lhs, rhs);
}

/// Returns the reduction of two scalars.
static Value combine(ThreadBuilder &t, tile::ReduceKind kind, Value lhs,
                     Value rhs) {
  bool isFloat = isa<FloatType>(lhs.getType());
  switch (kind) {
  case tile::ReduceKind::sum:
    return isFloat ? make<arith::AddFOp>(t, lhs, rhs)
                   : make<arith::AddIOp>(t, lhs, rhs);
  case tile::ReduceKind::prod:
    return isFloat ? make<arith::MulFOp>(t, lhs, rhs)
                   : make<arith::MulIOp>(t, lhs, rhs);
  case tile::ReduceKind::min:
    return isFloat ? make<arith::MinimumFOp>(t, lhs, rhs)
                   : make<arith::MinSIOp>(t, lhs, rhs);
  case tile::ReduceKind::max:
    return isFloat ? make<arith::MaximumFOp>(t, lhs, rhs)
                   : make<arith::MaxSIOp>(t, lhs, rhs);
  case tile::ReduceKind::umin:
    return make<arith::MinUIOp>(t, lhs, rhs);
  case tile::ReduceKind::umax:
    return make<arith::MaxUIOp>(t, lhs, rhs);
  case tile::ReduceKind::And:
    return make<arith::AndIOp>(t, lhs, rhs);
  case tile::ReduceKind::Or:
    return make<arith::OrIOp>(t, lhs, rhs);
  case tile::ReduceKind::Xor:
    return make<arith::XOrIOp>(t, lhs, rhs);
  }
  llvm_unreachable("unknown kind of reduction");
}

/// Returns the value of the lane whose index differs in the bits of `mask`.
/// Shuffles move 32 bits on every target.
static Value shuffleXor(ThreadBuilder &t, Value value, uint64_t mask) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type)) {
    Value bits =
        arith::BitcastOp::create(t.b, t.loc, t.b.getIntegerType(width), value);
    return arith::BitcastOp::create(t.b, t.loc, type,
                                    shuffleXor(t, bits, mask));
  }
  Type word = t.b.getI32Type();
  if (width == 64) {
    Value shift = t.i64(32);
    Value low = arith::TruncIOp::create(t.b, t.loc, word, value);
    Value high = arith::TruncIOp::create(
        t.b, t.loc, word, arith::ShRUIOp::create(t.b, t.loc, value, shift));
    auto widen = [&](Value part) {
      return arith::ExtUIOp::create(t.b, t.loc, type,
                                    shuffleXor(t, part, mask));
    };
    Value top = arith::ShLIOp::create(t.b, t.loc, widen(high), shift);
    return arith::OrIOp::create(t.b, t.loc, top, widen(low));
  }
  if (width < 32) {
    Value wide = arith::ExtUIOp::create(t.b, t.loc, word, value);
    return arith::TruncIOp::create(t.b, t.loc, type, shuffleXor(t, wide, mask));
  }
  return gpu::ShuffleOp::create(t.b, t.loc, value, t.i32(mask),
                                t.i32(t.kernel.warpSize), gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

//===----------------------------------------------------------------------===//
// Pattern
//===----------------------------------------------------------------------===//

namespace {

struct ReducePattern : ThreadPattern<tile::ReduceOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(tile::ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = getBuilder(rewriter, op);
    LinearLayout layout = *getLinearLayout(op.getSource().getType());
    unsigned dim = op.getDim();
    ReducedBits reduced = getReducedBits(layout, dim);
    if (reduced.mixed)
      return op.emitOpError("layout of the source has a basis that changes "
                            "dimension ")
             << dim << " and another one; expected separate bases";
    LinearLayout slice = layout.slice(dim);

    SmallVector<Value> partial =
        reduceRegisters(op, t, adaptor.getSource(), layout, slice, reduced);
    for (unsigned bit = 0; reduced.bits.lane >> bit; ++bit)
      if (reduced.bits.lane >> bit & 1)
        for (Value &value : partial)
          value = combine(t, op.getKind(), value,
                          shuffleXor(t, value, uint64_t(1) << bit));
    if (reduced.bits.warp)
      reduceWarps(op, t, partial, layout, slice, reduced);

    Type wanted = getElementTypeOrSelf(op.getResult().getType());
    for (Value &value : partial)
      if (value.getType() != wanted)
        value = arith::TruncFOp::create(rewriter, t.loc, wanted, value);
    bool isScalar = !isa<RankedTensorType>(op.getResult().getType());
    rewriter.replaceOp(op, isScalar ? partial.front() : t.pack(partial));
    return success();
  }

private:
  static SmallVector<Value> reduceRegisters(tile::ReduceOp op, ThreadBuilder &t,
                                            Value source,
                                            const LinearLayout &layout,
                                            const LinearLayout &slice,
                                            const ReducedBits &reduced);
  static void reduceWarps(tile::ReduceOp op, ThreadBuilder &t,
                          SmallVectorImpl<Value> &partial,
                          const LinearLayout &layout, const LinearLayout &slice,
                          const ReducedBits &reduced);
};

} // namespace

SmallVector<Value> ReducePattern::reduceRegisters(tile::ReduceOp op,
                                                  ThreadBuilder &t,
                                                  Value source,
                                                  const LinearLayout &layout,
                                                  const LinearLayout &slice,
                                                  const ReducedBits &reduced) {
  // Along the reduced dimension, in order of coordinates.
  SmallVector<uint64_t> settings = getSettings(reduced.bits.reg);
  llvm::sort(settings, [&](uint64_t a, uint64_t b) {
    return layout.apply({a, 0, 0}) < layout.apply({b, 0, 0});
  });
  // The other register bits with nonzero bases are those of the slice, in the
  // same order.
  uint64_t mask = layout.getDimMask(op.getDim());
  SmallVector<uint64_t> kept;
  for (auto [i, basis] : llvm::enumerate(layout.getBases(LayoutDim::Register)))
    if (basis & ~mask)
      kept.push_back(uint64_t(1) << i);

  SmallVector<Value> result;
  for (uint64_t reg = 0; reg < slice.getNumRegisters(); ++reg) {
    uint64_t base = 0;
    for (auto [i, bit] : llvm::enumerate(kept))
      if (reg >> i & 1)
        base |= bit;
    Value total;
    for (uint64_t setting : settings) {
      Value value = t.extract(source, base | setting);
      // Narrow floats accumulate in f32.
      if (isa<FloatType>(value.getType()) &&
          value.getType().getIntOrFloatBitWidth() < 32)
        value = arith::ExtFOp::create(t.b, t.loc, t.b.getF32Type(), value);
      total = total ? combine(t, op.getKind(), total, value) : value;
    }
    result.push_back(total);
  }
  return result;
}

/// Every warp stores its partial results; every thread loads those of all warps
/// for its registers and combines them in order.
void ReducePattern::reduceWarps(tile::ReduceOp op, ThreadBuilder &t,
                                SmallVectorImpl<Value> &partial,
                                const LinearLayout &layout,
                                const LinearLayout &slice,
                                const ReducedBits &reduced) {
  Type type = partial.front().getType();
  uint64_t count = slice.getNumElements();

  // The partial results of a warp are contiguous, one warp after the other.
  SmallVector<uint64_t> warpBases(slice.getBases(LayoutDim::Warp));
  unsigned numParts = 0;
  SmallVector<uint64_t> order;
  for (uint64_t bit = 0; bit < warpBases.size(); ++bit) {
    if (!(reduced.bits.warp >> bit & 1))
      continue;
    warpBases[bit] |= count << numParts++;
    order.push_back(layout.getBases(LayoutDim::Warp)[bit]);
  }
  Value index = t.applyBases(slice.getBases(LayoutDim::Lane), warpBases);
  Value common = t.getThreadIndex(slice);

  // One thread stores each partial result.
  LayoutIndex free = layout.getFreeBits();
  Value writer;
  for (auto [input, bits] :
       {std::pair<Value, uint64_t>(t.kernel.lane,
                                   free.lane | reduced.bits.lane),
        std::pair<Value, uint64_t>(t.kernel.warp, free.warp)}) {
    if (!bits)
      continue;
    Value rest = arith::AndIOp::create(t.b, t.loc, input, t.i32(bits));
    writer = emitAnd(t, writer,
                     arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq,
                                           rest, t.i32(0)));
  }
  t.barrier();
  emitGuarded(t, writer, [&](ThreadBuilder &inner) {
    for (auto [reg, value] : llvm::enumerate(partial)) {
      Value at = inner.b.createOrFold<arith::XOrIOp>(
          inner.loc, index, inner.i32(slice.apply({reg, 0, 0})));
      LLVM::StoreOp::create(inner.b, inner.loc, value,
                            inner.getScratchPointer(type, at));
    }
  });
  t.barrier();

  SmallVector<uint64_t> parts =
      llvm::to_vector(llvm::seq<uint64_t>(0, uint64_t(1) << numParts));
  auto coordinate = [&](uint64_t part) {
    uint64_t result = 0;
    for (auto [i, basis] : llvm::enumerate(order))
      if (part >> i & 1)
        result ^= basis;
    return result;
  };
  llvm::sort(parts, [&](uint64_t a, uint64_t b) {
    return coordinate(a) < coordinate(b);
  });
  for (auto [reg, value] : llvm::enumerate(partial)) {
    Value at = t.b.createOrFold<arith::XOrIOp>(t.loc, common,
                                               t.i32(slice.apply({reg, 0, 0})));
    value = Value();
    for (uint64_t part : parts) {
      Value from = t.add(at, t.i32(part * count));
      Value read = LLVM::LoadOp::create(t.b, t.loc, type,
                                        t.getScratchPointer(type, from));
      value = value ? combine(t, op.getKind(), value, read) : read;
    }
  }
}

void mlir::iris::populateReducePatterns(const TypeConverter &converter,
                                        const ConversionFacts &facts,
                                        RewritePatternSet &patterns) {
  patterns.add<ReducePattern>(converter, patterns.getContext(), facts);
}
