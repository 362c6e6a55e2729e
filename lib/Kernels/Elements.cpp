// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Elements.cpp - Arithmetic of reductions ----------------------------===//

#include "iris/Kernels/Elements.h"

#include "iris/Dialect/Iris/Utils/Float8.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::iris;

static bool isFloat8(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
}

Value mlir::iris::widen(KernelBuilder &k, Value tile) {
  Type element = k.config.element;
  if (isFloat8(element))
    return emitFromFloat8(k.b, cast<FloatType>(element), tile);
  if (element.isF16() || element.isBF16())
    return arith::ExtFOp::create(
        k.b, cast<RankedTensorType>(tile.getType()).clone(k.b.getF32Type()),
        tile);
  return tile;
}

Value mlir::iris::narrow(KernelBuilder &k, Value tile) {
  Type element = k.config.element;
  // The smallest or largest input needs no rounding and is never too large.
  bool isInput = k.config.reduction == Reduction::Min ||
                 k.config.reduction == Reduction::Max;
  if (isFloat8(element))
    return emitToFloat8(k.b, cast<FloatType>(element), tile,
                        /*keepsInfinity=*/isInput);
  if (element.isF16() || element.isBF16())
    return arith::TruncFOp::create(k.b, k.config.tileType(), tile);
  return tile;
}

Value mlir::iris::combine(KernelBuilder &k, Value a, Value c) {
  auto &b = k.b;
  bool isFloat = isa<FloatType>(k.config.element);
  bool isUnsigned = k.config.element.isUnsignedInteger();
  switch (*k.config.reduction) {
  case Reduction::Sum:
  case Reduction::Avg:
    return isFloat ? arith::AddFOp::create(b, a, c).getResult()
                   : arith::AddIOp::create(b, a, c).getResult();
  case Reduction::Prod:
    return isFloat ? arith::MulFOp::create(b, a, c).getResult()
                   : arith::MulIOp::create(b, a, c).getResult();
  case Reduction::Min:
    return isFloat      ? arith::MinimumFOp::create(b, a, c).getResult()
           : isUnsigned ? arith::MinUIOp::create(b, a, c).getResult()
                        : arith::MinSIOp::create(b, a, c).getResult();
  case Reduction::Max:
    return isFloat      ? arith::MaximumFOp::create(b, a, c).getResult()
           : isUnsigned ? arith::MaxUIOp::create(b, a, c).getResult()
                        : arith::MaxSIOp::create(b, a, c).getResult();
  }
  llvm_unreachable("all reductions are listed");
}

Value mlir::iris::conclude(KernelBuilder &k, Value tile) {
  if (*k.config.reduction != Reduction::Avg)
    return tile;
  auto &b = k.b;
  auto type = cast<RankedTensorType>(tile.getType());
  Type element = type.getElementType();
  // The size is at most 16: every type of sums can represent it.
  Value size = arith::IndexCastOp::create(b, b.getI32Type(), k.size);
  if (auto floating = dyn_cast<FloatType>(element)) {
    Value divisor = arith::SIToFPOp::create(b, floating, size);
    return arith::DivFOp::create(b, tile,
                                 tensor::SplatOp::create(b, divisor, type));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  Value divisor = size;
  if (width < 32)
    divisor = arith::TruncIOp::create(b, element, size);
  else if (width > 32)
    divisor = arith::ExtUIOp::create(b, element, size);
  Value divisors = tensor::SplatOp::create(b, divisor, type);
  return k.config.element.isUnsignedInteger()
             ? arith::DivUIOp::create(b, tile, divisors).getResult()
             : arith::DivSIOp::create(b, tile, divisors).getResult();
}

Value mlir::iris::reduceWith(KernelBuilder &k, Value tile,
                             llvm::function_ref<Value(Value)> load) {
  // All loads come first, so that their latencies overlap. The last one is used
  // first: once it has arrived, so have the others, and only one wait is
  // generated.
  auto combineAll = [&](Value sum, SmallVector<Value> tiles) {
    while (!tiles.empty())
      sum = combine(k, sum, widen(k, tiles.pop_back_val()));
    return sum;
  };
  auto addBatch = [&](Value sum, Value first, int64_t members) {
    SmallVector<Value> tiles;
    for (int64_t member = 0; member < members; ++member)
      tiles.push_back(load(k.add(first, k.index(member))));
    return combineAll(sum, tiles);
  };
  if (k.unrollsMembers()) {
    // This rank's tile is the first one that was loaded.
    SmallVector<Value> tiles = {tile};
    k.forMembers(1, [&](Value i) { tiles.push_back(load(i)); });
    Value sum = widen(k, tiles.pop_back_val());
    return narrow(k, conclude(k, combineAll(sum, tiles)));
  }
  const int64_t size = k.config.size;
  const int64_t batch = size ? KernelBuilder::batchOfLargeGroup : 1;
  const int64_t rest = size ? (size - 1) % batch : 0;
  auto &b = k.b;
  auto loop = scf::ForOp::create(
      b, k.index(1), size ? k.index(size - rest) : k.size, k.index(batch),
      widen(k, tile), [](OpBuilder &, Location, Value, ValueRange) {});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(
        b, addBatch(loop.getRegionIterArg(0), loop.getInductionVar(), batch));
  }
  Value sum = addBatch(loop.getResult(0), k.index(size - rest), rest);
  return narrow(k, conclude(k, sum));
}

Value mlir::iris::reduceMembers(KernelBuilder &k,
                                llvm::function_ref<Value(Value)> load) {
  Value first = k.rem(k.program, k.size);
  return reduceWith(k, load(first),
                    [&](Value i) { return load(k.rotate(first, i)); });
}

void mlir::iris::storeReduced(KernelBuilder &k, Value from, Value to,
                              Value length) {
  k.forTiles(length, [&](Value, Value offset) {
    Value sum =
        reduceMembers(k, [&](Value m) { return k.loadFrom(m, from, offset); });
    k.store(sum, to, offset);
  });
}

KernelBuilder::TileBody mlir::iris::storeReducedSlots(KernelBuilder &k,
                                                      Value to, Value length) {
  return [=, &k](Value, Value offset) {
    Value sum = reduceMembers(
        k, [&](Value m) { return k.load(k.receivedSlot(m, length), offset); });
    k.store(sum, to, offset);
  };
}

static tile::ReduceKind getKind(KernelBuilder &k) {
  bool isUnsigned = k.config.element.isUnsignedInteger();
  switch (*k.config.reduction) {
  case Reduction::Sum:
  case Reduction::Avg:
    return tile::ReduceKind::sum;
  case Reduction::Prod:
    return tile::ReduceKind::prod;
  case Reduction::Min:
    return isUnsigned ? tile::ReduceKind::umin : tile::ReduceKind::min;
  case Reduction::Max:
    return isUnsigned ? tile::ReduceKind::umax : tile::ReduceKind::max;
  }
  llvm_unreachable("all reductions are listed");
}

Value mlir::iris::reducePackets(KernelBuilder &k, Value slot) {
  if (!k.receivesAll())
    return reduceMembers(
        k, [&](Value m) { return k.receivePacket(m, k.add(slot, m)); });
  Value rows = widen(k, k.receivePackets(slot));
  auto type = k.config.tileType().clone(
      cast<RankedTensorType>(rows.getType()).getElementType());
  Value sum = tile::ReduceOp::create(k.b, type, getKind(k), rows, /*dim=*/0);
  return narrow(k, conclude(k, sum));
}

Value mlir::iris::zeroTile(KernelBuilder &k) {
  return arith::ConstantOp::create(k.b, k.b.getZeroAttr(k.config.tileType()));
}
