// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MmaPlan.cpp - How a matmul is spread over mma.sync -----------------===//

#include "MmaPlan.h"

#include "iris/Analysis/WorkgroupMemory.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

/// Bytes that the banks of shared memory hold at once.
static constexpr unsigned kBankBytes = 128;

/// Results of a thread: the others of its 255 registers are for operands,
/// addresses and the epilogue.
static constexpr unsigned kMaxResults = 128;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

uint64_t MmaOperand::getChunkOffset(unsigned line, unsigned byte) const {
  unsigned pitch = getLineBytes();
  // Lines that share a row of banks differ in the chunk anyway.
  unsigned linesPerBankRow = std::max(1u, kBankBytes / pitch);
  unsigned chunks = std::min(pitch, kBankBytes) / kChunkBytes;
  unsigned swizzle = line / linesPerBankRow % chunks;
  return uint64_t(line) * pitch + (byte ^ swizzle * kChunkBytes);
}

uint64_t MmaOperand::getOffset(OperandElementIndex element) const {
  unsigned line = isKMajor ? element.row : element.k;
  unsigned byte = (isKMajor ? element.k : element.row) * elementBytes;
  return getChunkOffset(line, byte & ~(kChunkBytes - 1)) + byte % kChunkBytes;
}

SmallVector<OperandElementIndex> MmaOperand::getLdMatrixLanes() const {
  // Eight lanes pass the lines of a matrix: 8 rows by 16 bytes of k or, to be
  // transposed, 8 values of k by 8 rows. Registers 1 and 2 of a hold the next
  // rows and the next values of k; those of b the reverse.
  unsigned half = kChunkBytes / elementBytes;
  SmallVector<OperandElementIndex> lanes;
  for (unsigned line : {1, 2, 4})
    lanes.push_back(isKMajor ? OperandElementIndex{line, 0}
                             : OperandElementIndex{0, line});
  OperandElementIndex rows{8, 0}, ks{0, half};
  if (kDim == 1)
    lanes.append({rows, ks});
  else
    lanes.append({ks, rows});
  return lanes;
}

SmallVector<OperandElementIndex> MmaOperand::getFragmentLanes() const {
  // Four lanes hold 16 bytes of k of a row, four bytes each.
  unsigned each = 4 / elementBytes;
  return {{0, each}, {0, 2 * each}, {1, 0}, {2, 0}, {4, 0}};
}

