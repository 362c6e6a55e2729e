// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sync.cpp - Atomics and checks of tiles -----------------------------===//

#include "TileLowering.h"
#include "Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static bool hasRelease(MemSemantic sem) {
  return sem == MemSemantic::Release || sem == MemSemantic::AcqRel;
}

static bool hasAcquire(MemSemantic sem) {
  return sem == MemSemantic::Acquire || sem == MemSemantic::AcqRel;
}

/// Fences around the updates of all elements, which are relaxed.
static void emitFenced(ImplicitLocOpBuilder &b, MemSemantic sem, Scope scope,
                       function_ref<void()> body) {
  if (hasRelease(sem))
    FenceOp::create(b, MemSemantic::Release, scope);
  body();
  if (hasAcquire(sem))
    FenceOp::create(b, MemSemantic::Acquire, scope);
}

void TileLowering::forUpdates(ImplicitLocOpBuilder &b, Operation *op,
                              TypedValue<MemRefType> memory, ValueRange offsets,
                              ArrayRef<int64_t> shape, Value mask,
                              UpdateBody body) {
  auto beginIf = [](ImplicitLocOpBuilder &b, Value condition) {
    auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  };
  if (areIndexTiles(offsets)) {
    Window window(b, memory, {}, {});
    forIndexed(b, op, window, offsets, shape, mask,
               [&](ImplicitLocOpBuilder &b, const Point &point,
                   ElementCache &cache, ArrayRef<Value> indices, Value exists) {
                 beginIf(b, exists);
                 body(b, point, cache, window.address(b, indices));
               });
    return;
  }
  Window window(b, memory, offsets, shape);
  forBounds(b, shape, window.insideBounds(b),
            [&](ImplicitLocOpBuilder &b, const Point &point) {
              ElementCache cache;
              if (mask)
                beginIf(b, element(b, mask, point, cache));
              body(b, point, cache, window.address(b, point.coordinates));
            });
}

void TileLowering::lowerAtomic(AtomicRMWOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RankedTensorType type = tileType(op.getValue());
  bool used = !op.getResult().use_empty();
  Value buffer = allocate(b, op.getResult());
  buffers[op.getResult()] = buffer;
  if (used) {
    Value zero =
        arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
    forAll(b, type.getShape(), /*flat=*/true,
           [&](ImplicitLocOpBuilder &b, const Point &point) {
             write(b, buffer, point.linear, zero);
           });
  }

  emitFenced(b, op.getSem(), op.getScope(), [&] {
    forUpdates(
        b, op, op.getBuffer(), op.getOffsets(), type.getShape(), op.getMask(),
        [&](ImplicitLocOpBuilder &b, const Point &point, ElementCache &cache,
            Value address) {
          Value old = ElementRMWOp::create(
              b, type.getElementType(), op.getKind(),
              element(b, op.getValue(), point, cache), address, op.getScope());
          if (used)
            write(b, buffer, point.linear, old);
        });
  });
}

