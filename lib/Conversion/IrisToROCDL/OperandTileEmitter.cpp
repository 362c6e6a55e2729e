// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OperandTileEmitter.h"

#include "iris/Conversion/EmitHelpers.h"
#include "iris/Conversion/SharedOperand.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

/// Size in bytes of buffer resources; loads at or beyond this offset return 0.
static constexpr int64_t kResourceBytes = int64_t(1) << 31;

static Value compare(ThreadBuilder &t, arith::CmpIPredicate predicate,
                     Value lhs, Value rhs) {
  return t.b.createOrFold<arith::CmpIOp>(t.loc, predicate, lhs, rhs);
}

static Value toI32(ThreadBuilder &t, Value index) {
  return t.b.createOrFold<arith::IndexCastOp>(t.loc, t.b.getI32Type(), index);
}

/// A vector of words, or one number, of `bytes` bytes.
static Type getWordsType(MLIRContext *context, unsigned bytes) {
  Type i32 = IntegerType::get(context, 32);
  if (bytes < 4)
    return IntegerType::get(context, 8 * bytes);
  return bytes == 4 ? i32 : VectorType::get({bytes / 4}, i32);
}

static Value bitcast(ThreadBuilder &t, Type type, Value value) {
  if (value.getType() == type)
    return value;
  return LLVM::BitcastOp::create(t.b, t.loc, type, value);
}

Value OperandTileEmitter::applyThread(ThreadBuilder &t,
                                      ArrayRef<uint64_t> bases) const {
  unsigned lanes = llvm::Log2_32(plan.warpSize);
  return t.applyBases(bases.take_front(lanes), bases.drop_front(lanes));
}

//===----------------------------------------------------------------------===//
// From memory
//===----------------------------------------------------------------------===//

Value OperandTileEmitter::emitCanLoad(ThreadBuilder &t,
                                      const OperandTileStart &start) const {
  const OperandTileCopy &fill = operandTile.fill;
  int64_t loadBytes = fill.getElementsPerLoad() * plan.elementBytes;
  if (!fill.hasWideLoads(plan.elementBytes))
    return {};
  BufferView view(start.buffer, t);
  unsigned rowDim = getRowDim();
  Value pitch = t.mul(view.getStride(fill.alongK ? rowDim : getKDim()),
                      plan.elementBytes);
  Value first = t.mul(t.add(view.getOffset(), emitStartOffset(t, view, start)),
                      plan.elementBytes);
  // Divisors are powers of two, so one `or` collects what must be multiples.
  Value address = t.add(view.getOwnAddress(), first);
  Value together = t.b.createOrFold<arith::OrIOp>(t.loc, address, pitch);
  Value rest =
      t.b.createOrFold<arith::AndIOp>(t.loc, together, t.index(loadBytes - 1));
  using Predicate = arith::CmpIPredicate;
  Value result = compare(t, Predicate::eq, rest, t.index(0));
  auto require = [&](Value condition) {
    result = emitAnd(t, result, condition);
  };

  // Offsets of threads have 31 bits.
  int64_t lines = fill.alongK ? operandTile.rows : plan.block;
  require(compare(t, Predicate::ult, pitch,
                  t.index((kResourceBytes - (1 << 16)) / lines)));
  Value row = start.offsets[rowDim], size = view.getSize(rowDim);
  require(compare(t, Predicate::ult, row, size));
  require(compare(t, Predicate::sge, start.offsets[getKDim()], t.index(0)));
  if (fill.alongK)
    return result;
  // A load that covers several rows must be inside or outside as a whole.
  Value end = t.add(row, t.index(operandTile.rows));
  Value both = t.b.createOrFold<arith::OrIOp>(t.loc, row, size);
  Value remainder =
      t.b.createOrFold<arith::AndIOp>(t.loc, both, t.index(fill.rows - 1));
  require(t.b.createOrFold<arith::OrIOp>(
      t.loc, compare(t, Predicate::sle, end, size),
      compare(t, Predicate::eq, remainder, t.index(0))));
  return result;
}

Value OperandTileEmitter::emitExtent(ThreadBuilder &t,
                                     const OperandTileStart &start) const {
  BufferView view(start.buffer, t);
  return t.b.createOrFold<arith::SubIOp>(t.loc, view.getSize(getKDim()),
                                         start.offsets[getKDim()]);
}

