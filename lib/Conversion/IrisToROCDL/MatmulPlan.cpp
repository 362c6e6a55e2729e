// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatmulPlan.h"

#include "iris/Analysis/WorkgroupMemory.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

uint64_t RowMap::select(ArrayRef<unsigned> bits, uint64_t index) {
  uint64_t row = 0;
  for (auto [i, bit] : llvm::enumerate(bits))
    row |= ((index >> i) & 1) << bit;
  return row;
}

//===----------------------------------------------------------------------===//
// Banks
//===----------------------------------------------------------------------===//

/// True if no combination of `vectors` is 0 in the bits of `mask`.
static bool areIndependent(ArrayRef<unsigned> vectors, unsigned mask) {
  for (unsigned subset = 1; subset < (1u << vectors.size()); ++subset) {
    unsigned sum = 0;
    for (auto [i, vector] : llvm::enumerate(vectors))
      sum ^= (subset >> i) & 1 ? vector : 0;
    if ((sum & mask) == 0)
      return false;
  }
  return true;
}

OperandTileMemory::OperandTileMemory(unsigned rows, unsigned pitch,
                                     const RowMap &map,
                                     std::optional<unsigned> firstFilled,
                                     std::optional<unsigned> paired)
    : rows(rows), pitch(pitch), paired(paired),
      swizzles(llvm::Log2_32_Ceil(rows), 0) {
  // Eight threads store chunks of rows that differ in three bits.
  SmallVector<unsigned> filled;
  if (firstFilled)
    for (unsigned bit = *firstFilled;
         bit < swizzles.size() && filled.size() < 3; ++bit)
      filled.push_back(bit);
  chooseSwizzle(map.instruction, filled);
}

unsigned OperandTileMemory::getChunks() const {
  return std::max(1u, (paired ? 2 : 1) * pitch / kChunkBytes);
}

unsigned OperandTileMemory::getStep(unsigned bit) const {
  return getChunks() << (paired && bit > *paired ? bit - 1 : bit);
}

/// Chooses swizzles so that rows which differ in bits of `read`, and rows which
/// differ in bits of `filled`, select different ones of the chunks that the
/// banks hold at once: 8 chunks are 32 banks, 16 chunks are 64.
void OperandTileMemory::chooseSwizzle(ArrayRef<unsigned> read,
                                      ArrayRef<unsigned> filled) {
  SmallVector<unsigned> bits(read);
  for (unsigned bit : filled)
    if (!llvm::is_contained(bits, bit))
      bits.push_back(bit);
  auto fits = [&](ArrayRef<unsigned> together, unsigned count) {
    SmallVector<unsigned> moves;
    for (unsigned bit : together)
      if (llvm::is_contained(ArrayRef(bits).take_front(count), bit))
        moves.push_back(getStep(bit) ^ swizzles[bit]);
    return areIndependent(ArrayRef(moves).take_front(3), 7) &&
           areIndependent(moves, 15);
  };
  // The first choice that fits all.
  auto search = [&](auto &self, unsigned count) -> bool {
    if (count == bits.size())
      return true;
    unsigned &flip = swizzles[bits[count]];
    for (flip = 0; flip < getChunks(); ++flip)
      if (fits(read, count + 1) && fits(filled, count + 1) &&
          self(self, count + 1))
        return true;
    flip = 0;
    return false;
  };
  if (search(search, 0))
    return;
  // There is none: bit by bit what fits, those that are read first, without
  // regard to how they are filled.
  for (unsigned count = 0; count < bits.size(); ++count) {
    ArrayRef<unsigned> together = count < read.size() ? read : filled;
    unsigned &flip = swizzles[bits[count]];
    while (flip < getChunks() && !fits(together, count + 1))
      ++flip;
    if (flip == getChunks())
      flip = 0;
  }
}

uint64_t OperandTileMemory::getSwizzle(uint64_t row) const {
  uint64_t flip = 0;
  for (auto [bit, value] : llvm::enumerate(swizzles))
    if ((row >> bit) & 1)
      flip ^= value;
  return flip * kChunkBytes;
}

uint64_t OperandTileMemory::getOffset(uint64_t row, uint64_t byte) const {
  if (!paired)
    return row * pitch + (byte ^ getSwizzle(row));
  constexpr unsigned half = kChunkBytes / 2;
  uint64_t below = row & ((uint64_t(1) << *paired) - 1);
  uint64_t pair = below | (row >> (*paired + 1) << *paired);
  uint64_t inChunk = ((row >> *paired) & 1) * half + byte % half;
  return pair * 2 * pitch + (byte / half * kChunkBytes ^ getSwizzle(row)) +
         inChunk;
}

