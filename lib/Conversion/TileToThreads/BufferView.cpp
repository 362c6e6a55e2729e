// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Conversion/BufferView.h"

#include "iris/Analysis/Divisibility.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

BufferView::BufferView(Value buffer, ThreadBuilder &t)
    : type(cast<MemRefType>(buffer.getType())) {
  // Everything but the pointer is taken from this rank's buffer, so that it is
  // one value for all ranks and can be hoisted out of loops over them.
  Value own = getOwnBuffer(buffer);
  auto metadata = memref::ExtractStridedMetadataOp::create(t.b, t.loc, own);
  SmallVector<int64_t> staticStrides;
  int64_t staticOffset;
  LogicalResult strided = type.getStridesAndOffset(staticStrides, staticOffset);
  assert(succeeded(strided) && "buffer without strides");
  (void)strided;

  auto orConstant = [&](int64_t known, Value dynamic) {
    return ShapedType::isDynamic(known) ? dynamic : t.index(known);
  };
  offset = orConstant(staticOffset, metadata.getOffset());
  for (auto [known, dynamic] :
       llvm::zip_equal(staticStrides, metadata.getStrides()))
    strides.push_back(orConstant(known, dynamic));
  for (auto [known, dynamic] :
       llvm::zip_equal(type.getShape(), metadata.getSizes()))
    sizes.push_back(orConstant(known, dynamic));

  ownAddress = memref::ExtractAlignedPointerAsIndexOp::create(t.b, t.loc, own);
  Value address =
      own == buffer
          ? ownAddress
          : memref::ExtractAlignedPointerAsIndexOp::create(t.b, t.loc, buffer)
                .getResult();
  base = LLVM::IntToPtrOp::create(
      t.b, t.loc,
      LLVM::LLVMPointerType::get(t.b.getContext(), getAddressSpace(type)),
      t.toI64(address));
}

Value BufferView::getPointer(ThreadBuilder &t, Value elements) const {
  int64_t bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  Value distance = t.toI64(t.mul(t.add(offset, elements), bytes));
  return LLVM::GEPOp::create(t.b, t.loc, base.getType(), t.b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{distance});
}

Value BufferView::getElementPointer(ThreadBuilder &t,
                                    ValueRange coordinates) const {
  Value elements = t.index(0);
  for (auto [coordinate, stride] : llvm::zip_equal(coordinates, strides))
    elements = t.add(elements, t.mul(coordinate, stride));
  return getPointer(t, elements);
}

Value BufferView::isInside(ThreadBuilder &t, ValueRange coordinates) const {
  Value inside;
  for (auto [coordinate, size] : llvm::zip_equal(coordinates, sizes)) {
    // Unsigned: negative coordinates are out of range too.
    Value test = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ult,
                                       coordinate, size);
    inside = emitAnd(t, inside, test);
  }
  return inside;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The contribution of the bits of an iteration number to the coordinate along
/// `dim`, with `count` registers per iteration.
static SmallVector<uint64_t> getIterationBases(const LinearLayout &layout,
                                               uint64_t count, unsigned dim) {
  ArrayRef<uint64_t> bases = layout.getBases(LayoutDim::Register);
  return llvm::map_to_vector(
      bases.drop_front(llvm::Log2_64(count)), [&](uint64_t basis) {
        return (basis & layout.getDimMask(dim)) >> layout.getDimShift(dim);
      });
}

Value mlir::iris::getFirstCoordinate(ThreadBuilder &t,
                                     const LinearLayout &layout, unsigned dim,
                                     Value iteration, uint64_t count) {
  Value first = t.getThreadCoordinate(layout, dim);
  if (!iteration)
    return first;
  SmallVector<uint64_t> bases = getIterationBases(layout, count, dim);
  return t.b.createOrFold<arith::XOrIOp>(t.loc, first,
                                         t.applyBases({{iteration, bases}}));
}

SmallVector<SmallVector<Value>>
mlir::iris::getWindowCoordinates(ThreadBuilder &t, const LinearLayout &layout,
                                 ValueRange offsets, Value iteration,
                                 uint64_t count) {
  SmallVector<Value> starts;
  for (unsigned dim = 0; dim < offsets.size(); ++dim)
    starts.push_back(getFirstCoordinate(t, layout, dim, iteration, count));
  SmallVector<SmallVector<Value>> result;
  for (uint64_t reg = 0; reg < (iteration ? count : layout.getNumRegisters());
       ++reg) {
    SmallVector<int64_t> constants =
        layout.getCoordinates(layout.apply({reg, 0, 0}));
    SmallVector<Value> coordinates;
    for (auto [dim, offset] : llvm::enumerate(offsets)) {
      Value coordinate = t.b.createOrFold<arith::XOrIOp>(t.loc, starts[dim],
                                                         t.i32(constants[dim]));
      coordinate = t.b.createOrFold<arith::IndexCastUIOp>(
          t.loc, t.b.getIndexType(), coordinate);
      coordinates.push_back(t.add(offset, coordinate));
    }
    result.push_back(std::move(coordinates));
  }
  return result;
}

void mlir::iris::disableUnrolling(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, /*disable=*/BoolAttr::get(context, true), {}, {}, {}, {}, {},
      {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {},
                                              {}, {}, {}, {}, {}, {}, {}, {},
                                              {}, {}));
}

Value mlir::iris::emitAnd(ThreadBuilder &t, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return t.b.createOrFold<arith::AndIOp>(t.loc, lhs, rhs);
}

void mlir::iris::emitGuarded(ThreadBuilder &t, Value condition,
                             llvm::function_ref<void(ThreadBuilder &)> body) {
  if (!condition)
    return body(t);
  scf::IfOp::create(t.b, t.loc, condition, [&](OpBuilder &b, Location loc) {
    ThreadBuilder inner(b, loc, t.kernel);
    body(inner);
    scf::YieldOp::create(b, loc);
  });
}

Value mlir::iris::emitGuardedValue(
    ThreadBuilder &t, Value condition, Value other,
    llvm::function_ref<Value(ThreadBuilder &)> body) {
  if (!condition)
    return body(t);
  auto guard = scf::IfOp::create(
      t.b, t.loc, condition,
      [&](OpBuilder &b, Location loc) {
        ThreadBuilder inner(b, loc, t.kernel);
        scf::YieldOp::create(b, loc, body(inner));
      },
      [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, other); });
  return guard.getResult(0);
}
