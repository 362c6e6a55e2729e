// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisAccessOps.cpp - Translation and remote access ------------------===//

#include "iris/Dialect/Iris/IR/GroupBounds.h"
#include "iris/Dialect/Iris/IR/Iris.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::iris;
using tile::verifyIndexed;
using tile::verifyTileShape;
using tile::verifyWindow;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// A buffer that is accessed on a named rank must lie on the symmetric heap.
static LogicalResult verifySymmetric(Operation *op, MemRefType buffer) {
  if (isSymmetric(buffer))
    return success();
  InFlightDiagnostic diag =
      op->emitOpError("names a rank, but the buffer ")
      << buffer
      << " is not on the symmetric heap; expected memory space "
         "#iris.symmetric";
  if (isPeer(buffer))
    diag.attachNote() << "a buffer in #iris.peer is already translated";
  return diag;
}

//===----------------------------------------------------------------------===//
// RankOp, NumRanksOp
//===----------------------------------------------------------------------===//

static ConstantIntRanges getIndexRange(uint64_t min, uint64_t max) {
  unsigned width = IndexType::kInternalStorageBitWidth;
  return ConstantIntRanges::fromUnsigned(APInt(width, min), APInt(width, max));
}

void RankOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                               SetIntRangeFn setResultRange) {
  setResultRange(getResult(), getIndexRange(0, kMaxRanks - 1));
}

void NumRanksOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                   SetIntRangeFn setResultRange) {
  setResultRange(getResult(), getIndexRange(1, kMaxRanks));
}

//===----------------------------------------------------------------------===//
// GroupSizeOp, GroupIndexOp, GroupMemberOp
//===----------------------------------------------------------------------===//

void GroupSizeOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                    SetIntRangeFn setResultRange) {
  setResultRange(getResult(), getIndexRange(0, kMaxGroup));
}

void GroupIndexOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                     SetIntRangeFn setResultRange) {
  auto bound = (*this)->getAttrOfType<IntegerAttr>(kUpperBoundAttr);
  bool isBound = bound && bound.getInt() > 0 && bound.getInt() <= kMaxGroup;
  uint64_t most = (isBound ? bound.getInt() : kMaxRanks) - 1;
  setResultRange(getResult(), getIndexRange(0, most));
}

void GroupMemberOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                      SetIntRangeFn setResultRange) {
  setResultRange(getResult(), getIndexRange(0, kMaxRanks - 1));
}

//===----------------------------------------------------------------------===//
// TranslateOp
//===----------------------------------------------------------------------===//

void TranslateOp::build(OpBuilder &builder, OperationState &state, Value ctx,
                        Value source, Value rank) {
  build(builder, state, getPeerType(cast<MemRefType>(source.getType())), ctx,
        source, rank);
}

LogicalResult TranslateOp::verify() {
  MemRefType source = getSource().getType();
  if (failed(verifySymmetric(*this, source)))
    return failure();
  if (getType() != getPeerType(source))
    return emitOpError("result is ")
           << getType() << "; expected " << getPeerType(source);
  return success();
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

ParseResult mlir::iris::parseTransferMask(
    OpAsmParser &parser, std::optional<OpAsmParser::UnresolvedOperand> &mask,
    Type &maskType, DenseI64ArrayAttr shape) {
  if (failed(parser.parseOptionalKeyword("mask")))
    return success();
  mask.emplace();
  if (parser.parseOperand(*mask))
    return failure();
  maskType = RankedTensorType::get(shape.asArrayRef(),
                                   parser.getBuilder().getI1Type());
  return success();
}

void mlir::iris::printTransferMask(OpAsmPrinter &printer, Operation *,
                                   Value mask, Type, DenseI64ArrayAttr) {
  if (mask)
    printer << " mask " << mask;
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

/// A volatile access also counts as the opposite one.
static void addEffects(Effects &effects, OpOperand *read, OpOperand *write,
                       bool isVolatile) {
  for (OpOperand *operand : {read, write}) {
    if (!operand)
      continue;
    if (operand == read || isVolatile)
      effects.emplace_back(MemoryEffects::Read::get(), operand);
    if (operand == write || isVolatile)
      effects.emplace_back(MemoryEffects::Write::get(), operand);
  }
}

void iris::LoadOp::getEffects(Effects &effects) {
  addEffects(effects, &getSourceMutable(), nullptr, getIsVolatile());
}
void iris::StoreOp::getEffects(Effects &effects) {
  addEffects(effects, nullptr, &getDestinationMutable(), getIsVolatile());
}
void iris::GatherOp::getEffects(Effects &effects) {
  addEffects(effects, &getSourceMutable(), nullptr, getIsVolatile());
}
void iris::ScatterOp::getEffects(Effects &effects) {
  addEffects(effects, nullptr, &getDestinationMutable(), getIsVolatile());
}
void GetOp::getEffects(Effects &effects) {
  addEffects(effects, &getSourceMutable(), &getDestinationMutable(),
             getIsVolatile());
}
void PutOp::getEffects(Effects &effects) {
  addEffects(effects, &getSourceMutable(), &getDestinationMutable(),
             getIsVolatile());
}
void CopyOp::getEffects(Effects &effects) {
  addEffects(effects, &getSourceMutable(), &getDestinationMutable(),
             getIsVolatile());
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult iris::LoadOp::verify() {
  if (failed(verifySymmetric(*this, getSource().getType())))
    return failure();
  return verifyWindow(*this, getSource().getType(), getOffsets().size(),
                      getType());
}

LogicalResult iris::StoreOp::verify() {
  if (failed(verifySymmetric(*this, getDestination().getType())))
    return failure();
  return verifyWindow(*this, getDestination().getType(), getOffsets().size(),
                      getValue().getType());
}

LogicalResult iris::GatherOp::verify() {
  if (failed(verifySymmetric(*this, getSource().getType())))
    return failure();
  return verifyIndexed(*this, getSource().getType(), getIndices(), getType());
}

LogicalResult iris::ScatterOp::verify() {
  if (failed(verifySymmetric(*this, getDestination().getType())))
    return failure();
  return verifyIndexed(*this, getDestination().getType(), getIndices(),
                       getValue().getType());
}

/// The common part of get, put and copy.
template <typename OpT>
static LogicalResult verifyTransfer(OpT op) {
  MemRefType source = op.getSource().getType();
  MemRefType destination = op.getDestination().getType();
  if (source.getElementType() != destination.getElementType())
    return op.emitOpError("element types of ")
           << source << " and " << destination << " differ";
  RankedTensorType tile = op.getTileType();
  if (failed(verifyWindow(op, source, op.getSourceOffsets().size(), tile)) ||
      failed(verifyWindow(op, destination, op.getDestinationOffsets().size(),
                          tile)))
    return failure();
  if (Value mask = op.getMask();
      mask && mask.getType() != tile::maskTypeOf(tile))
    return op.emitOpError("mask is ")
           << mask.getType() << "; expected " << tile::maskTypeOf(tile);
  return success();
}

LogicalResult GetOp::verify() {
  if (failed(verifySymmetric(*this, getSource().getType())))
    return failure();
  return verifyTransfer(*this);
}

LogicalResult PutOp::verify() {
  if (failed(verifySymmetric(*this, getDestination().getType())))
    return failure();
  return verifyTransfer(*this);
}

LogicalResult CopyOp::verify() {
  if (failed(verifySymmetric(*this, getSource().getType())) ||
      failed(verifySymmetric(*this, getDestination().getType())))
    return failure();
  return verifyTransfer(*this);
}
