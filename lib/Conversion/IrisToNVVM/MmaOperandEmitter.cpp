// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MmaOperandEmitter.cpp - Operand tiles of mma.sync ------------------===//

#include "MmaOperandEmitter.h"

#include "iris/Analysis/WorkgroupMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

static constexpr unsigned kLaneBits = 5;

static Value compare(ThreadBuilder &t, arith::CmpIPredicate predicate,
                     Value lhs, Value rhs) {
  return t.b.createOrFold<arith::CmpIOp>(t.loc, predicate, lhs, rhs);
}

/// `value` (index), at least 0 and at most `most`, as i32.
static Value emitClamped(ThreadBuilder &t, Value value, int64_t most) {
  value = t.b.createOrFold<arith::MaxSIOp>(t.loc, value, t.index(0));
  value = t.b.createOrFold<arith::MinSIOp>(t.loc, value, t.index(most));
  return t.b.createOrFold<arith::IndexCastOp>(t.loc, t.b.getI32Type(), value);
}

//===----------------------------------------------------------------------===//
// From global to shared memory
//===----------------------------------------------------------------------===//

Value MmaOperandEmitter::emitCanCopy(ThreadBuilder &t,
                                     const OperandTileStart &tileStart) const {
  if (!operand.hasContiguousLines)
    return {};
  BufferView view(tileStart.buffer, t);
  unsigned lineDim = operand.isKMajor ? operand.getRowDim() : operand.kDim;
  Value pitch = t.mul(view.getStride(lineDim), operand.elementBytes);
  Value start =
      t.mul(t.add(view.getOffset(), emitStartOffset(t, view, tileStart)),
            operand.elementBytes);
  // 16 is a power of two, so one `or` collects what must be multiples of it.
  Value address = t.add(view.getOwnAddress(), start);
  Value together = t.b.createOrFold<arith::OrIOp>(t.loc, address, pitch);
  Value rest = t.b.createOrFold<arith::AndIOp>(t.loc, together,
                                               t.index(kChunkBytes - 1));
  Value result = compare(t, arith::CmpIPredicate::eq, rest, t.index(0));
  for (Value offset : tileStart.offsets)
    result = emitAnd(t, result,
                     compare(t, arith::CmpIPredicate::sge, offset, t.index(0)));
  return result;
}

void MmaOperandEmitter::emitAsyncCopy(ThreadBuilder &t,
                                      const OperandTileStart &tileStart,
                                      Value left, Value stage) const {
  BufferView view(tileStart.buffer, t);
  auto getRest = [&](unsigned dim) {
    return t.b.createOrFold<arith::SubIOp>(t.loc, view.getSize(dim),
                                           tileStart.offsets[dim]);
  };
  Value rows = emitClamped(t, getRest(operand.getRowDim()), operand.rows);
  Value ks = emitClamped(
      t, t.b.createOrFold<arith::MinSIOp>(t.loc, left, getRest(operand.kDim)),
      operand.block);
  Value lineLimit = operand.isKMajor ? rows : ks;
  Value byteLimit = t.mul(operand.isKMajor ? ks : rows, operand.elementBytes);

  // Neighbouring threads copy neighbouring chunks of a line.
  unsigned lineBytes = operand.getLineBytes();
  unsigned numChunks = operand.getBytes() / kChunkBytes;
  unsigned numThreads = plan.getNumThreads();
  SmallVector<uint64_t> lineBits, byteBits, offsetBits;
  for (unsigned chunk = 1; chunk < numThreads; chunk *= 2) {
    unsigned bytes = chunk < numChunks ? chunk * kChunkBytes : 0;
    lineBits.push_back(bytes / lineBytes);
    byteBits.push_back(bytes % lineBytes);
    offsetBits.push_back(
        operand.getChunkOffset(bytes / lineBytes, bytes % lineBytes));
  }
  auto getInputs = [&](ArrayRef<uint64_t> bits) {
    return SmallVector<ThreadBuilder::MapInput>{
        {t.kernel.lane, bits.take_front(kLaneBits)},
        {t.kernel.warp, bits.drop_front(kLaneBits)}};
  };
  Value threadLine = t.applyBases(getInputs(lineBits));
  Value threadByte = t.applyBases(getInputs(byteBits));
  unsigned lineDim = operand.isKMajor ? operand.getRowDim() : operand.kDim;
  Value pitch = t.mul(view.getStride(lineDim), operand.elementBytes);
  auto toIndex = [&](Value value) {
    return t.b.createOrFold<arith::IndexCastUIOp>(t.loc, t.b.getIndexType(),
                                                  value);
  };
  Value threadOffset =
      t.add(t.mul(toIndex(threadLine), pitch), toIndex(threadByte));
  Value window = view.getPointer(t, emitStartOffset(t, view, tileStart));

  auto copy = [&](ThreadBuilder &t, unsigned chunk) {
    unsigned line = chunk * kChunkBytes / lineBytes;
    unsigned byte = chunk * kChunkBytes % lineBytes;
    Value offset =
        t.add(t.add(threadOffset, t.mul(pitch, line)), t.index(byte));
    Value source = emitByteOffset(t, window, t.toI64(offset));
    Value target = emitSharedPointer(t, memory, getInputs(offsetBits),
                                     operand.getChunkOffset(line, byte),
                                     operand.start, stage);
    // What a copy leaves out of its 16 bytes is 0.
    Value rest = t.b.createOrFold<arith::SubIOp>(
        t.loc, byteLimit, t.add(threadByte, t.i32(byte)));
    rest = t.b.createOrFold<arith::MaxSIOp>(t.loc, rest, t.i32(0));
    rest = t.b.createOrFold<arith::MinSIOp>(t.loc, rest, t.i32(kChunkBytes));
    Value isInside = compare(t, arith::CmpIPredicate::slt,
                             t.add(threadLine, t.i32(line)), lineLimit);
    Value bytes = arith::SelectOp::create(t.b, t.loc, isInside, rest, t.i32(0));
    // Through L2 only: L1 could hold what a peer has overwritten.
    NVVM::CpAsyncOp::create(t.b, t.loc, target, source, kChunkBytes,
                            NVVM::LoadCacheModifierKind::CG, bytes);
  };
  if (numChunks < numThreads) {
    Value thread = t.add(t.mul(t.kernel.warp, 32), t.kernel.lane);
    emitGuarded(t,
                compare(t, arith::CmpIPredicate::ult, thread, t.i32(numChunks)),
                [&](ThreadBuilder &inner) { copy(inner, 0); });
    return;
  }
  for (unsigned chunk = 0; chunk < numChunks; chunk += numThreads)
    copy(t, chunk);
}

