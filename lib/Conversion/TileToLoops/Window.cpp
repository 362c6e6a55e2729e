// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Window.cpp - Addresses of a buffer's elements ----------------------===//

#include "Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::iris;

/// The strides and the offset of a buffer, in elements.
static void describeLayout(ImplicitLocOpBuilder &b,
                           TypedValue<MemRefType> buffer, ValueRange sizes,
                           SmallVectorImpl<Value> &strides, Value &offset) {
  MemRefType type = buffer.getType();
  unsigned rank = type.getRank();
  strides.resize(rank);
  if (type.getLayout().isIdentity()) {
    offset = constantIndex(b, 0);
    strides[rank - 1] = constantIndex(b, 1);
    for (unsigned dim = rank - 1; dim-- > 0;)
      strides[dim] = arith::MulIOp::create(b, strides[dim + 1], sizes[dim + 1]);
    return;
  }
  auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
  SmallVector<int64_t> staticStrides;
  int64_t staticOffset;
  // The ops' verifiers reject layouts without strides.
  (void)type.getStridesAndOffset(staticStrides, staticOffset);
  offset = ShapedType::isDynamic(staticOffset) ? metadata.getOffset()
                                               : constantIndex(b, staticOffset);
  for (unsigned dim = 0; dim < rank; ++dim)
    strides[dim] = ShapedType::isDynamic(staticStrides[dim])
                       ? metadata.getStrides()[dim]
                       : constantIndex(b, staticStrides[dim]);
}

Window::Window(ImplicitLocOpBuilder &b, TypedValue<MemRefType> buffer,
               ValueRange offsets, ArrayRef<int64_t> extents)
    : offsets(offsets), extents(extents) {
  MemRefType type = buffer.getType();
  element = type.getElementType();
  // A translated buffer has the same sizes as this rank's buffer.
  Value own = buffer;
  while (auto translate = own.getDefiningOp<TranslateOp>())
    own = translate.getSource();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(memref::DimOp::create(b, own, dim));
  Value position;
  describeLayout(b, buffer, sizes, strides, position);
  contiguousRows = matchPattern(strides.back(), m_One());

  for (auto [offset, stride] : llvm::zip(this->offsets, strides))
    position = arith::AddIOp::create(b, position,
                                     arith::MulIOp::create(b, offset, stride));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  base = arith::IndexCastOp::create(b, b.getI64Type(), base);
  base = LLVM::IntToPtrOp::create(b, pointer, base);
  position = arith::IndexCastOp::create(b, b.getI64Type(), position);
  // Not inbounds: the window may start outside of the buffer.
  origin = LLVM::GEPOp::create(b, pointer, element, base,
                               ArrayRef<LLVM::GEPArg>{position});
}

Value Window::address(ImplicitLocOpBuilder &b,
                      ArrayRef<Value> coordinates) const {
  Value position;
  for (auto [coordinate, stride] : llvm::zip_equal(coordinates, strides)) {
    Value step = arith::MulIOp::create(b, coordinate, stride);
    position =
        position ? arith::AddIOp::create(b, position, step).getResult() : step;
  }
  position = arith::IndexCastOp::create(b, b.getI64Type(), position);
  return LLVM::GEPOp::create(b, origin.getType(), element, origin,
                             ArrayRef<LLVM::GEPArg>{position});
}

Value Window::isInside(ImplicitLocOpBuilder &b) const {
  Value inside = arith::ConstantIntOp::create(b, 1, 1);
  for (auto [offset, size, extent] : llvm::zip(offsets, sizes, extents)) {
    // Sizes are not negative, so the difference cannot wrap.
    Value last = arith::SubIOp::create(b, size, constantIndex(b, extent));
    Value low = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, offset,
                                      constantIndex(b, 0));
    Value high =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sle, offset, last);
    inside = arith::AndIOp::create(b, inside, low);
    inside = arith::AndIOp::create(b, inside, high);
  }
  return inside;
}

SmallVector<Bound> Window::insideBounds(ImplicitLocOpBuilder &b) const {
  SmallVector<Bound> bounds;
  Value zero = constantIndex(b, 0);
  for (auto [offset, size, extent] : llvm::zip(offsets, sizes, extents)) {
    // A window that ends before the buffer starts is empty, however far away it
    // is; clamping its start keeps the differences from wrapping.
    Value start =
        arith::MaxSIOp::create(b, offset, constantIndex(b, -int64_t(extent)));
    Value low = arith::SubIOp::create(b, zero, start);
    low = arith::MaxSIOp::create(b, low, zero);
    Value high = arith::SubIOp::create(b, size, start);
    high = arith::MinSIOp::create(b, high, constantIndex(b, extent));
    high = arith::MaxSIOp::create(b, high, low);
    bounds.push_back({low, high});
  }
  return bounds;
}

Value Window::contains(ImplicitLocOpBuilder &b,
                       ArrayRef<Value> coordinates) const {
  Value inside;
  for (auto [coordinate, size] : llvm::zip_equal(coordinates, sizes)) {
    // Unsigned: negative coordinates are out of range too.
    Value fits =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, coordinate, size);
    inside = inside ? arith::AndIOp::create(b, inside, fits).getResult() : fits;
  }
  return inside;
}

Value Window::load(ImplicitLocOpBuilder &b, Value address,
                   bool isVolatile) const {
  return LLVM::LoadOp::create(b, element, address, /*alignment=*/0, isVolatile);
}

void Window::store(ImplicitLocOpBuilder &b, Value value, Value address,
                   bool isVolatile) const {
  LLVM::StoreOp::create(b, value, address, /*alignment=*/0, isVolatile);
}