SmallVector<Type> OperandTileEmitter::getLoadTypes(MLIRContext *context) const {
  const OperandTileCopy &fill = operandTile.fill;
  return SmallVector<Type>(
      fill.unitsPerThread * fill.getLoadsPerUnit(),
      getWordsType(context, fill.getElementsPerLoad() * plan.elementBytes));
}

/// A buffer resource that starts at `pointer`, which is uniform, for loads with
/// an offset per thread.
static Value emitResource(ThreadBuilder &t, Value pointer) {
  ImplicitLocOpBuilder b(t.loc, t.b);
  Value stride = arith::ConstantOp::create(b, b.getI16IntegerAttr(0));
  // Raw buffer, 32-bit elements.
  constexpr int64_t flags = (7 << 12) | (4 << 15);
  return ROCDL::MakeBufferRsrcOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), 8), pointer, stride,
      emitI64(b, kResourceBytes), emitI32(b, flags));
}

Value OperandTileEmitter::emitWindow(ThreadBuilder &t,
                                     const OperandTileStart &start) const {
  BufferView view(start.buffer, t);
  // A resource must be in scalar registers.
  ImplicitLocOpBuilder b(t.loc, t.b);
  return target.emitUniform(
      b, view.getPointer(t, emitStartOffset(t, view, start)));
}

Value OperandTileEmitter::emitNextWindow(ThreadBuilder &t,
                                         const OperandTileStart &start,
                                         Value window) const {
  BufferView view(start.buffer, t);
  Value next = emitByteOffset(
      t, window,
      t.toI64(t.mul(view.getStride(getKDim()),
                    static_cast<int64_t>(plan.block) * plan.elementBytes)));
  // LLVM would otherwise use one counter for all windows, and add it to their
  // start in every step.
  ImplicitLocOpBuilder b(t.loc, t.b);
  return target.emitUniform(b, next);
}

/// The window of an operand tile in memory, as seen by the loads of a thread.
struct OperandTileEmitter::Source {
  /// Pointer to its start, uniform.
  Value window;
  /// Bytes between lines, and number of rows inside the buffer, i32.
  Value pitch, limit;
  /// The thread's row, k, and byte offset, i32.
  Value row, k, offset;
};

OperandTileEmitter::Source
OperandTileEmitter::getSource(ThreadBuilder &t, const OperandTileStart &start,
                              Value window, bool permuted) const {
  const OperandTileCopy &fill = operandTile.fill;
  BufferView view(start.buffer, t);
  unsigned rowDim = getRowDim();
  int64_t bytes = plan.elementBytes;
  Source source;
  source.window = window;
  source.pitch =
      toI32(t, t.mul(view.getStride(fill.alongK ? rowDim : getKDim()), bytes));
  Value left = t.b.createOrFold<arith::SubIOp>(t.loc, view.getSize(rowDim),
                                               start.offsets[rowDim]);
  source.limit = toI32(t, t.b.createOrFold<arith::MinSIOp>(
                              t.loc, left, t.index(operandTile.rows)));
  SmallVector<uint64_t> rowBases, kBases;
  for (auto [row, k] : fill.threadBits) {
    rowBases.push_back(row);
    kBases.push_back(permuted ? k ^ operandTile.memory.getSwizzle(row) / bytes
                              : k);
  }
  source.row = applyThread(t, rowBases);
  source.k = applyThread(t, kBases);
  Value line = fill.alongK ? source.row : source.k;
  Value column = fill.alongK ? source.k : source.row;
  source.offset = t.add(t.mul(line, source.pitch), t.mul(column, bytes));
  return source;
}

/// Row and k of unit `unit`, relative to unit 0.
static std::pair<unsigned, unsigned> getUnit(const OperandTileCopy &fill,
                                             unsigned unit) {
  std::pair<unsigned, unsigned> result(0, 0);
  for (auto [i, bit] : llvm::enumerate(fill.unitBits))
    if ((unit >> i) & 1) {
      result.first += bit.first;
      result.second += bit.second;
    }
  return result;
}

/// Whether the rows of a unit are inside the buffer.
static Value emitInside(ThreadBuilder &t, Value row, unsigned unitRow,
                        Value limit) {
  return compare(t, arith::CmpIPredicate::slt, t.add(row, t.i32(unitRow)),
                 limit);
}

Value OperandTileEmitter::emitUnitOffset(ThreadBuilder &t, const Source &source,
                                         unsigned unit) const {
  auto [row, k] = getUnit(operandTile.fill, unit);
  bool alongK = operandTile.fill.alongK;
  return t.add(t.add(source.offset, t.mul(source.pitch, alongK ? row : k)),
               t.i32((alongK ? k : row) * plan.elementBytes));
}

