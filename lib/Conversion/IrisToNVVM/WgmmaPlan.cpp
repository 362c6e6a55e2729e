// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WgmmaPlan.cpp - Mapping of a matmul to warpgroups ------------------===//

#include "WgmmaPlan.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

/// A program has at most 32 warps.
static constexpr int64_t kMaxConsumerWarps = 32 - kWarpgroupWarps;

/// The number of columns of every instruction is a multiple of this.
static constexpr int64_t kColumnUnit = 16;

/// Bytes of a row of an mn-major operand.
static constexpr int64_t kChunkBytes = 128;

/// Plans one operand. `kDim` is the buffer's dimension along k, `groupExtent`
/// the rows or columns per warpgroup out of `extent`, and `room` the number of
/// them that the instructions read.
static WgmmaOperand planOperand(MemRefType buffer, int64_t kDim, int64_t extent,
                                int64_t groupExtent, int64_t room,
                                const WgmmaPlan &plan) {
  WgmmaOperand operand;
  operand.extent = extent;
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)buffer.getStridesAndOffset(strides, offset);
  int64_t elementBytes = plan.elementBytes;
  int64_t chunk = kChunkBytes / elementBytes;
  // Only 16-bit operands can be mn-major, and the rows of a warpgroup must
  // begin with a chunk.
  bool hasChunks = groupExtent % chunk == 0 || groupExtent >= extent;
  operand.kMajor = !(strides[1 - kDim] == 1 && strides[kDim] != 1 &&
                     elementBytes == 2 && hasChunks);
  if (operand.kMajor) {
    operand.rowBytes = plan.stageK * elementBytes;
    if (strides[kDim] == 1)
      operand.contiguous = static_cast<int>(kDim);
    operand.box[0] = plan.stageK;
    operand.box[1] = std::min<int64_t>(extent, 256);
    operand.numCopies = extent / operand.box[1];
  } else {
    operand.rowBytes = kChunkBytes;
    operand.contiguous = static_cast<int>(1 - kDim);
    operand.extent = llvm::alignTo(extent, chunk);
    operand.box[0] = chunk;
    operand.box[1] = plan.stageK;
    operand.numCopies = operand.extent / chunk;
  }
  operand.copyBytes = operand.extent * plan.stageK * elementBytes;
  operand.slotBytes =
      llvm::alignTo(std::max(operand.extent, room) * plan.stageK * elementBytes,
                    kSwizzleAlignment);
  return operand;
}

/// Registers of a thread for results; the others hold addresses and the values
/// of the epilogue.
static int64_t getMaxResultRegisters(int64_t numWarps) {
  return llvm::bit_floor(
      static_cast<uint64_t>(getConsumerRegisters(numWarps) - 24));
}

int64_t mlir::iris::getConsumerRegisters(int64_t numWarps) {
  int64_t rest = kRegisters - kProducerRegisters * kWarpgroupThreads;
  int64_t each = rest / (numWarps * kWarpgroupThreads / kWarpgroupWarps);
  return std::min(kMaxRegisters, each / kRegisterUnit * kRegisterUnit);
}

/// Rows and columns of the instructions that compute `op`: exchanged, and
/// padded, if it has too few rows.
static std::pair<int64_t, int64_t> getExtents(tile::MatmulOp op) {
  int64_t rows = op.getNumRows(), columns = op.getNumColumns();
  if (rows >= kMmaRows)
    return {rows, columns};
  return {std::max(columns, kMmaRows), rows};
}

/// Warpgroups along the rows and along the columns of the instructions.
static std::pair<int64_t, int64_t> splitGroups(tile::MatmulOp op,
                                               int64_t numWarps) {
  int64_t groups = numWarps / kWarpgroupWarps;
  int64_t groupsM = std::min(groups, getExtents(op).first / kMmaRows);
  return {groupsM, groups / groupsM};
}

std::string mlir::iris::findWgmmaMiss(tile::MatmulOp op, int64_t numWarps) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (numWarps % kWarpgroupWarps != 0) {
    os << "the kernel has " << numWarps << " warps; expected a multiple of "
       << kWarpgroupWarps << ", which multiply together";
    return text;
  }
  if (numWarps > kMaxConsumerWarps) {
    os << "the kernel has " << numWarps << " warps; expected at most "
       << kMaxConsumerWarps << ", which leaves " << kWarpgroupWarps
       << " to load operand tiles";
    return text;
  }
  if (getExtents(op).second < 8 * splitGroups(op, numWarps).second)
    os << "a result is " << op.getResult().getType() << ", for "
       << numWarps / kWarpgroupWarps << " groups of " << kWarpgroupWarps
       << " warps; expected for each group " << kMmaRows
       << " rows of 8 columns, or " << kMmaRows << " columns of 8 rows";
  return text;
}

