// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Values.cpp - Values of one program in one world --------------------===//
#include "Values.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

SmallVector<unsigned> Position::members() const {
  if (!group.empty())
    return group;
  return llvm::to_vector(llvm::seq<unsigned>(0, numRanks));
}

std::optional<int64_t> Values::getNumber(Value value) const {
  Scalar scalar = get(value);
  if (!scalar.number || scalar.number.getValue().getSignificantBits() > 64)
    return std::nullopt;
  return scalar.number.getValue().getSExtValue();
}

void Values::copy(Value from, Value to) {
  Scalar scalar = get(from);
  Buffer buffer = getBuffer(from);
  clear(to);
  if (scalar.isKnown())
    set(to, scalar);
  if (buffer.root != Buffer::kUnknown)
    set(to, buffer);
}

void Values::clear(Value value) {
  scalars.erase(value);
  buffers.erase(value);
}

int64_t mlir::iris::sync::getUnit(MemRefType type) {
  Type element = type.getElementType();
  return type.getRank() == 1 && element.isIntOrIndexOrFloat()
             ? tile::getElementBytes(element)
             : 1;
}

std::optional<int64_t> Values::getSize(memref::DimOp dim) const {
  auto type = dyn_cast<MemRefType>(dim.getSource().getType());
  std::optional<int64_t> index = getNumber(dim.getIndex());
  if (!type || !index || *index < 0 || *index >= type.getRank())
    return std::nullopt;
  if (!type.isDynamicDim(*index))
    return type.getDimSize(*index);
  Buffer buffer = getBuffer(dim.getSource());
  if (*index >= int64_t(buffer.sizes.size()))
    return std::nullopt;
  return buffer.sizes[*index];
}

std::optional<int64_t> Values::getIndex(OpFoldResult value) const {
  auto dynamic = dyn_cast<Value>(value);
  std::optional<int64_t> index =
      dynamic ? getNumber(dynamic) : getConstantIntValue(value);
  if (index && (*index < -kMostIndex || *index > kMostIndex))
    return std::nullopt;
  return index;
}

/// A subview of as many dimensions, whose elements are neighbours.
Buffer Values::getSubview(memref::SubViewOp subview) const {
  Buffer buffer = getBuffer(subview.getSource());
  MemRefType type = subview.getSourceType();
  buffer.isExact &= type.getRank() == subview.getType().getRank();
  buffer.origin.resize(type.getRank(), 0);
  for (auto [at, offset, step] :
       llvm::zip(buffer.origin, subview.getMixedOffsets(),
                 subview.getMixedStrides())) {
    std::optional<int64_t> number = getIndex(offset);
    buffer.isExact &= number && getConstantIntValue(step) == 1;
    at += number.value_or(0) * getUnit(type);
  }
  buffer.sizes.clear();
  for (OpFoldResult size : subview.getMixedSizes())
    buffer.sizes.push_back(getIndex(size));
  return buffer;
}

/// Elements of another type in a buffer of bytes.
Buffer Values::getView(memref::ViewOp view) const {
  Buffer buffer = getBuffer(view.getSource());
  std::optional<int64_t> shift = getIndex(view.getByteShift());
  std::optional<int64_t> size;
  if (!buffer.sizes.empty())
    size = buffer.sizes.front();
  // A view outside of its buffer is of another one.
  if (!shift || *shift < 0 || (size && *shift >= *size))
    return Buffer();
  buffer.isExact &= view.getType().getRank() == 1;
  buffer.origin.resize(1, 0);
  buffer.origin.front() += *shift;
  buffer.sizes.clear();
  unsigned dynamic = 0;
  for (int64_t extent : view.getType().getShape())
    buffer.sizes.push_back(ShapedType::isDynamic(extent)
                               ? getIndex(view.getSizes()[dynamic++])
                               : std::optional<int64_t>(extent));
  return buffer;
}

