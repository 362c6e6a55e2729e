// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileMatmulOps.cpp - Verifiers and effects of the matmul loop -------===//

#include "iris/Dialect/Tile/IR/Tile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type MatmulOp::getAElementType() {
  return getAType().value_or(getA().getType().getElementType());
}

Type MatmulOp::getBElementType() {
  return getBType().value_or(getB().getType().getElementType());
}

YieldOp MatmulOp::getYield() {
  return getBody().empty() ? YieldOp()
                           : cast<YieldOp>(getBody().front().getTerminator());
}

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType,
             Float8E5M2FNUZType>(type);
}

/// The element type of the result; null if the operand types are not supported.
static Type getResultElement(Type a, Type b) {
  Type f32 = Float32Type::get(a.getContext());
  if (isFloat8(a) && isFloat8(b))
    return f32;
  if (a != b)
    return Type();
  if (a.isF16() || a.isBF16() || a.isF32())
    return f32;
  if (a.isInteger(8))
    return IntegerType::get(a.getContext(), 32);
  return Type();
}

//===----------------------------------------------------------------------===//
// MatmulOp
//===----------------------------------------------------------------------===//

/// Rows and columns of the smallest result that every target computes.
static constexpr int64_t kMinExtent = 16;
/// Values of k in a k-block. No target's shared memory holds more than the
/// maximum for its smallest result.
static constexpr int64_t kMinBlock = 16, kMaxBlock = 4096;
/// What matrix instructions take of a row at once.
static constexpr int64_t kMinBlockBytes = 32;

void MatmulOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getAMutable());
  effects.emplace_back(MemoryEffects::Read::get(), &getBMutable());
  // Buffers of the region are not operands of this op.
  if (YieldOp yield = getYield(); yield && yield.getA())
    effects.emplace_back(MemoryEffects::Read::get());
}

static LogicalResult verifyOperandTile(MatmulOp op, StringRef name,
                                       MemRefType buffer, size_t numOffsets) {
  if (buffer.getRank() != 2)
    return op.emitOpError(name)
           << " is " << buffer << " with " << buffer.getRank()
           << " dimensions; expected 2";
  if (numOffsets != 2)
    return op.emitOpError(name)
           << " has " << numOffsets << " offsets; expected 2";
  return success();
}

static LogicalResult verifyElementNames(MatmulOp op) {
  if (!op.getAType())
    return success();
  for (auto [type, buffer] : {std::pair(*op.getAType(), op.getA().getType()),
                              std::pair(*op.getBType(), op.getB().getType())}) {
    if (!isFloat8(type))
      return op.emitOpError("`as` names ") << type << "; expected an f8 type";
    if (!buffer.getElementType().isInteger(8))
      return op.emitOpError("`as` names ")
             << type << " for " << buffer << "; expected a buffer of i8";
  }
  return success();
}

LogicalResult MatmulOp::verify() {
  if (failed(verifyOperandTile(*this, "a", getA().getType(),
                               getAOffsets().size())) ||
      failed(verifyOperandTile(*this, "b", getB().getType(),
                               getBOffsets().size())) ||
      failed(verifyElementNames(*this)))
    return failure();

  Type a = getAElementType(), b = getBElementType();
  Type element = getResultElement(a, b);
  if (!element)
    return emitOpError("multiplies ")
           << a << " by " << b
           << "; expected f16, bf16, f32 or i8 for both, or f8 types";
  RankedTensorType result = getResult().getType();
  if (result.getRank() != 2 || result.getElementType() != element)
    return emitOpError("result is ")
           << result << "; expected a tile of two dimensions of " << element;
  if (getPrecision() == Precision::tf32 && !a.isF32())
    return emitOpError("has precision(tf32) for ") << a << "; expected f32";
  int64_t block = getBlock();
  int64_t leastBlock = std::max(kMinBlock, kMinBlockBytes / getElementBytes(a));
  if (block < leastBlock || block > kMaxBlock || !llvm::isPowerOf2_64(block))
    return emitOpError("has k-blocks of ")
           << block << " for " << a << "; expected a power of two from "
           << leastBlock << " to " << kMaxBlock;
  if (failed(verifyTileShape(*this, result)))
    return failure();
  if (getNumRows() < kMinExtent || getNumColumns() < kMinExtent)
    return emitOpError("gives ") << result << "; expected at least "
                                 << kMinExtent << " rows and columns";
  int64_t wanted = getNumWantedColumns();
  if (wanted < 1 || wanted > getNumColumns())
    return emitOpError("wants ") << wanted << " columns of " << result
                                 << "; expected 1 to " << getNumColumns();
  return success();
}

/// Verifies that a buffer of the yield can replace `operand`.
static LogicalResult verifyReplacement(YieldOp yield, StringRef name,
                                       MemRefType operand, Value buffer,
                                       size_t numOffsets) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getRank() != 2 || numOffsets != 2)
    return yield.emitOpError("reads ")
           << name << " from " << type << " at " << numOffsets
           << " offsets; expected 2 dimensions and 2 offsets";
  if (type.getElementType() != operand.getElementType() ||
      type.getLayout() != operand.getLayout())
    return yield.emitOpError("reads ")
           << name << " from " << type
           << "; expected the element type and strides of " << operand;
  return success();
}

LogicalResult MatmulOp::verifyRegions() {
  if (getBody().empty())
    return success();
  Block &block = getBody().front();
  if (block.getNumArguments() != 1 || !block.getArgument(0).getType().isIndex())
    return emitOpError("region has arguments (")
           << block.getArgumentTypes()
           << "); expected the number of the k-block, index";
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitOpError("region ends with '")
           << block.back().getName() << "'; expected 'tile.yield'";
  if (yield.getB() && !yield.getA())
    return yield.emitOpError(
        "has a location for b only; expected one for a before it");
  if (yield.getA() &&
      failed(verifyReplacement(yield, "a", getA().getType(), yield.getA(),
                               yield.getAOffsets().size())))
    return failure();
  if (yield.getB() &&
      failed(verifyReplacement(yield, "b", getB().getType(), yield.getB(),
                               yield.getBOffsets().size())))
    return failure();

  WalkResult walked = getBody().walk([&](Operation *op) {
    auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
    if (llvm::any_of(op->getOperandTypes(), isTile) ||
        llvm::any_of(op->getResultTypes(), isTile)) {
      op->emitOpError("uses tiles in the region of 'tile.matmul'; expected "
                      "scalars");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}
