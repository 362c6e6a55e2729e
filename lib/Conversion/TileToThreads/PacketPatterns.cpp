// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packets: each thread stores its words with their flags, and waits for its own
// words. Two consecutive words are one access of 16 bytes.
#include "Patterns.h"

#include "iris/Analysis/TileLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::iris;

/// Accesses in flight per wait: each of them needs four registers until all
/// have arrived.
static constexpr size_t kMaxAccessesPerWait = 8;

//===----------------------------------------------------------------------===//
// Addresses of packets
//===----------------------------------------------------------------------===//

namespace {

/// Maps a thread's registers to the packets of a tile.
class PacketAccess {
public:
  PacketAccess(ThreadBuilder &t, Value buffer, Value offset,
               RankedTensorType tile)
      : view(buffer, t), offset(offset), tile(tile),
        layout(*getLinearLayout(tile)),
        elementBytes(tile.getElementTypeBitWidth() / 8) {
    // The lowest bits of the run; a single element may fill an access.
    for (unsigned bit : layout.getRowMajorRegisterBits())
      if ((elementBytes << vectorBits.size()) < kPacketBytes)
        vectorBits.push_back(bit);
  }

  /// Returns whether the whole window is inside the buffer.
  Value isInside(ThreadBuilder &t) const;
  /// The address of the window's first packet; uniform.
  Value getBase(ThreadBuilder &t) const { return view.getPointer(t, offset); }
  /// The byte offset (i32) from the base of the access that begins at register
  /// `reg`.
  Value getDistance(ThreadBuilder &t, uint64_t reg) const;

  /// The first registers of the accesses; only of elements that the thread owns
  /// if `owned`.
  SmallVector<uint64_t> getAccesses(bool owned) const;
  /// The registers of the access that begins at `reg`.
  SmallVector<int64_t> getRun(uint64_t reg) const;

  const LinearLayout &getLayout() const { return layout; }
  /// The type of the words of `accesses` accesses.
  VectorType getWords(ThreadBuilder &t, int64_t accesses) const {
    int64_t bytes = accesses * (elementBytes << vectorBits.size());
    return VectorType::get({bytes / 4}, t.b.getI32Type());
  }

private:
  BufferView view;
  Value offset;
  RankedTensorType tile;
  LinearLayout layout;
  int64_t elementBytes;
  SmallVector<unsigned> vectorBits;
};

} // namespace

Value PacketAccess::isInside(ThreadBuilder &t) const {
  // In elements of the buffer: a word and a flag per 4 bytes of data.
  int64_t extent = tile.getNumElements() * elementBytes / 2;
  auto compare = [&](arith::CmpIPredicate predicate, Value bound) -> Value {
    return t.b.createOrFold<arith::CmpIOp>(t.loc, predicate, offset, bound);
  };
  // Sizes are not negative, so the difference cannot wrap.
  Value last = t.add(view.getSize(0), t.index(-extent));
  return emitAnd(t, compare(arith::CmpIPredicate::sge, t.index(0)),
                 compare(arith::CmpIPredicate::sle, last));
}

Value PacketAccess::getDistance(ThreadBuilder &t, uint64_t reg) const {
  uint64_t threadBits = 0;
  for (LayoutDim input : {LayoutDim::Lane, LayoutDim::Warp})
    for (uint64_t basis : layout.getBases(input))
      threadBits |= basis;
  uint64_t element = layout.apply({reg, 0, 0});
  int64_t bytes = 2 * elementBytes;
  Value thread = t.getThreadIndex(layout);
  // An added constant becomes the instruction's immediate offset.
  if (!(element & threadBits))
    return t.add(t.mul(thread, bytes), t.i32(element * bytes));
  Value index = t.b.createOrFold<arith::XOrIOp>(t.loc, thread, t.i32(element));
  return t.mul(index, bytes);
}

SmallVector<uint64_t> PacketAccess::getAccesses(bool owned) const {
  uint64_t skip = owned ? layout.getFreeBits().reg : 0;
  for (unsigned bit : vectorBits)
    skip |= uint64_t(1) << bit;
  SmallVector<uint64_t> result;
  for (uint64_t reg = 0; reg < layout.getNumRegisters(); ++reg)
    if (!(reg & skip))
      result.push_back(reg);
  return result;
}