OperandElementIndex MmaOperand::getFragmentRegister(unsigned reg) const {
  unsigned half = kChunkBytes / elementBytes;
  bool isA = kDim == 1;
  unsigned rowBit = isA ? reg & 1 : reg >> 1, kBit = isA ? reg >> 1 : reg & 1;
  return {8 * rowBit, half * kBit};
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// PTX's name of a type with 8 bits or fewer bits of exponent; empty if the
/// tensor cores do not multiply it.
static StringRef getFloat8Name(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return "";
}

static FailureOr<std::string> getIntrinsic(tile::MatmulOp op,
                                           const ChipInfo &chip) {
  Type a = op.getAElementType(), b = op.getBElementType();
  constexpr StringLiteral prefix = "llvm.nvvm.mma.";
  if (a.isF16())
    return (prefix + "m16n8k16.row.col.f32.f32").str();
  if (a.isBF16())
    return (prefix + "m16n8k16.row.col.bf16").str();
  if (a.isInteger(8))
    return (prefix + "m16n8k32.row.col.s8").str();
  if (a.isF32())
    return op.getPrecision() == tile::Precision::tf32
               ? (prefix + "m16n8k8.row.col.tf32").str()
               : std::string();
  StringRef aName = getFloat8Name(a), bName = getFloat8Name(b);
  if (chip.nvidia.hasFloat8Mma && !aName.empty() && !bName.empty())
    return (prefix + "m16n8k32.row.col.f32." + aName + "." + bName + ".f32")
        .str();
  return op.emitOpError("multiplies ")
         << a << " by " << b << " on " << chip.name
         << "; expected f16, bf16, f32, i8"
         << (chip.nvidia.hasFloat8Mma ? ", f8E4M3FN or f8E5M2" : "");
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

static MmaOperand planOperand(MemRefType buffer, unsigned kDim, unsigned rows,
                              const MmaPlan &plan) {
  MmaOperand operand;
  operand.kDim = kDim;
  operand.rows = rows;
  operand.block = plan.block;
  operand.elementBytes = plan.aElement.getIntOrFloatBitWidth() / 8;
  SmallVector<int64_t> strides;
  int64_t offset;
  bool strided = succeeded(buffer.getStridesAndOffset(strides, offset));
  bool hasContiguousRows =
      strided && strides[1 - kDim] == 1 && strides[kDim] != 1;
  // A fragment is transposed in units of 16 bits by ldmatrix, of 32 bits by
  // loads, and not at all in smaller ones.
  operand.isKMajor = !hasContiguousRows || operand.elementBytes == 1;
  operand.hasContiguousLines =
      strided && strides[operand.isKMajor ? kDim : 1 - kDim] == 1 &&
      !isWorkgroupMemory(buffer);
  return operand;
}

/// The type of what the region of `op` names, or `operand`'s.
static MemRefType getBufferType(Value operand, Value yielded) {
  return cast<MemRefType>((yielded ? yielded : operand).getType());
}

FailureOr<MmaPlan> mlir::iris::planMma(tile::MatmulOp op, const ChipInfo &chip,
                                       unsigned numWarps) {
  FailureOr<std::string> intrinsic = getIntrinsic(op, chip);
  if (failed(intrinsic))
    return failure();
  MmaPlan plan;
  plan.intrinsic = *intrinsic;
  plan.aElement = op.getAElementType();
  plan.bElement = op.getBElementType();
  plan.resultElement = op.getResult().getType().getElementType();
  plan.numWarps = numWarps;
  plan.block = op.getBlock();
  unsigned rows = op.getNumRows(), columns = op.getNumColumns();
  auto type = op.getResult().getType();

  // Where there are more warps than fragments, several compute the same one.
  unsigned fragments = rows / kFragmentRows * (columns / kFragmentRows);
  unsigned parts = std::min(numWarps, fragments);
  // Parts of the result that are as square as possible: what a warp reads is
  // the sum of both sides.
  while (plan.warpRows * plan.warpColumns < parts) {
    unsigned partRows = rows / plan.warpRows,
             partColumns = columns / plan.warpColumns;
    bool canSplitRows = partRows > kFragmentRows;
    bool canSplitColumns = partColumns > kFragmentRows;
    if (canSplitRows && (!canSplitColumns || partRows >= partColumns))
      plan.warpRows *= 2;
    else
      plan.warpColumns *= 2;
  }
  tile::YieldOp yield = op.getYield();
  plan.a = planOperand(getBufferType(op.getA(), yield ? yield.getA() : Value()),
                       /*kDim=*/1, rows, plan);
  plan.b = planOperand(getBufferType(op.getB(), yield ? yield.getB() : Value()),
                       /*kDim=*/0, columns, plan);
  plan.b.start = plan.a.getBytes();
  if (plan.getNumResults() > kMaxResults)
    return op.emitOpError("gives ")
           << type << ", " << plan.getNumResults()
           << " elements in each thread of " << numWarps
           << " warps; expected at most " << kMaxResults << " on " << chip.name;
  return plan;
}

tile::LinearAttr mlir::iris::getResultLayout(MLIRContext *context,
                                             const MmaPlan &plan) {
  Builder builder(context);
  SmallVector<Attribute> registers, lanes, warps;
  auto add = [&](SmallVector<Attribute> &bases, int64_t row, int64_t column) {
    bases.push_back(builder.getI64ArrayAttr({row, column}));
  };
  int64_t warpRows = plan.a.rows / plan.warpRows;
  int64_t warpColumns = plan.b.rows / plan.warpColumns;
  add(registers, 0, 1);
  add(registers, 8, 0);
  for (int64_t column = 8; column < warpColumns; column *= 2)
    add(registers, 0, column);
  for (int64_t row = kFragmentRows; row < warpRows; row *= 2)
    add(registers, row, 0);
  for (int64_t column : {2, 4})
    add(lanes, 0, column);
  for (int64_t row : {1, 2, 4})
    add(lanes, row, 0);
  for (int64_t column = warpColumns; column < plan.b.rows; column *= 2)
    add(warps, 0, column);
  for (int64_t row = warpRows; row < plan.a.rows; row *= 2)
    add(warps, row, 0);
  // The other warps have copies.
  while (warps.size() < llvm::Log2_32(plan.numWarps))
    add(warps, 0, 0);
  return tile::LinearAttr::get(context, builder.getArrayAttr(registers),
                               builder.getArrayAttr(lanes),
                               builder.getArrayAttr(warps));
}