SmallVector<Value> OperandTileEmitter::emitLoads(ThreadBuilder &t,
                                                 const OperandTileStart &start,
                                                 Value window) const {
  const OperandTileCopy &fill = operandTile.fill;
  Source source = getSource(t, start, window, /*permuted=*/false);
  bool hasResources = plan.buffersCheckBounds;
  Value resource = hasResources ? emitResource(t, source.window) : Value();
  Type type = getLoadTypes(t.b.getContext()).front();
  SmallVector<Value> loaded;
  for (unsigned unit = 0; unit < fill.unitsPerThread; ++unit) {
    Value inside =
        emitInside(t, source.row, getUnit(fill, unit).first, source.limit);
    Value safe = arith::SelectOp::create(
        t.b, t.loc, inside, emitUnitOffset(t, source, unit),
        t.i32(hasResources ? static_cast<int32_t>(kResourceBytes) : 0));
    for (unsigned line = 0; line < fill.getLoadsPerUnit(); ++line) {
      Value skipped = t.mul(source.pitch, line);
      if (hasResources) {
        loaded.push_back(ROCDL::RawPtrBufferLoadOp::create(
            t.b, t.loc, type, resource, safe, skipped, t.i32(0), ArrayAttr(),
            ArrayAttr(), ArrayAttr()));
        continue;
      }
      auto wide = [&](Value number) -> Value {
        return arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), number);
      };
      Value pointer = emitByteOffset(t, source.window, wide(skipped));
      Value value = LLVM::LoadOp::create(
          t.b, t.loc, type, emitByteOffset(t, pointer, wide(safe)),
          fill.getElementsPerLoad() * plan.elementBytes);
      Value zero = arith::ConstantOp::create(
          t.b, t.loc, cast<TypedAttr>(t.b.getZeroAttr(type)));
      loaded.push_back(
          arith::SelectOp::create(t.b, t.loc, inside, value, zero));
    }
  }
  return loaded;
}

void OperandTileEmitter::emitDirectLoads(ThreadBuilder &t,
                                         const OperandTileStart &start,
                                         Value window, Value stage) const {
  const OperandTileCopy &fill = operandTile.fill;
  // A lane's destination is the wave's plus 16 bytes per lane; the swizzle is
  // applied to the source of the loads.
  Source source = getSource(t, start, window, /*permuted=*/true);
  Value resource = emitResource(t, source.window);
  ImplicitLocOpBuilder b(t.loc, t.b);
  Value wave =
      target.emitUniform(b, t.mul(t.kernel.warp, plan.warpSize * kChunkBytes));
  for (unsigned unit = 0; unit < fill.unitsPerThread; ++unit) {
    auto [row, k] = getUnit(fill, unit);
    Value inside = emitInside(t, source.row, row, source.limit);
    Value safe = arith::SelectOp::create(
        t.b, t.loc, inside, emitUnitOffset(t, source, unit),
        t.i32(static_cast<int32_t>(kResourceBytes)));
    unsigned fixed = unit * plan.getNumThreads() * kChunkBytes;
    fixed += getStageOffset();
    Value pointer = LLVM::AddressOfOp::create(t.b, t.loc, t.kernel.scratch);
    pointer =
        emitByteOffset(t, pointer, t.add(t.add(wave, stage), t.i32(fixed)));
    ROCDL::RawPtrBufferLoadLdsOp::create(
        t.b, t.loc, resource, pointer, t.i32(kChunkBytes), safe, t.i32(0),
        t.i32(0), t.i32(0), directScopes, ArrayAttr(), ArrayAttr());
  }
}

//===----------------------------------------------------------------------===//
// To workgroup memory
//===----------------------------------------------------------------------===//

Value OperandTileEmitter::emitPointer(ThreadBuilder &t,
                                      ArrayRef<uint64_t> bases,
                                      uint64_t constant, Value stage) const {
  unsigned lanes = llvm::Log2_32(plan.warpSize);
  return emitSharedPointer(t, t.kernel.scratch,
                           {{t.kernel.lane, bases.take_front(lanes)},
                            {t.kernel.warp, bases.drop_front(lanes)}},
                           constant, getStageOffset(), stage);
}