SmallVector<int64_t> PacketAccess::getRun(uint64_t reg) const {
  SmallVector<int64_t> result;
  for (uint64_t i = 0; i < uint64_t(1) << vectorBits.size(); ++i) {
    uint64_t bits = reg;
    for (auto [k, bit] : llvm::enumerate(vectorBits))
      bits |= ((i >> k) & 1) << bit;
    result.push_back(bits);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct PacketStorePattern : ThreadPattern<PacketStoreOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(PacketStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getRank())
      return rewriter.notifyMatchFailure(op, "names a rank");
    ThreadBuilder t = getBuilder(rewriter, op);
    PacketAccess access(t, adaptor.getBuffer(), op.getOffset(),
                        op.getValue().getType());
    SmallVector<uint64_t> accesses = access.getAccesses(/*owned=*/true);
    SmallVector<int64_t> order;
    for (uint64_t reg : accesses)
      llvm::append_range(order, access.getRun(reg));

    Value owner = t.getOwnerPredicate(access.getLayout());
    emitGuarded(t, access.isInside(t), [&](ThreadBuilder &t) {
      Value base = access.getBase(t);
      emitGuarded(t, owner, [&](ThreadBuilder &t) {
        Value elements = vector::ShuffleOp::create(
            t.b, t.loc, adaptor.getValue(), adaptor.getValue(), order);
        Value words = t.b.createOrFold<vector::BitCastOp>(
            t.loc, access.getWords(t, accesses.size()), elements);
        SmallVector<Value> distances;
        for (uint64_t reg : accesses)
          distances.push_back(access.getDistance(t, reg));
        WritePacketsOp::create(t.b, t.loc, words, op.getFlag(), base,
                               distances);
      });
    });
    rewriter.eraseOp(op);
    return success();
  }
};

struct PacketLoadPattern : ThreadPattern<PacketLoadOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(PacketLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = getBuilder(rewriter, op);
    RankedTensorType type = op.getType();
    PacketAccess access(t, adaptor.getBuffer(), op.getOffset(), type);
    VectorType registers = getThreadType(type);
    Value zero = arith::ConstantOp::create(rewriter, t.loc,
                                           rewriter.getZeroAttr(registers));
    // Threads with duplicates wait for them too: this needs no other access.
    rewriter.replaceOp(
        op,
        emitGuardedValue(t, access.isInside(t), zero, [&](ThreadBuilder &t) {
          return emitLoads(t, op, access, registers);
        }));
    return success();
  }

private:
  static Value emitLoads(ThreadBuilder &t, PacketLoadOp op,
                         const PacketAccess &access, VectorType registers) {
    Value base = access.getBase(t);
    SmallVector<uint64_t> accesses = access.getAccesses(/*owned=*/false);
    SmallVector<Value> elements(registers.getNumElements());
    ArrayRef<uint64_t> rest(accesses);
    while (!rest.empty()) {
      ArrayRef<uint64_t> now =
          rest.take_front(std::min(rest.size(), kMaxAccessesPerWait));
      rest = rest.drop_front(now.size());
      SmallVector<Value> distances;
      SmallVector<int64_t> order;
      for (uint64_t reg : now) {
        distances.push_back(access.getDistance(t, reg));
        llvm::append_range(order, access.getRun(reg));
      }
      Value words = ReadPacketsOp::create(
          t.b, t.loc, access.getWords(t, now.size()), op.getCtx(), base,
          distances, op.getFlag(), op.getOwedBy(), op.getMemberBytes());
      auto part = VectorType::get({static_cast<int64_t>(order.size())},
                                  registers.getElementType());
      Value data = t.b.createOrFold<vector::BitCastOp>(t.loc, part, words);
      for (auto [i, reg] : llvm::enumerate(order))
        elements[reg] = t.extract(data, i);
    }
    return t.pack(elements);
  }
};

} // namespace

void mlir::iris::populatePacketPatterns(const TypeConverter &converter,
                                        const ConversionFacts &facts,
                                        RewritePatternSet &patterns) {
  patterns.add<PacketStorePattern, PacketLoadPattern>(
      converter, patterns.getContext(), facts);
}
