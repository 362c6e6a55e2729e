// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matmul.cpp - The matmul loop on operand tiles ----------------------===//
//
// For every k-block the region runs, the block's elements of a and b are copied
// to operand tiles in the arena, and the matmul of the operand tiles is added
// to the accumulator. The copy widens elements to the accumulator type and pads
// with zeros outside the buffers.
//
//   operand tile of a    M x block, in the memory order of the buffer: the
//                        matmul reads single elements
//   operand tile of b    groups of kMicroColumns columns, one after the other;
//                        row-major within a group: the matmul reads one row of
//                        a group at a time
//
// The matmul uses micro-tiles of kMicroRows x kMicroColumns whose sums stay in
// registers for the whole block. On AVX2 these are 8 registers of 8 floats,
// enough to keep two units with a latency of 4 cycles busy.
//
//===----------------------------------------------------------------------===//

#include "TileLowering.h"
#include "Window.h"

#include "iris/Dialect/Iris/Utils/Float8.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::iris;

static constexpr int64_t kMicroRows = 4;
static constexpr int64_t kMicroColumns = 16;
/// Number of elements copied to an operand tile at once.
static constexpr int64_t kCopyElements = 16;

/// x * factor + y.
static Value scaledSum(ImplicitLocOpBuilder &b, Value x, int64_t factor,
                       Value y) {
  return arith::AddIOp::create(
      b, arith::MulIOp::create(b, x, constantIndex(b, factor)), y);
}

