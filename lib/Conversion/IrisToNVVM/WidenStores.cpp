// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WidenStores.cpp - Wide stores of accumulators ----------------------===//

#include "WidenStores.h"

#include "Warp.h"
#include "iris/Analysis/TileLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tile-lower-matmul"

using namespace mlir;
using namespace mlir::iris;

static constexpr int64_t kWideBytes = 16;
static constexpr int64_t kWordBytes = 4;

namespace {
/// Exchanges the meanings of a lane bit and a register bit in a layout.
struct Swap {
  unsigned laneBit, registerBit;
};

/// The exchanges that result in a layout with wide rows.
struct WidePlan {
  SmallVector<Swap> swaps;
  tile::LinearAttr layout;
};
} // namespace

/// The column of a basis of a two-dimensional layout; 0 if it is a row.
static int64_t getColumn(Attribute basis) {
  auto row = cast<ArrayAttr>(basis);
  if (row.size() != 2 || cast<IntegerAttr>(row[0]).getInt() != 0)
    return 0;
  return cast<IntegerAttr>(row[1]).getInt();
}

static unsigned findColumn(ArrayRef<Attribute> bases, int64_t column) {
  return llvm::find_if(
             bases,
             [&](Attribute basis) { return getColumn(basis) == column; }) -
         bases.begin();
}

/// The layout of `type` with the number of registers that a thread has: an
/// attribute applies to tiles of any shape, and has more registers than needed
/// for a tile that a reduction has narrowed. Null if there is none.
static tile::LinearAttr getFittedLayout(RankedTensorType type) {
  auto attr = dyn_cast_or_null<tile::LinearAttr>(type.getEncoding());
  std::optional<LinearLayout> layout = getLinearLayout(type);
  if (!attr || !layout)
    return {};
  Builder builder(type.getContext());
  auto toAttr = [&](LayoutDim input) {
    return builder.getArrayAttr(llvm::map_to_vector(
        layout->getBases(input), [&](uint64_t basis) -> Attribute {
          return builder.getI64ArrayAttr(layout->getCoordinates(basis));
        }));
  };
  return tile::LinearAttr::get(type.getContext(), toAttr(LayoutDim::Register),
                               toAttr(LayoutDim::Lane),
                               toAttr(LayoutDim::Warp));
}

/// Plans the exchange; no swaps if stores would not become wider.
static WidePlan planWide(tile::LinearAttr layout, int64_t elementBytes) {
  WidePlan plan;
  SmallVector<Attribute> registers(layout.getRegisterBases().getValue());
  SmallVector<Attribute> lanes(layout.getLaneBases().getValue());
  // Words are moved as a whole: their elements must be contiguous.
  int64_t wordElements = kWordBytes / elementBytes;
  for (int64_t column = 1, bit = 0; column < wordElements; column *= 2, ++bit)
    if (bit >= static_cast<int64_t>(registers.size()) ||
        getColumn(registers[bit]) != column)
      return plan;
  for (int64_t column = wordElements; column < kWideBytes / elementBytes;
       column *= 2) {
    if (findColumn(registers, column) < registers.size())
      continue;
    unsigned laneBit = findColumn(lanes, column);
    if (laneBit == lanes.size())
      return {};
    // Lanes get the next columns instead, so that rows stay long.
    std::optional<unsigned> best;
    for (auto [bit, basis] : llvm::enumerate(registers))
      if (getColumn(basis) >= kWideBytes / elementBytes &&
          (!best || getColumn(basis) < getColumn(registers[*best])))
        best = bit;
    if (!best)
      return {};
    std::swap(lanes[laneBit], registers[*best]);
    plan.swaps.push_back({laneBit, *best});
  }
  Builder builder(layout.getContext());
  plan.layout = tile::LinearAttr::get(
      layout.getContext(), builder.getArrayAttr(registers),
      builder.getArrayAttr(lanes), layout.getWarpBases());
  return plan;
}

/// Lanes whose bit is 0 send the register with bit 1 and replace it by the
/// partner's value; the other lanes do so with the register with bit 0.
static void emitSwap(ImplicitLocOpBuilder &b, SmallVectorImpl<Value> &words,
                     unsigned wordBit, unsigned laneBit, Value lane) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  int64_t partner = int64_t(1) << laneBit;
  Value bit = arith::AndIOp::create(b, lane, constant(partner));
  Value isUpper =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, constant(0));
  for (size_t low = 0; low < words.size(); ++low) {
    if (low >> wordBit & 1)
      continue;
    Value &x = words[low], &y = words[low | size_t(1) << wordBit];
    Value sent = arith::SelectOp::create(b, isUpper, x, y);
    Value got =
        gpu::ShuffleOp::create(b, sent, constant(partner), constant(kWarpSize),
                               gpu::ShuffleMode::XOR)
            .getShuffleResult();
    Value newX = arith::SelectOp::create(b, isUpper, got, x);
    y = arith::SelectOp::create(b, isUpper, y, got);
    x = newX;
  }
}

static void widen(tile::StoreOp store, Value lane) {
  RankedTensorType type = store.getValue().getType();
  tile::LinearAttr layout = getFittedLayout(type);
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  SmallVector<int64_t> strides;
  int64_t offset;
  MemRefType buffer = store.getDestination().getType();
  if (!layout || type.getRank() != 2 || (bits != 16 && bits != 32) ||
      failed(buffer.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return;
  WidePlan plan = planWide(layout, bits / 8);
  LDBG() << store << ": " << plan.swaps.size()
         << " exchanges between lanes for stores of " << kWideBytes << " bytes";
  if (plan.swaps.empty())
    return;

  ImplicitLocOpBuilder b(store.getLoc(), store);
  int64_t count = int64_t(1) << layout.getRegisterBases().size();
  auto registers = VectorType::get({count}, type.getElementType());
  auto words =
      VectorType::get({count * bits / (8 * kWordBytes)}, b.getI32Type());
  auto cast = [&](Type to, Value value) {
    return UnrealizedConversionCastOp::create(b, to, value).getResult(0);
  };
  Value packed =
      vector::BitCastOp::create(b, words, cast(registers, store.getValue()));
  SmallVector<Value> values;
  for (int64_t i = 0; i < words.getNumElements(); ++i)
    values.push_back(vector::ExtractOp::create(b, packed, i));
  unsigned wordBits = llvm::Log2_64(8 * kWordBytes / bits);
  for (Swap swap : plan.swaps)
    emitSwap(b, values, swap.registerBit - wordBits, swap.laneBit, lane);
  Value exchanged = vector::BitCastOp::create(
      b, registers, vector::FromElementsOp::create(b, words, values));
  store.getValueMutable().assign(
      cast(RankedTensorType::get(type.getShape(), type.getElementType(),
                                 plan.layout),
           exchanged));
}

void mlir::iris::widenStores(Operation *root, Value lane) {
  SmallVector<tile::StoreOp> stores;
  root->walk([&](tile::StoreOp store) { stores.push_back(store); });
  for (tile::StoreOp store : stores)
    widen(store, lane);
}