SmallVector<uint64_t> OperandTileEmitter::getStoreBases() const {
  const OperandTileCopy &fill = operandTile.fill;
  SmallVector<uint64_t> bases;
  for (auto [row, k] : fill.threadBits)
    bases.push_back(operandTile.memory.getOffset(row, k * plan.elementBytes));
  if (fill.isExchanged)
    bases[kExchangeLaneBit] =
        operandTile.memory.getOffset(1u << fill.getPartnerBit(), 0);
  return bases;
}

/// Lanes of the lower half of a wave exchange their `high` with `low` of the
/// upper half. Then both values of a lane belong to one row, with `low` from
/// the lower lane.
static void emitExchange(ThreadBuilder &t, Value &low, Value &high) {
  Type i32 = t.b.getI32Type();
  auto pair = LLVM::LLVMStructType::getLiteral(t.b.getContext(), {i32, i32});
  Value swapped = ROCDL::Permlane32SwapOp::create(
      t.b, t.loc, pair, low, high, /*fi=*/false, /*boundControl=*/false);
  low = LLVM::ExtractValueOp::create(t.b, t.loc, swapped, 0);
  high = LLVM::ExtractValueOp::create(t.b, t.loc, swapped, 1);
}

SmallVector<Value> OperandTileEmitter::emitTransposed(ThreadBuilder &t,
                                                      ValueRange lines) const {
  const OperandTileCopy &fill = operandTile.fill;
  MLIRContext *context = t.b.getContext();
  auto type = VectorType::get({fill.rows}, getBitsType(context));
  SmallVector<Value> vectors = llvm::map_to_vector(
      lines, [&](Value line) { return bitcast(t, type, line); });
  SmallVector<Value> rows;
  for (unsigned i = 0; i < fill.rows; ++i) {
    SmallVector<Value> elements;
    for (Value vector : vectors)
      elements.push_back(t.extract(vector, i));
    rows.push_back(bitcast(t,
                           getWordsType(context, fill.ks * plan.elementBytes),
                           t.pack(elements)));
  }
  return rows;
}

Value OperandTileEmitter::emitChunk(ThreadBuilder &t, Value low,
                                    Value high) const {
  SmallVector<Value> words = t.unpack(low), highWords = t.unpack(high);
  if (operandTile.fill.isExchanged)
    for (auto [lowWord, highWord] : llvm::zip_equal(words, highWords))
      emitExchange(t, lowWord, highWord);
  llvm::append_range(words, highWords);
  return t.pack(words);
}

void OperandTileEmitter::emitStores(ThreadBuilder &t, ValueRange loaded,
                                    Value stage) const {
  unsigned owners = operandTile.fill.numOwners;
  if (owners == plan.getNumThreads())
    return emitOwnStores(t, loaded, stage);
  // Of whole waves, if possible, so that it is a branch.
  Value number = t.kernel.warp;
  if (owners < plan.warpSize)
    number = t.add(t.mul(number, plan.warpSize), t.kernel.lane);
  else
    owners /= plan.warpSize;
  emitGuarded(
      t, compare(t, arith::CmpIPredicate::ult, number, t.i32(owners)),
      [&](ThreadBuilder &inner) { emitOwnStores(inner, loaded, stage); });
}

void OperandTileEmitter::emitOwnStores(ThreadBuilder &t, ValueRange loaded,
                                       Value stage) const {
  const OperandTileCopy &fill = operandTile.fill;
  SmallVector<uint64_t> bases = getStoreBases();
  auto store = [&](Value value, unsigned row, unsigned k, unsigned bytes) {
    uint64_t offset = operandTile.memory.getOffset(row, k * plan.elementBytes);
    LLVM::StoreOp::create(t.b, t.loc, value,
                          emitPointer(t, bases, offset, stage), bytes);
  };
  unsigned loads = fill.getLoadsPerUnit();
  unsigned rowBytes = fill.ks * plan.elementBytes;
  // The rows whose half chunks are combined, if any.
  bool inHalves = fill.isExchanged || operandTile.memory.getPaired();
  unsigned partner = inHalves ? 1u << fill.getPartnerBit() : 0;
  for (unsigned unit = 0; unit < fill.unitsPerThread; ++unit) {
    auto [row, k] = getUnit(fill, unit);
    ValueRange lines = loaded.slice(unit * loads, loads);
    if (fill.alongK) {
      store(lines.front(), row, k, rowBytes);
      continue;
    }
    SmallVector<Value> rows = emitTransposed(t, lines);
    for (unsigned i = 0; i < fill.rows; ++i)
      if (!inHalves)
        store(rows[i], row + i, k, rowBytes);
      else if (!(i & partner))
        store(emitChunk(t, rows[i], rows[i | partner]), row + i, k,
              kChunkBytes);
  }
}

