// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WgmmaPlan.cpp - How a matmul is spread over warpgroups -------------===//

#include "WgmmaPlan.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

/// A program has 32 warps at most.
static constexpr int64_t kMostConsumerWarps = 32 - kWarpgroupWarps;

/// Instructions of every type take a multiple of so many columns.
static constexpr int64_t kColumnUnit = 16;

/// Bytes of a row of an operand that lies mn-major.
static constexpr int64_t kChunkBytes = 128;

/// Extents that every target multiplies; of tiles with fewer than `kMmaRows`
/// rows none may be smaller.
static constexpr int64_t kLeastExtent = 16;

/// Plans one operand; `kDim` is the buffer's dimension along k.
/// `groupExtent` is what a warpgroup takes of `extent` rows or columns; `room`
/// is how many of them the instructions read.
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
  // Only 16-bit operands can be multiplied the other way round, and a group's
  // part begins with a chunk.
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

/// Registers of a thread that may hold results: the others are for addresses
/// and for what the epilogue computes.
static int64_t getMostResults(int64_t numWarps) {
  return llvm::bit_floor(
      static_cast<uint64_t>(getConsumerRegisters(numWarps) - 24));
}

int64_t mlir::iris::getConsumerRegisters(int64_t numWarps) {
  int64_t rest = kRegisters - kProducerRegisters * kWarpgroupThreads;
  int64_t each = rest / (numWarps * kWarpgroupThreads / kWarpgroupWarps);
  return std::min(kMostRegisters, each / kRegisterUnit * kRegisterUnit);
}

FailureOr<WgmmaPlan> mlir::iris::planWgmma(tile::MatmulOp op,
                                           int64_t numWarps) {
  if (numWarps % kWarpgroupWarps != 0)
    return op.emitOpError("is in a kernel of ")
           << numWarps << " warps; expected a multiple of " << kWarpgroupWarps
           << ", which multiply together on this target";
  if (numWarps > kMostConsumerWarps)
    return op.emitOpError("is in a kernel of ")
           << numWarps << " warps; expected at most " << kMostConsumerWarps
           << ", which leaves " << kWarpgroupWarps
           << " to load operand tiles, on this target";
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
  if (block < plan.stepK)
    return op.emitOpError("has k-blocks of ")
           << block << " " << plan.aElement << "; expected at least "
           << plan.stepK << " on this target";
  plan.stageK = std::min(block, kChunkBytes / plan.elementBytes);
  plan.stagesPerBlock = block / plan.stageK;

  int64_t rows = op.getNumRows(), columns = op.getNumColumns();
  int64_t groups = numWarps / kWarpgroupWarps;
  plan.isExchanged = rows < kMmaRows;
  plan.isPadded = plan.isExchanged && columns < kMmaRows;
  int64_t mmaRows = plan.isExchanged ? std::max(columns, kMmaRows) : rows;
  int64_t mmaColumns = plan.isExchanged ? rows : columns;
  plan.groupsM = std::min(groups, mmaRows / kMmaRows);
  plan.groupsN = groups / plan.groupsM;
  if (mmaColumns < 8 * plan.groupsN ||
      (plan.isExchanged && std::min(rows, columns) < kLeastExtent))
    return op.emitOpError("result is ")
           << op.getResult().getType() << ", for " << groups << " groups of "
           << kWarpgroupWarps << " warps; expected at least " << kLeastExtent
           << " rows and " << kLeastExtent << " columns, or " << kMmaRows
           << " rows, and for each group " << kMmaRows
           << " rows of 8 columns, or " << kMmaRows
           << " columns of 8 rows, on this target";
  plan.blocksM = mmaRows / plan.groupsM / kMmaRows;
  int64_t groupColumns = mmaColumns / plan.groupsN;
  plan.tileN = std::min<int64_t>(groupColumns, 256);
  plan.blocksN = groupColumns / plan.tileN;
  plan.mmaN = plan.tileN;
  // Columns that nobody wants are left out where one instruction has all.
  if (plan.usesTensorCores && !plan.isExchanged && plan.tileN == columns)
    plan.mmaN = std::min<int64_t>(
        llvm::alignTo(op.getNumWantedColumns(), kColumnUnit), columns);

  if (plan.getNumRegisters() > getMostResults(numWarps))
    return op.emitOpError("result is ")
           << op.getResult().getType() << ", " << plan.getNumRegisters()
           << " values in each of " << numWarps
           << " warps' threads; expected at most " << getMostResults(numWarps)
           << " on this target";

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

/// In rows and columns of the instructions: register i of m64nN has in bit 0
/// the next column, in bit 1 eight rows below, in the others groups of eight
/// columns; lanes hold two columns each, four of them a row.
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

/// Whoever has the accumulators of a padded tile is some of the warps.
tile::LinearAttr mlir::iris::getResultLayout(MLIRContext *context,
                                             const WgmmaPlan &plan,
                                             ArrayRef<int64_t> shape,
                                             int64_t numWarps) {
  if (!plan.isPadded)
    return getAccumulatorLayout(context, plan);
  Builder builder(context);
  int64_t threads = numWarps * 32, elements = shape[0] * shape[1];
  int64_t next = 1;
  // Neighbours of a row first; whoever comes last has duplicates.
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