ElementFill MmaOperandEmitter::getElementFill() const {
  ElementFill fill;
  fill.rows = operand.rows;
  fill.block = operand.block;
  fill.elementBytes = operand.elementBytes;
  fill.kDim = operand.kDim;
  fill.isAlongK = operand.isKMajor && operand.hasContiguousLines;
  for (unsigned bit = 1; bit < operand.rows; bit *= 2)
    fill.rowBases.push_back(operand.getOffset({bit, 0}));
  for (unsigned bit = 1; bit < operand.block; bit *= 2)
    fill.kBases.push_back(operand.getOffset({0, bit}));
  fill.start = operand.start;
  return fill;
}

void MmaOperandEmitter::emitCopy(ThreadBuilder &t,
                                 const OperandTileStart &tileStart, Value left,
                                 Value stage) const {
  auto fill = [&](ThreadBuilder &inner) {
    emitElementFill(inner, getElementFill(), tileStart, left, memory, stage);
  };
  Value canCopy = emitCanCopy(t, tileStart);
  if (!canCopy)
    return fill(t);
  auto branch = [&](llvm::function_ref<void(ThreadBuilder &)> body) {
    return [&t, body](OpBuilder &builder, Location loc) {
      ThreadBuilder inner(builder, loc, t.kernel);
      body(inner);
      scf::YieldOp::create(builder, loc);
    };
  };
  auto copy = [&](ThreadBuilder &inner) {
    emitAsyncCopy(inner, tileStart, left, stage);
  };
  scf::IfOp::create(t.b, t.loc, canCopy, branch(copy), branch(fill));
}

//===----------------------------------------------------------------------===//
// From shared memory to registers
//===----------------------------------------------------------------------===//

SmallVector<OperandElementIndex> MmaOperandEmitter::getWarpBits() const {
  SmallVector<OperandElementIndex> bits;
  unsigned perWarp = getNumFragments() * kFragmentRows;
  for (unsigned warp = 1; warp < plan.warpColumns; warp *= 2)
    bits.push_back({isA() ? 0 : warp * perWarp, 0});
  for (unsigned warp = 1; warp < plan.warpRows; warp *= 2)
    bits.push_back({isA() ? warp * perWarp : 0, 0});
  // What is above them does not matter: such warps compute copies.
  bits.resize(llvm::Log2_32(plan.numWarps), {0, 0});
  return bits;
}

SmallVector<uint64_t>
MmaOperandEmitter::getOffsets(ArrayRef<OperandElementIndex> bits) const {
  return llvm::map_to_vector(bits, [&](OperandElementIndex element) {
    return operand.getOffset(element);
  });
}