void TileLowering::lowerAtomic(AtomicCASOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RankedTensorType type = tileType(op.getValue());
  Value buffer = allocate(b, op.getResult());
  buffers[op.getResult()] = buffer;
  Value zero =
      arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
  forAll(b, type.getShape(), /*flat=*/true,
         [&](ImplicitLocOpBuilder &b, const Point &point) {
           write(b, buffer, point.linear, zero);
         });

  emitFenced(b, op.getSem(), op.getScope(), [&] {
    forUpdates(b, op, op.getBuffer(), op.getOffsets(), type.getShape(),
               /*mask=*/{},
               [&](ImplicitLocOpBuilder &b, const Point &point,
                   ElementCache &cache, Value address) {
                 Value compare = element(b, op.getCompare(), point, cache);
                 Value value = element(b, op.getValue(), point, cache);
                 Value old =
                     ElementCASOp::create(b, type.getElementType(), compare,
                                          value, address, op.getScope());
                 write(b, buffer, point.linear, old);
               });
  });
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The bits of a scalar, zero extended.
static Value rawBits(ImplicitLocOpBuilder &b, Value value) {
  Type type = value.getType();
  if (type.isIndex())
    return arith::IndexCastOp::create(b, b.getI64Type(), value);
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(b, b.getIntegerType(width), value);
  if (width == 64)
    return value;
  return arith::ExtUIOp::create(b, b.getI64Type(), value);
}

/// True (i1) if the two elements count as equal.
static Value isEqual(ImplicitLocOpBuilder &b, Value got, Value want,
                     std::optional<APFloat> tolerance) {
  Value equal = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                      rawBits(b, got), rawBits(b, want));
  if (!isa<FloatType>(got.getType()))
    return equal;
  Value gotNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, got, got);
  Value wantNaN =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, want, want);
  equal =
      arith::OrIOp::create(b, equal, arith::AndIOp::create(b, gotNaN, wantNaN));
  if (!tolerance)
    return equal;
  Type type = got.getType().isF64() ? b.getF64Type() : b.getF32Type();
  auto widen = [&](Value value) -> Value {
    if (value.getType() == type)
      return value;
    return arith::ExtFOp::create(b, type, value);
  };
  Value difference = arith::SubFOp::create(b, widen(got), widen(want));
  difference = math::AbsFOp::create(b, difference);
  Value limit = arith::ConstantOp::create(
      b, b.getFloatAttr(type, tolerance->convertToDouble()));
  Value close =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, difference, limit);
  return arith::OrIOp::create(b, equal, close);
}

LogicalResult TileLowering::lowerExpect(ExpectEqOp op) {
  auto ctx = llvm::find_if(func.getArguments(), [](BlockArgument argument) {
    return isa<CtxType>(argument.getType());
  });
  if (ctx == func.getArguments().end())
    return op.emitOpError("reports to the context; expected a kernel argument "
                          "of type !iris.ctx");

  ImplicitLocOpBuilder b(op.getLoc(), op);
  RankedTensorType type = tileType(op.getGot());
  // Number of mismatches; then index, got and want of the first one.
  Value record = allocate(b, {4}, b.getI64Type());
  SmallVector<Value> slots;
  Value zero = arith::ConstantIntOp::create(b, b.getI64Type(), 0);
  for (int64_t slot = 0; slot < 4; ++slot) {
    slots.push_back(arith::ConstantIndexOp::create(b, slot));
    write(b, record, slots.back(), zero);
  }

  bool flat = !needsCoordinates(op.getGot()) && !needsCoordinates(op.getWant());
  forAll(b, type.getShape(), flat,
         [&](ImplicitLocOpBuilder &b, const Point &point) {
           ElementCache cache;
           Value got = element(b, op.getGot(), point, cache);
           Value want = element(b, op.getWant(), point, cache);
           Value no = arith::ConstantIntOp::create(b, 0, 1);
           Value differs =
               arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                     isEqual(b, got, want, op.getTol()), no);
           auto mismatch =
               scf::IfOp::create(b, differs, /*withElseRegion=*/false);
           b.setInsertionPointToStart(mismatch.thenBlock());
           Value failed = read(b, record, b.getI64Type(), slots[0]);
           Value one = arith::ConstantIntOp::create(b, b.getI64Type(), 1);
           write(b, record, slots[0], arith::AddIOp::create(b, failed, one));
           Value isFirst =
               arith::CmpIOp::create(b, arith::CmpIPredicate::eq, failed, zero);
           auto first = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
           b.setInsertionPointToStart(first.thenBlock());
           write(b, record, slots[1],
                 arith::IndexCastOp::create(b, b.getI64Type(), point.linear));
           write(b, record, slots[2], rawBits(b, got));
           write(b, record, slots[3], rawBits(b, want));
         });

  SmallVector<Value> values;
  for (Value slot : slots)
    values.push_back(read(b, record, b.getI64Type(), slot));
  Value checked =
      arith::ConstantIntOp::create(b, b.getI64Type(), type.getNumElements());
  RecordExpectOp::create(b, *ctx, checked, values[0], values[1], values[2],
                         values[3], op.getWhatAttr(),
                         TypeAttr::get(type.getElementType()));
  return success();
}