FailureOr<WgmmaPlan> mlir::iris::planWgmma(tile::MatmulOp op,
                                           int64_t numWarps) {
  assert(findWgmmaMiss(op, numWarps).empty() && "multiplied by mma.sync");
  WgmmaPlan plan;
  plan.aElement = op.getAElementType();
  plan.bElement = op.getBElementType();
  plan.usesTensorCores =
      !plan.aElement.isF32() || op.getPrecision() == tile::Precision::tf32;
  for (Type element : {plan.aElement, plan.bElement})
    if (isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(element))
      return op.emitOpError("multiplies ")
             << element << "; expected f8E4M3FN or f8E5M2 on this target";
  plan.elementBytes = plan.aElement.getIntOrFloatBitWidth() / 8;
  plan.stepK = kStepBytes / plan.elementBytes;
  int64_t block = op.getBlock();
  plan.stageK = std::min(block, kChunkBytes / plan.elementBytes);
  plan.stagesPerBlock = block / plan.stageK;

  int64_t columns = op.getNumColumns(), rows = op.getNumRows();
  plan.isExchanged = rows < kMmaRows;
  plan.isPadded = plan.isExchanged && columns < kMmaRows;
  auto [mmaRows, mmaColumns] = getExtents(op);
  std::tie(plan.groupsM, plan.groupsN) = splitGroups(op, numWarps);
  plan.blocksM = mmaRows / plan.groupsM / kMmaRows;
  int64_t groupColumns = mmaColumns / plan.groupsN;
  plan.tileN = std::min<int64_t>(groupColumns, 256);
  plan.blocksN = groupColumns / plan.tileN;
  plan.mmaN = plan.tileN;
  // Omit unused columns if a single instruction covers all columns.
  if (plan.usesTensorCores && !plan.isExchanged && plan.tileN == columns)
    plan.mmaN = std::min<int64_t>(
        llvm::alignTo(op.getNumWantedColumns(), kColumnUnit), columns);

  if (plan.getNumRegisters() > getMaxResultRegisters(numWarps))
    return op.emitOpError("result is ")
           << op.getResult().getType() << ", " << plan.getNumRegisters()
           << " values in each of " << numWarps
           << " warps' threads; expected at most "
           << getMaxResultRegisters(numWarps) << " on this target";

  int64_t leftOut = plan.tileN - plan.mmaN;
  int64_t rowsOfGroup = plan.isExchanged ? groupColumns : plan.getGroupRows();
  int64_t columnsOfGroup =
      plan.isExchanged ? plan.getGroupRows() : groupColumns;
  plan.a = planOperand(op.getA().getType(), 1, rows, rowsOfGroup, rows, plan);
  plan.b = planOperand(op.getB().getType(), 0, columns - leftOut,
                       columnsOfGroup, plan.isPadded ? kMmaRows : 0, plan);
  tile::YieldOp yield = op.getYield();
  plan.a.isMasked = !yield || !yield.getA();
  plan.b.isMasked = !yield || !yield.getB();
  return plan;
}

/// In rows and columns of the instructions. Bit 0 of register i of m64nN
/// selects the next column, bit 1 the row eight below, higher bits groups of
/// eight columns. A lane holds two columns, four lanes hold a row of eight.
tile::LinearAttr mlir::iris::getAccumulatorLayout(MLIRContext *context,
                                                  const WgmmaPlan &plan) {
  Builder builder(context);
  SmallVector<Attribute> registers, lanes, warps;
  auto add = [&](SmallVector<Attribute> &bases, int64_t row, int64_t column) {
    if (plan.isExchanged)
      std::swap(row, column);
    bases.push_back(builder.getI64ArrayAttr({row, column}));
  };
  add(registers, 0, 1);
  add(registers, 8, 0);
  for (int64_t column = 8; column < plan.tileN; column *= 2)
    add(registers, 0, column);
  for (int64_t column = plan.tileN; column < plan.getGroupColumns();
       column *= 2)
    add(registers, 0, column);
  for (int64_t row = kMmaRows; row < plan.getGroupRows(); row *= 2)
    add(registers, row, 0);
  for (int64_t column : {2, 4})
    add(lanes, 0, column);
  for (int64_t row : {1, 2, 4})
    add(lanes, row, 0);
  for (int64_t row : {16, 32})
    add(warps, row, 0);
  for (int64_t group = 1; group < plan.groupsM; group *= 2)
    add(warps, group * plan.getGroupRows(), 0);
  for (int64_t group = 1; group < plan.groupsN; group *= 2)
    add(warps, 0, group * plan.getGroupColumns());
  return tile::LinearAttr::get(context, builder.getArrayAttr(registers),
                               builder.getArrayAttr(lanes),
                               builder.getArrayAttr(warps));
}

/// Only some of the warps hold the accumulators of a padded tile, so it gets
/// another layout.
tile::LinearAttr mlir::iris::getResultLayout(MLIRContext *context,
                                             const WgmmaPlan &plan,
                                             ArrayRef<int64_t> shape,
                                             int64_t numWarps) {
  if (!plan.isPadded)
    return getAccumulatorLayout(context, plan);
  Builder builder(context);
  int64_t threads = numWarps * 32, elements = shape[0] * shape[1];
  int64_t next = 1;
  // Contiguous elements of a row first; excess threads hold duplicates.
  auto deal = [&](int64_t count) {
    SmallVector<Attribute> bases;
    for (int64_t i = 1; i < count; i *= 2, next *= 2) {
      int64_t index = next < elements ? next : 0;
      bases.push_back(
          builder.getI64ArrayAttr({index / shape[1], index % shape[1]}));
    }
    return builder.getArrayAttr(bases);
  };
  ArrayAttr registers = deal(std::max<int64_t>(1, elements / threads));
  ArrayAttr lanes = deal(32);
  return tile::LinearAttr::get(context, registers, lanes, deal(numWarps));
}