Value MmaOperandEmitter::emitLoad(ThreadBuilder &t, Type type,
                                  ArrayRef<ThreadBuilder::MapInput> inputs,
                                  OperandElementIndex element,
                                  Value stage) const {
  Value pointer = emitSharedPointer(
      t, memory, inputs, operand.getOffset(element), operand.start, stage);
  auto vector = dyn_cast<VectorType>(type);
  unsigned count = vector ? vector.getNumElements() : 1;
  return LLVM::LoadOp::create(
      t.b, t.loc, type, pointer,
      count * getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8);
}

SmallVector<SmallVector<Value>>
MmaOperandEmitter::emitFragments(ThreadBuilder &t, unsigned step,
                                 Value stage) const {
  // ldmatrix transposes units of 16 bits.
  bool usesLdMatrix = operand.isKMajor || operand.elementBytes == 2;
  SmallVector<uint64_t> lanes = getOffsets(
      usesLdMatrix ? operand.getLdMatrixLanes() : operand.getFragmentLanes());
  SmallVector<uint64_t> warps = getOffsets(getWarpBits());
  ThreadBuilder::MapInput inputs[] = {{t.kernel.lane, lanes},
                                      {t.kernel.warp, warps}};
  unsigned firstK = step * kFragmentBytes / operand.elementBytes;
  Type i32 = t.b.getI32Type();
  SmallVector<SmallVector<Value>> fragments;
  for (unsigned fragment = 0; fragment < getNumFragments(); ++fragment) {
    OperandElementIndex first = {fragment * kFragmentRows, firstK};
    SmallVector<Value> registers;
    if (usesLdMatrix) {
      Value pointer = emitSharedPointer(
          t, memory, inputs, operand.getOffset(first), operand.start, stage);
      auto type = LLVM::LLVMStructType::getLiteral(t.b.getContext(),
                                                   {i32, i32, i32, i32});
      MLIRContext *context = t.b.getContext();
      Value loaded = NVVM::LdMatrixOp::create(
          t.b, t.loc, type, pointer, /*num=*/4,
          operand.isKMajor ? NVVM::MMALayout::row : NVVM::MMALayout::col,
          NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
          NVVM::LdStMatrixEltType::B16);
      for (int64_t reg = 0; reg < 4; ++reg)
        registers.push_back(
            LLVM::ExtractValueOp::create(t.b, t.loc, loaded, reg));
    } else {
      for (unsigned reg = 0; reg < 4; ++reg) {
        OperandElementIndex element = operand.getFragmentRegister(reg);
        registers.push_back(
            emitLoad(t, i32, inputs,
                     {first.row + element.row, first.k + element.k}, stage));
      }
    }
    fragments.push_back(std::move(registers));
  }
  return fragments;
}

SmallVector<SmallVector<Value>>
MmaOperandEmitter::emitRuns(ThreadBuilder &t, Value run, Value stage) const {
  constexpr unsigned length = 4;
  // The rows and columns of a thread in the layout of the result: lanes count
  // by two columns, then by rows.
  SmallVector<OperandElementIndex> lanes(kLaneBits, {0, 0});
  if (isA())
    for (unsigned bit : {0, 1, 2})
      lanes[2 + bit].row = 1 << bit;
  else
    lanes[0].row = 2, lanes[1].row = 4;
  SmallVector<OperandElementIndex> runBits;
  for (unsigned k = length; k < operand.block; k *= 2)
    runBits.push_back({0, k});
  SmallVector<uint64_t> laneOffsets = getOffsets(lanes),
                        warpOffsets = getOffsets(getWarpBits()),
                        runOffsets = getOffsets(runBits);
  ThreadBuilder::MapInput inputs[] = {{t.kernel.lane, laneOffsets},
                                      {t.kernel.warp, warpOffsets},
                                      {run, runOffsets}};
  SmallVector<unsigned> rowsOfFragment =
      isA() ? SmallVector<unsigned>{0, 8} : SmallVector<unsigned>{0, 1, 8, 9};
  Type f32 = t.b.getF32Type();
  SmallVector<SmallVector<Value>> runs;
  for (unsigned fragment = 0; fragment < getNumFragments(); ++fragment)
    for (unsigned row : rowsOfFragment) {
      unsigned first = fragment * kFragmentRows + row;
      if (operand.isKMajor) {
        runs.push_back(t.unpack(emitLoad(t, VectorType::get({length}, f32),
                                         inputs, {first, 0}, stage)));
        continue;
      }
      SmallVector<Value> values;
      for (unsigned k = 0; k < length; ++k)
        values.push_back(emitLoad(t, f32, inputs, {first, k}, stage));
      runs.push_back(std::move(values));
    }
  return runs;
}
