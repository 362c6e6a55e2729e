// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedOperand.cpp - Operand tiles in shared memory -----------------===//

#include "iris/Conversion/SharedOperand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

Value mlir::iris::emitByteOffset(ThreadBuilder &t, Value pointer,
                                 LLVM::GEPArg bytes) {
  return LLVM::GEPOp::create(t.b, t.loc, pointer.getType(), t.b.getI8Type(),
                             pointer, ArrayRef<LLVM::GEPArg>{bytes});
}

Value mlir::iris::emitStartOffset(ThreadBuilder &t, const BufferView &view,
                                  const OperandTileStart &tileStart) {
  Value start = t.index(0);
  for (auto [dim, offset] : llvm::enumerate(tileStart.offsets))
    start = t.add(start, t.mul(offset, view.getStride(dim)));
  return start;
}

Value mlir::iris::emitSharedPointer(ThreadBuilder &t, LLVM::GlobalOp memory,
                                    ArrayRef<ThreadBuilder::MapInput> inputs,
                                    uint64_t constant, uint64_t start,
                                    Value stage) {
  uint64_t varying = 0;
  for (const ThreadBuilder::MapInput &input : inputs)
    for (uint64_t basis : input.second)
      varying |= basis;
  // Bits that vary are combined; the others are an offset of the instruction.
  Value offset = t.applyBases(inputs);
  if (uint64_t flipped = constant & varying)
    offset = t.b.createOrFold<arith::XOrIOp>(t.loc, offset, t.i32(flipped));
  uint64_t fixed = (constant & ~varying) + start;
  if (stage) {
    if (std::optional<int64_t> known = getConstantIntValue(stage))
      fixed += *known;
    else
      offset = t.add(offset, stage);
  }
  Value pointer = LLVM::AddressOfOp::create(t.b, t.loc, memory);
  pointer = emitByteOffset(t, pointer, offset);
  return fixed ? emitByteOffset(t, pointer, t.i32(fixed)) : pointer;
}

/// Fills element number `number` (i32), in the order of the threads.
static void emitElement(ThreadBuilder &t, const ElementFill &fill,
                        const OperandTileStart &tileStart,
                        const BufferView &view, Value left,
                        LLVM::GlobalOp memory, Value stage, Value number) {
  Type element = IntegerType::get(t.b.getContext(), 8 * fill.elementBytes);
  unsigned rowDim = 1 - fill.kDim;
  unsigned fast = fill.isAlongK ? fill.block : fill.rows;
  Value low = arith::AndIOp::create(t.b, t.loc, number, t.i32(fast - 1));
  Value high =
      arith::ShRUIOp::create(t.b, t.loc, number, t.i32(llvm::Log2_32(fast)));
  Value row = fill.isAlongK ? high : low;
  Value k = fill.isAlongK ? low : high;
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(t.b, t.loc, t.b.getIndexType(), value);
  };
  SmallVector<Value> coordinates(2);
  coordinates[rowDim] = t.add(tileStart.offsets[rowDim], toIndex(row));
  coordinates[fill.kDim] = t.add(tileStart.offsets[fill.kDim], toIndex(k));
  Value isBeforeEnd = t.b.createOrFold<arith::CmpIOp>(
      t.loc, arith::CmpIPredicate::slt, toIndex(k), left);
  Value inside = emitAnd(t, view.isInside(t, coordinates), isBeforeEnd);
  Value zero = arith::ConstantOp::create(
      t.b, t.loc, cast<TypedAttr>(t.b.getZeroAttr(element)));
  Value value = emitGuardedValue(t, inside, zero, [&](ThreadBuilder &inner) {
    return LLVM::LoadOp::create(inner.b, inner.loc, element,
                                view.getElementPointer(inner, coordinates),
                                fill.elementBytes);
  });
  Value offset = t.applyBases({{row, fill.rowBases}, {k, fill.kBases}});
  Value pointer = LLVM::AddressOfOp::create(t.b, t.loc, memory);
  if (fill.start)
    offset = t.add(offset, t.i32(fill.start));
  if (stage)
    offset = t.add(offset, stage);
  LLVM::StoreOp::create(t.b, t.loc, value, emitByteOffset(t, pointer, offset),
                        fill.elementBytes);
}

void mlir::iris::emitElementFill(ThreadBuilder &t, const ElementFill &fill,
                                 const OperandTileStart &tileStart, Value left,
                                 LLVM::GlobalOp memory, Value stage) {
  unsigned total = fill.rows * fill.block;
  unsigned threads = t.kernel.numWarps * t.kernel.warpSize;
  Value thread = t.add(t.mul(t.kernel.warp, t.kernel.warpSize), t.kernel.lane);
  BufferView view(tileStart.buffer, t);
  Value extent = t.b.createOrFold<arith::SubIOp>(t.loc, view.getSize(fill.kDim),
                                                 tileStart.offsets[fill.kDim]);
  left = t.b.createOrFold<arith::MinSIOp>(t.loc, left, extent);

  if (total < threads) {
    Value works = t.b.createOrFold<arith::CmpIOp>(
        t.loc, arith::CmpIPredicate::ult, thread, t.i32(total));
    emitGuarded(t, works, [&](ThreadBuilder &inner) {
      emitElement(inner, fill, tileStart, view, left, memory, stage, thread);
    });
    return;
  }
  auto loop = scf::ForOp::create(
      t.b, t.loc, t.index(0), t.index(total), t.index(threads), ValueRange(),
      [&](OpBuilder &b, Location loc, Value first, ValueRange) {
        ThreadBuilder inner(b, loc, t.kernel);
        Value number = inner.b.createOrFold<arith::IndexCastOp>(
            loc, b.getI32Type(), first);
        emitElement(inner, fill, tileStart, view, left, memory, stage,
                    inner.add(number, thread));
        scf::YieldOp::create(b, loc);
      });
  // The slow form is to be small.
  disableUnrolling(loop);
}