/// The answer of an op that asks for the world, the launch or a size.
std::optional<int64_t> Values::queryWorld(Operation *op) const {
  SmallVector<unsigned> members = position.members();
  using Answer = std::optional<int64_t>;
  return llvm::TypeSwitch<Operation *, Answer>(op)
      .Case([&](RankOp) { return position.rank; })
      .Case([&](NumRanksOp) { return position.numRanks; })
      .Case([&](GroupSizeOp) { return members.size(); })
      .Case([&](GroupIndexOp) -> Answer {
        const auto *own = llvm::find(members, position.rank);
        if (own == members.end())
          return std::nullopt;
        return own - members.begin();
      })
      .Case([&](GroupMemberOp member) -> Answer {
        std::optional<int64_t> index = getNumber(member.getMember());
        if (!index || *index < 0 || *index >= int64_t(members.size()))
          return std::nullopt;
        return members[*index];
      })
      .Case([&](gpu::BlockIdOp id) {
        return position.block[static_cast<unsigned>(id.getDimension())];
      })
      .Case([&](gpu::GridDimOp dim) -> Answer {
        if (!position.grid)
          return std::nullopt;
        return (*position.grid)[static_cast<unsigned>(dim.getDimension())];
      })
      .Case([&](memref::DimOp dim) { return getSize(dim); })
      .Default([](Operation *) { return std::nullopt; });
}

/// Computes a buffer from others; false if the op is of another kind.
bool Values::evaluateBuffer(Operation *op) {
  if (op->getNumResults() == 0 || !isa<MemRefType>(op->getResult(0).getType()))
    return false;
  for (Value result : op->getResults())
    clear(result);
  Value result = op->getResult(0);
  if (isa<memref::CastOp, memref::MemorySpaceCastOp, memref::AssumeAlignmentOp>(
          op)) {
    copy(op->getOperand(0), result);
    return true;
  }
  if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
    set(result, getSubview(subview));
    return true;
  }
  if (auto view = dyn_cast<memref::ViewOp>(op)) {
    set(result, getView(view));
    return true;
  }
  if (isa<memref::TransposeOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(
          op)) {
    Buffer buffer = getBuffer(op->getOperand(0));
    buffer.isExact = false;
    buffer.sizes.clear();
    set(result, buffer);
    return true;
  }
  if (auto translate = dyn_cast<TranslateOp>(op)) {
    Buffer buffer = getBuffer(translate.getSource());
    std::optional<int64_t> rank = getNumber(translate.getRank());
    if (rank && *rank >= 0 && buffer.root >= 0) {
      buffer.rank = *rank;
      set(result, buffer);
    }
    return true;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (std::optional<int64_t> condition = getNumber(select.getCondition()))
      copy(*condition ? select.getTrueValue() : select.getFalseValue(), result);
    return true;
  }
  // Other views may reach other memory than their operand.
  return true;
}

void Values::evaluate(Operation *op) {
  if (evaluateBuffer(op))
    return;
  for (Value result : op->getResults())
    clear(result);
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isIntOrIndex())
    return;
  Value result = op->getResult(0);
  if (std::optional<int64_t> answer = queryWorld(op)) {
    set(result, Scalar{IntegerAttr::get(result.getType(), *answer), {}});
    return;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (std::optional<int64_t> condition = getNumber(select.getCondition()))
      copy(*condition ? select.getTrueValue() : select.getFalseValue(), result);
    return;
  }
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(get(operand).number);
    // Folders of ops with some constant operands may change the op.
    if (!operands.back())
      return;
  }
  SmallVector<OpFoldResult> folded;
  if (failed(op->fold(operands, folded)) || folded.size() != 1)
    return;
  if (auto value = dyn_cast<Value>(folded.front()))
    copy(value, result);
  else if (auto number = dyn_cast<IntegerAttr>(cast<Attribute>(folded.front())))
    set(result, Scalar{number, {}});
}