//===----------------------------------------------------------------------===//
// Who computes what
//===----------------------------------------------------------------------===//

/// Gives out the bits of a row's number, lowest first.
static RowMap mapColumns(const MatrixInstruction &instruction, unsigned bits,
                         unsigned warpBits) {
  RowMap map;
  unsigned fragmentBits = bits - warpBits - kMatrixBits;
  map.instruction.resize(kMatrixBits);
  unsigned next = 0;
  // First what one lane holds: 8 neighbours, 16 bytes of a 16-bit type.
  for (auto [i, source] : llvm::enumerate(instruction.rowBits))
    if (source.source == RowBit::Register)
      map.instruction[i] = next++;
  while (next < 3 && map.fragment.size() < fragmentBits)
    map.fragment.push_back(next++);
  for (auto [i, source] : llvm::enumerate(instruction.rowBits))
    if (source.source == RowBit::Group)
      map.instruction[i] = next++;
  while (map.fragment.size() < fragmentBits)
    map.fragment.push_back(next++);
  while (map.warp.size() < warpBits)
    map.warp.push_back(next++);
  return map;
}

/// The same; a lane has rows that differ in `first`, if that can be.
static RowMap mapRows(unsigned bits, unsigned warpBits,
                      std::optional<unsigned> first) {
  RowMap map;
  unsigned next = 0;
  while (map.instruction.size() < kMatrixBits) {
    if (first == next && bits > kMatrixBits + warpBits)
      map.fragment.push_back(next++);
    map.instruction.push_back(next++);
  }
  while (next < bits - warpBits)
    map.fragment.push_back(next++);
  while (next < bits)
    map.warp.push_back(next++);
  return map;
}

/// Registers of a thread that the result may take, half of what it has.
static unsigned getMaxAccumulators(unsigned warpSize, unsigned numWarps) {
  if (warpSize == 32)
    return 128;
  // Four SIMDs, each with 512 registers per lane for all waves on it.
  unsigned wavesPerSimd = std::max(1u, numWarps / 4);
  return std::min(256u, 512 / wavesPerSimd / 2);
}

//===----------------------------------------------------------------------===//
// Who fills what
//===----------------------------------------------------------------------===//

/// True if what a thread stores of a row is half a chunk.
static bool fillsHalves(const OperandTileCopy &fill, unsigned elementBytes) {
  return !fill.alongK && fill.rows > 1 &&
         2 * fill.ks * elementBytes == kChunkBytes;
}

/// `kDim` is the dimension of `buffer` along which k runs.
static OperandTileCopy planFill(MemRefType buffer, unsigned kDim, unsigned rows,
                                const ChipInfo &chip, const MatmulPlan &plan) {
  OperandTileCopy fill;
  SmallVector<int64_t> strides;
  int64_t offset;
  bool strided = succeeded(buffer.getStridesAndOffset(strides, offset));
  fill.alongK = !strided || strides[1 - kDim] != 1 || strides[kDim] == 1;
  fill.hasNeighbours = strided && (strides[0] == 1 || strides[1] == 1);

  unsigned bytes = plan.elementBytes;
  unsigned widest = kChunkBytes / bytes;
  unsigned budget = std::max(1u, rows * plan.block / plan.getNumThreads());
  auto grow = [&](unsigned &extent, unsigned limit) {
    while (extent * 2 <= limit && fill.rows * fill.ks * 2 <= budget)
      extent *= 2;
  };
  if (fill.alongK) {
    grow(fill.ks, std::min(widest, plan.block));
  } else {
    // Both loads and stores as wide as can be, but none narrower than a word
    // to have the other ones wide.
    unsigned word = std::max(1u, 4 / bytes);
    grow(fill.rows, std::min(word, rows));
    grow(fill.ks, std::min(word, plan.block));
    grow(fill.rows, std::min(widest, rows));
    grow(fill.ks, std::min(widest, plan.block));
  }

  unsigned rowBits = llvm::Log2_32(rows / fill.rows);
  unsigned kBits = llvm::Log2_32(plan.block / fill.ks);
  SmallVector<std::pair<unsigned, unsigned>> bits;
  auto addRows = [&] {
    for (unsigned i = 0; i < rowBits; ++i)
      bits.push_back({fill.rows << i, 0});
  };
  auto addKs = [&] {
    for (unsigned i = 0; i < kBits; ++i)
      bits.push_back({0, fill.ks << i});
  };
  // Neighbouring threads load neighbours.
  if (fill.alongK) {
    addKs();
    addRows();
  } else {
    addRows();
    addKs();
  }
  // There is such a lane: units are no larger than what each thread has to do.
  fill.isExchanged = chip.amd.hasPermlane32Swap && fillsHalves(fill, bytes);
  if (fill.isExchanged) {
    std::pair<unsigned, unsigned> nextHalf = bits[rowBits];
    bits.erase(bits.begin() + rowBits);
    bits.insert(bits.begin() + kExchangeLaneBit, nextHalf);
  }
  unsigned threadBits = llvm::Log2_32(plan.getNumThreads());
  for (auto [i, bit] : llvm::enumerate(bits))
    (i < threadBits ? fill.threadBits : fill.unitBits).push_back(bit);
  fill.isDirect = chip.amd.directLoadBytes == kChunkBytes && fill.alongK &&
                  fill.hasNeighbours && fill.ks * bytes == kChunkBytes &&
                  bits.size() >= threadBits;
  fill.numOwners = 1u << fill.threadBits.size();
  fill.threadBits.resize(threadBits, {0, 0});
  fill.unitsPerThread = 1u << fill.unitBits.size();
  return fill;
}