void OperandTileEmitter::emitElementCopy(ThreadBuilder &t,
                                         const OperandTileStart &start,
                                         Value left, Value stage) const {
  ElementFill fill;
  fill.rows = operandTile.rows;
  fill.block = plan.block;
  fill.elementBytes = plan.elementBytes;
  fill.kDim = getKDim();
  fill.isAlongK = operandTile.fill.alongK;
  for (unsigned bit = 1; bit < operandTile.rows; bit *= 2)
    fill.rowBases.push_back(operandTile.memory.getOffset(bit, 0));
  for (unsigned bit = 1; bit < plan.block; bit *= 2)
    fill.kBases.push_back(
        operandTile.memory.getOffset(0, bit * plan.elementBytes));
  fill.start = getStageOffset();
  emitElementFill(t, fill, start, left, t.kernel.scratch, stage);
}

//===----------------------------------------------------------------------===//
// To operands
//===----------------------------------------------------------------------===//

SmallVector<SmallVector<Value>>
OperandTileEmitter::emitOperands(ThreadBuilder &t, unsigned step,
                                 Value stage) const {
  const MatrixInstruction &instruction = plan.instruction;
  MLIRContext *context = t.b.getContext();
  SmallVector<uint64_t> bases;
  for (unsigned bit : operandTile.map.instruction)
    bases.push_back(operandTile.memory.getOffset(1u << bit, 0));
  // Lanes of other groups have other values of k, or the same ones.
  for (unsigned size = kMatrixSize, group = 1; size < plan.warpSize;
       size *= 2, group *= 2)
    bases.push_back(group < instruction.groups ? operandTile.memory.getOffset(
                                                     0, group * plan.laneBytes)
                                               : 0);
  // In the result's layout the lowest wave bits select columns.
  if (side == Side::A)
    bases.append(plan.b.map.warp.size(), 0);
  for (unsigned bit : operandTile.map.warp)
    bases.push_back(operandTile.memory.getOffset(1u << bit, 0));
  if (side == Side::B)
    bases.append(plan.a.map.warp.size(), 0);
  // What is above them does not matter: such waves compute copies.
  bases.resize(llvm::Log2_32(plan.getNumThreads()), 0);

  unsigned readBytes = std::min(plan.laneBytes, kChunkBytes);
  auto read = [&](unsigned fragment, unsigned byte) -> Value {
    uint64_t offset = operandTile.memory.getOffset(
        RowMap::select(operandTile.map.fragment, fragment),
        step * plan.laneBytes * instruction.groups + byte);
    auto load =
        LLVM::LoadOp::create(t.b, t.loc, getWordsType(context, readBytes),
                             emitPointer(t, bases, offset, stage), readBytes);
    if (plan.isDirect())
      load.setNoaliasScopesAttr(directScopes);
    return load;
  };
  Type operand = instruction.getOperandType(context);
  // Splits a read that covers several operands.
  auto split = [&](Value words) {
    unsigned count = readBytes / instruction.operandBytes;
    if (count == 1)
      return SmallVector<Value>{bitcast(t, operand, words)};
    Type bits = IntegerType::get(context, 8 * instruction.operandBytes);
    Value parts = bitcast(t, VectorType::get({count}, bits), words);
    SmallVector<Value> operands;
    for (unsigned i = 0; i < count; ++i)
      operands.push_back(bitcast(t, operand, t.extract(parts, i)));
    return operands;
  };

  unsigned fragments = operandTile.map.getNumFragments();
  SmallVector<SmallVector<Value>> result(fragments);
  if (operandTile.memory.getPaired()) {
    for (unsigned byte = 0; byte < plan.laneBytes;
         byte += instruction.operandBytes)
      for (unsigned fragment = 0; fragment < fragments; fragment += 2)
        for (auto [i, value] : llvm::enumerate(split(read(fragment, byte))))
          result[fragment + i].push_back(value);
    return result;
  }
  for (unsigned fragment = 0; fragment < fragments; ++fragment) {
    if (plan.laneBytes <= kChunkBytes) {
      result[fragment] = split(read(fragment, 0));
      continue;
    }
    Value first = read(fragment, 0), second = read(fragment, kChunkBytes);
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, plan.laneBytes / 4));
    Value both = vector::ShuffleOp::create(t.b, t.loc, first, second, order);
    result[fragment].push_back(bitcast(t, operand, both));
  }
  return result;
}