/// A loop from 0 to `count`; afterwards the builder is after the loop.
static void forSteps(ImplicitLocOpBuilder &b, int64_t count, int64_t step,
                     function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(
      b, constantIndex(b, 0), constantIndex(b, count), constantIndex(b, step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

//===----------------------------------------------------------------------===//
// Operand tiles
//===----------------------------------------------------------------------===//

namespace {
/// A copy of a k-block of one operand.
class OperandTile {
public:
  /// For a window of `extents` elements, with k in dimension `kDim`; the
  /// elements have type `element` and are stored in buffers of `type`.
  OperandTile(MemRefType type, Type element, ArrayRef<int64_t> extents,
              int64_t kDim)
      : element(element), extents(extents), kDim(kDim) {
    SmallVector<int64_t> strides;
    int64_t offset;
    // The op's verifier rejects layouts without strides.
    (void)type.getStridesAndOffset(strides, offset);
    contiguous = strides[1] == 1   ? 1
                 : strides[0] == 1 ? 0
                                   : std::optional<int64_t>();
    loadsBits = element.isBF16();
  }

  /// The innermost dimension of the operand tile.
  int64_t innerDim() const { return kDim == 0 ? 1 : contiguous.value_or(1); }
  /// Number of contiguous elements along it.
  int64_t innerExtent() const {
    return kDim == 0 ? std::min(extents[1], kMicroColumns)
                     : extents[innerDim()];
  }
  /// The offset of the element at `coordinates`.
  Value getOffset(ImplicitLocOpBuilder &b, ArrayRef<Value> coordinates) const {
    if (kDim == 1)
      return scaledSum(b, coordinates[1 - innerDim()], innerExtent(),
                       coordinates[innerDim()]);
    Value width = constantIndex(b, innerExtent());
    Value group = arith::DivUIOp::create(b, coordinates[1], width);
    Value column = arith::RemUIOp::create(b, coordinates[1], width);
    Value row = scaledSum(b, group, extents[0], coordinates[0]);
    return scaledSum(b, row, innerExtent(), column);
  }

  /// True if the buffer has a dimension of stride 1.
  bool hasUnitStride() const { return contiguous.has_value(); }

  /// Copies the part of the window inside the buffer; along k, only the first
  /// `kLength` values. The rest is set to zero.
  void copyFrom(ImplicitLocOpBuilder &b, const Window &window, Value kLength);

  Value buffer;

private:
  void copyWhole(ImplicitLocOpBuilder &b, const Window &window);
  void copyPart(ImplicitLocOpBuilder &b, const Window &window, Value kLength);
  /// Loads an element, or a vector of `count` if it is not 0, and widens it.
  Value loadWide(ImplicitLocOpBuilder &b, Value address, int64_t count) const;
  Type wideType() const {
    return cast<MemRefType>(buffer.getType()).getElementType();
  }

  Type element;
  SmallVector<int64_t> extents;
  int64_t kDim;
  /// The dimension of stride 1 in the buffer, if known.
  std::optional<int64_t> contiguous;
  /// x86 has no bf16 vectors, so their bits are loaded.
  bool loadsBits;
};
} // namespace

Value OperandTile::loadWide(ImplicitLocOpBuilder &b, Value address,
                            int64_t count) const {
  Type wide = wideType();
  auto shaped = [&](Type type) -> Type {
    return count ? VectorType::get({count}, type) : type;
  };
  Type loaded = loadsBits ? b.getI16Type()
                : element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 8
                    ? b.getI8Type()
                    : element;
  Value value = LLVM::LoadOp::create(
      b, shaped(loaded), address,
      /*alignment=*/llvm::divideCeil(loaded.getIntOrFloatBitWidth(), 8));
  if (loadsBits) {
    // A bf16 is the upper half of an f32.
    Type i32 = shaped(b.getI32Type());
    Value bits = arith::ExtUIOp::create(b, i32, value);
    TypedAttr sixteen = b.getI32IntegerAttr(16);
    if (count)
      sixteen = DenseElementsAttr::get(cast<ShapedType>(i32), sixteen);
    bits =
        arith::ShLIOp::create(b, bits, arith::ConstantOp::create(b, sixteen));
    return arith::BitcastOp::create(b, shaped(wide), bits);
  }
  if (element.isInteger())
    return arith::ExtSIOp::create(b, shaped(wide), value);
  if (element.getIntOrFloatBitWidth() == 8)
    return emitFromFloat8(b, cast<FloatType>(element), value);
  if (element == wide)
    return value;
  return arith::ExtFOp::create(b, shaped(wide), value);
}

/// Copies the whole window, with constant bounds, and with vectors if the
/// buffer and the operand tile have the same innermost dimension.
void OperandTile::copyWhole(ImplicitLocOpBuilder &b, const Window &window) {
  int64_t inner = innerDim(), outer = 1 - inner;
  bool byVectors = contiguous == inner;
  int64_t step = byVectors ? std::min(innerExtent(), kCopyElements) : 1;
  forSteps(b, extents[outer], 1, [&](Value far) {
    forSteps(b, extents[inner], step, [&](Value near) {
      SmallVector<Value> coordinates = {near, near};
      coordinates[outer] = far;
      Value value =
          loadWide(b, window.address(b, coordinates), byVectors ? step : 0);
      Value to = getOffset(b, coordinates);
      if (byVectors)
        vector::StoreOp::create(b, value, buffer, to);
      else
        memref::StoreOp::create(b, value, buffer, to);
    });
  });
}

/// Copies the part inside the buffer, element by element; zeros elsewhere.
void OperandTile::copyPart(ImplicitLocOpBuilder &b, const Window &window,
                           Value kLength) {
  Value zero =
      arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(wideType())));
  forSteps(b, extents[0] * extents[1], 1,
           [&](Value i) { memref::StoreOp::create(b, zero, buffer, i); });
  SmallVector<Bound> bounds = window.insideBounds(b);
  bounds[kDim].high = arith::MinSIOp::create(b, bounds[kDim].high, kLength);
  Value one = constantIndex(b, 1);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> coordinates(2);
  for (int64_t dim : {1 - innerDim(), innerDim()}) {
    auto loop = scf::ForOp::create(b, bounds[dim].low, bounds[dim].high, one);
    coordinates[dim] = loop.getInductionVar();
    b.setInsertionPointToStart(loop.getBody());
  }
  Value value = loadWide(b, window.address(b, coordinates), /*count=*/0);
  memref::StoreOp::create(b, value, buffer, getOffset(b, coordinates));
}

void OperandTile::copyFrom(ImplicitLocOpBuilder &b, const Window &window,
                           Value kLength) {
  Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, kLength,
                                        constantIndex(b, extents[kDim]));
  isWhole = arith::AndIOp::create(b, isWhole, window.isInside(b));
  auto branch = scf::IfOp::create(b, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  copyWhole(b, window);
  b.setInsertionPointToStart(branch.elseBlock());
  copyPart(b, window, kLength);
}

//===----------------------------------------------------------------------===//
// The matmul
//===----------------------------------------------------------------------===//

static Value multiplyAdd(ImplicitLocOpBuilder &b, Value x, Value y, Value sum) {
  if (isa<FloatType>(getElementTypeOrSelf(sum)))
    return math::FmaOp::create(b, x, y, sum);
  return arith::AddIOp::create(b, arith::MulIOp::create(b, x, y), sum);
}

/// Adds the matmul of the operand tiles' first `kLength` values of k to `sums`,
/// a buffer of `shape`.
static void multiplyOperandTiles(ImplicitLocOpBuilder &b, const OperandTile &a,
                                 const OperandTile &c, Value sums,
                                 ArrayRef<int64_t> shape, Value kLength) {
  int64_t rows = std::min(shape[0], kMicroRows);
  int64_t columns = std::min(shape[1], kMicroColumns);
  Type element = cast<MemRefType>(sums.getType()).getElementType();
  auto vectorType = VectorType::get({columns}, element);
  forSteps(b, shape[1], columns, [&](Value column) {
    forSteps(b, shape[0], rows, [&](Value row) {
      SmallVector<Value> offsets, initial, rowNumbers;
      for (int64_t r = 0; r < rows; ++r) {
        rowNumbers.push_back(
            arith::AddIOp::create(b, row, constantIndex(b, r)));
        offsets.push_back(scaledSum(b, rowNumbers.back(), shape[1], column));
        initial.push_back(
            vector::LoadOp::create(b, vectorType, sums, offsets.back()));
      }
      auto loop = scf::ForOp::create(
          b, constantIndex(b, 0), kLength, constantIndex(b, 1), initial,
          [](OpBuilder &, Location, Value, ValueRange) {});
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Value k = loop.getInductionVar();
        Value right = vector::LoadOp::create(b, vectorType, c.buffer,
                                             c.getOffset(b, {k, column}));
        SmallVector<Value> next;
        for (int64_t r = 0; r < rows; ++r) {
          Value left = memref::LoadOp::create(
              b, a.buffer, a.getOffset(b, {rowNumbers[r], k}));
          left = vector::BroadcastOp::create(b, vectorType, left);
          next.push_back(multiplyAdd(b, left, right, loop.getRegionIterArg(r)));
        }
        scf::YieldOp::create(b, next);
      }
      for (auto [offset, sum] : llvm::zip_equal(offsets, loop.getResults()))
        vector::StoreOp::create(b, sum, sums, offset);
    });
  });
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

namespace {
/// The location of a k-block.
struct BlockStart {
  Value buffer;
  SmallVector<Value> offsets;
};
} // namespace

/// Moves the region's ops to the insertion point and updates the locations that
/// they yield.
static void runRegion(ImplicitLocOpBuilder &b, tile::MatmulOp op, Value block,
                      BlockStart &a, BlockStart &c) {
  if (op.getBody().empty())
    return;
  Block &region = op.getBody().front();
  region.getArgument(0).replaceAllUsesWith(block);
  for (Operation &inner :
       llvm::make_early_inc_range(region.without_terminator()))
    inner.moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  tile::YieldOp yield = op.getYield();
  if (yield.getA())
    a = {yield.getA(), yield.getAOffsets()};
  if (yield.getB())
    c = {yield.getB(), yield.getBOffsets()};
}

/// Emits the same remark as the GPU lowering, which is a separate pass.
static void remarkMiss(tile::MatmulOp op, StringRef name,
                       const OperandTile &operandTile) {
  using namespace mlir::remark;
  if (operandTile.hasUnitStride())
    return;
  missed(op.getLoc(), RemarkOpts::name("matmul").category("tile-lower-matmul"))
      << reason("{0} has no dimension of stride 1; expected one: it is copied "
                "element by element",
                name);
}

void TileLowering::lowerMatmul(tile::MatmulOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RankedTensorType type = op.getResult().getType();
  ArrayRef<int64_t> shape = type.getShape();
  int64_t block = op.getBlock();
  Value sums = allocate(b, op.getResult());
  if (op.getInit()) {
    fill(b, op.getInit(), sums);
  } else {
    Value zero = arith::ConstantOp::create(
        b, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
    forAll(b, shape, /*flat=*/true,
           [&](ImplicitLocOpBuilder &b, const Point &point) {
             write(b, sums, point.linear, zero);
           });
  }

  SmallVector<int64_t> aExtents = {shape[0], block};
  SmallVector<int64_t> bExtents = {block, shape[1]};
  OperandTile aTile(op.getA().getType(), op.getAElementType(), aExtents, 1);
  OperandTile bTile(op.getB().getType(), op.getBElementType(), bExtents, 0);
  remarkMiss(op, "a", aTile);
  remarkMiss(op, "b", bTile);
  aTile.buffer = allocate(b, aExtents, type.getElementType());
  bTile.buffer = allocate(b, bExtents, type.getElementType());

  auto loop = scf::ForOp::create(b, constantIndex(b, 0), op.getK(),
                                 constantIndex(b, block));
  b.setInsertionPointToStart(loop.getBody());
  Value start = loop.getInductionVar();
  BlockStart aStart{op.getA(), op.getAOffsets()},
      bStart{op.getB(), op.getBOffsets()};
  aStart.offsets[1] = arith::AddIOp::create(b, aStart.offsets[1], start);
  bStart.offsets[0] = arith::AddIOp::create(b, bStart.offsets[0], start);
  runRegion(b, op, arith::DivUIOp::create(b, start, constantIndex(b, block)),
            aStart, bStart);
  Value length = arith::MinSIOp::create(
      b, arith::SubIOp::create(b, op.getK(), start), constantIndex(b, block));
  for (auto [operandTile, blockStart, extents] :
       {std::tuple(&aTile, &aStart, &aExtents),
        std::tuple(&bTile, &bStart, &bExtents)}) {
    Window window(b, cast<TypedValue<MemRefType>>(blockStart->buffer),
                  blockStart->offsets, *extents);
    operandTile->copyFrom(b, window, length);
  }
  multiplyOperandTiles(b, aTile, bTile, sums, shape, length);
  buffers[op.getResult()] = sums;
}