/// The bit in which two rows differ whose halves of chunks should be together:
/// a thread stores both, and each is an operand of its own.
static std::optional<unsigned> getPairedBit(const OperandTileCopy &fill,
                                            const MatmulPlan &plan) {
  if (fill.isExchanged || !fillsHalves(fill, plan.elementBytes) ||
      2 * plan.instruction.operandBytes != kChunkBytes ||
      plan.laneBytes != kChunkBytes)
    return std::nullopt;
  return fill.getPartnerBit();
}

static void planMemory(OperandTilePlan &operandTile, const MatmulPlan &plan) {
  std::optional<unsigned> firstFilled,
      paired = getPairedBit(operandTile.fill, plan);
  if (!operandTile.fill.alongK)
    firstFilled = llvm::Log2_32(operandTile.fill.rows);
  // Operands that are read together are of neighbouring fragments.
  if (operandTile.map.fragment.empty() ||
      paired != operandTile.map.fragment.front())
    paired = std::nullopt;
  operandTile.memory =
      OperandTileMemory(operandTile.rows, plan.block * plan.elementBytes,
                        operandTile.map, firstFilled, paired);
  // All units of a thread permute their chunks alike.
  for (auto [row, k] : operandTile.fill.unitBits)
    operandTile.fill.isDirect &= operandTile.memory.getSwizzle(row) == 0;
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// Two blocks, one to read and one to fill, need only one barrier per block.
/// That is not worth the shared memory of a second program on the compute unit,
/// whose instructions fill the time in which this one waits.
static unsigned planStages(const MatmulPlan &plan, unsigned accumulators,
                           uint64_t maxBytes) {
  uint64_t stageBytes = plan.getStageBytes();
  if (2 * stageBytes > maxBytes)
    return 1;
  // Operands, what is on its way, and addresses take some 80 registers.
  unsigned registers = plan.warpSize == 64 ? 512 : 1024;
  unsigned wavesPerSimd = registers / (accumulators + 80);
  uint64_t programs = std::max(1u, wavesPerSimd * 4 / plan.numWarps);
  uint64_t wanted =
      std::min<uint64_t>(2, std::min(programs, maxBytes / stageBytes));
  return maxBytes / (2 * stageBytes) >= wanted ? 2 : 1;
}

bool mlir::iris::readsWorkgroupMemory(tile::MatmulOp op) {
  SmallVector<Value> buffers = {op.getA(), op.getB()};
  if (tile::YieldOp yield = op.getYield())
    buffers.append({yield.getA(), yield.getB()});
  return llvm::any_of(buffers, [](Value buffer) {
    return buffer && isWorkgroupMemory(cast<MemRefType>(buffer.getType()));
  });
}

FailureOr<MatmulPlan> mlir::iris::planMatmul(tile::MatmulOp op,
                                             const ChipInfo &chip,
                                             unsigned numWarps) {
  FailureOr<MatrixInstruction> instruction = getMatrixInstruction(chip, op);
  if (failed(instruction))
    return failure();
  MatmulPlan plan;
  plan.instruction = *instruction;
  plan.numWarps = numWarps;
  plan.warpSize = chip.waveSize;
  plan.buffersCheckBounds = chip.amd.buffersCheckBounds;
  plan.elementBytes = op.getA().getType().getElementTypeBitWidth() / 8;
  plan.block = op.getBlock();
  plan.a.rows = op.getNumRows();
  plan.b.rows = op.getNumColumns();

  unsigned places = plan.a.rows / kMatrixSize * (plan.b.rows / kMatrixSize);
  // Where there are more waves than places, several compute the same one.
  unsigned parts = std::min(numWarps, places);
  unsigned accumulators = plan.a.rows * plan.b.rows / (parts * plan.warpSize);
  unsigned most = getMaxAccumulators(plan.warpSize, numWarps);
  if (accumulators > most)
    return op.emitOpError("gives ")
           << op.getResult().getType() << ", " << accumulators
           << " elements in each thread of " << numWarps
           << " waves; expected at most " << most << " on " << chip.name;

  // Waves get parts of the result that are as square as can be: what they read
  // is the sum of both sides.
  unsigned warpRows = 1, warpColumns = 1;
  while (warpRows * warpColumns < parts) {
    unsigned rows = plan.a.rows / warpRows, columns = plan.b.rows / warpColumns;
    bool canRows = rows > kMatrixSize, canColumns = columns > kMatrixSize;
    if (canRows && (!canColumns || rows >= columns))
      warpRows *= 2;
    else
      warpColumns *= 2;
  }
  unsigned blockBytes = plan.block * plan.elementBytes;
  unsigned groups = plan.instruction.groups;
  plan.laneBytes = std::max(plan.instruction.operandBytes,
                            std::min(kChunkBytes, blockBytes / groups));
  plan.numSteps = blockBytes / (plan.laneBytes * groups);

  plan.a.fill =
      planFill(op.getA().getType(), /*kDim=*/1, plan.a.rows, chip, plan);
  plan.b.fill =
      planFill(op.getB().getType(), /*kDim=*/0, plan.b.rows, chip, plan);
  // Wide loads go through a description of global memory.
  if (readsWorkgroupMemory(op))
    for (OperandTileCopy *fill : {&plan.a.fill, &plan.b.fill})
      fill->hasNeighbours = fill->isDirect = false;
  plan.a.map = mapRows(llvm::Log2_32(plan.a.rows), llvm::Log2_32(warpRows),
                       getPairedBit(plan.a.fill, plan));
  plan.b.map = mapColumns(plan.instruction, llvm::Log2_32(plan.b.rows),
                          llvm::Log2_32(warpColumns));
  planMemory(plan.a, plan);
  planMemory(plan.b, plan);
  plan.stages = planStages(plan, accumulators, chip.maxSharedBytes);
  return plan;
}

//===----------------------------------------------------------------------===//
// Layout of the result
//===----------------------------------------------------------------------===//

tile::LinearAttr mlir::iris::getResultLayout(MLIRContext *context,
                                             const MatmulPlan &plan) {
  Builder b(context);
  auto basis = [&](int64_t row, int64_t column) -> Attribute {
    return b.getI64ArrayAttr({row, column});
  };
  SmallVector<Attribute> registers, lanes, warps;
  auto addColumnBits = [&](RowBit::Source source,
                           SmallVectorImpl<Attribute> &bases) {
    for (auto [i, bit] : llvm::enumerate(plan.instruction.rowBits))
      if (bit.source == source)
        bases.push_back(basis(0, int64_t(1) << plan.b.map.instruction[i]));
  };
  addColumnBits(RowBit::Register, registers);
  for (unsigned bit : plan.b.map.fragment)
    registers.push_back(basis(0, int64_t(1) << bit));
  for (unsigned bit : plan.a.map.fragment)
    registers.push_back(basis(int64_t(1) << bit, 0));
  for (unsigned bit : plan.a.map.instruction)
    lanes.push_back(basis(int64_t(1) << bit, 0));
  addColumnBits(RowBit::Group, lanes);
  for (unsigned bit : plan.b.map.warp)
    warps.push_back(basis(0, int64_t(1) << bit));
  for (unsigned bit : plan.a.map.warp)
    warps.push_back(basis(int64_t(1) << bit, 0));
  // The other waves have copies.
  warps.resize(llvm::Log2_32(plan.numWarps), basis(0, 0));
  return tile::LinearAttr::get(context, b.getArrayAttr(registers),
                               b.getArrayAttr(lanes), b.getArrayAttr(warps));
}
