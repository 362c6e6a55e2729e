// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileOps.cpp - Verifiers, effects and folders of tile ops -----------===//

#include "iris/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tile;

#define GET_OP_CLASSES
#include "iris/Dialect/Tile/IR/TileOps.cpp.inc"

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A volatile access has both a read and a write effect, so that it is neither
/// merged with another access nor removed.
static void addAccess(Effects &effects, OpOperand &buffer, bool reads,
                      bool isVolatile) {
  if (reads || isVolatile)
    effects.emplace_back(MemoryEffects::Read::get(), &buffer);
  if (!reads || isVolatile)
    effects.emplace_back(MemoryEffects::Write::get(), &buffer);
}

void LoadOp::getEffects(Effects &effects) {
  addAccess(effects, getSourceMutable(), /*reads=*/true, getIsVolatile());
}

LogicalResult LoadOp::verify() {
  return verifyWindow(*this, getSource().getType(), getOffsets().size(),
                      getResult().getType());
}

void StoreOp::getEffects(Effects &effects) {
  addAccess(effects, getDestinationMutable(), /*reads=*/false, getIsVolatile());
}

LogicalResult StoreOp::verify() {
  return verifyWindow(*this, getDestination().getType(), getOffsets().size(),
                      getValue().getType());
}

void GatherOp::getEffects(Effects &effects) {
  addAccess(effects, getSourceMutable(), /*reads=*/true, getIsVolatile());
}

LogicalResult GatherOp::verify() {
  return verifyIndexed(*this, getSource().getType(), getIndices(),
                       getResult().getType());
}

void ScatterOp::getEffects(Effects &effects) {
  addAccess(effects, getDestinationMutable(), /*reads=*/false, getIsVolatile());
}

LogicalResult ScatterOp::verify() {
  return verifyIndexed(*this, getDestination().getType(), getIndices(),
                       getValue().getType());
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

static LogicalResult verifyDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError("dim is ")
         << dim << "; expected one of " << rank << " dimensions";
}

LogicalResult RangeOp::verify() {
  RankedTensorType type = getResult().getType();
  if (failed(verifyDim(*this, getDim(), type.getRank())))
    return failure();
  return verifyTileShape(*this, type);
}

LogicalResult ExpandDimsOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  int64_t dim = getDim();
  if (failed(verifyDim(*this, dim, source.getRank() + 1)))
    return failure();
  SmallVector<int64_t> expected(source.getShape());
  expected.insert(expected.begin() + dim, 1);
  if (result.getShape() != ArrayRef(expected) ||
      result.getElementType() != source.getElementType())
    return emitOpError("result is ")
           << result << "; expected shape [" << expected << "] of "
           << source.getElementType();
  return verifyTileShape(*this, source);
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  if (source.getElementType() != result.getElementType())
    return emitOpError("element types of ")
           << source << " and " << result << " differ";
  if (source.getRank() != result.getRank())
    return emitOpError("has a result of ")
           << result.getRank() << " dimensions for " << source << "; expected "
           << source.getRank() << " (tile.expand_dims adds one)";
  for (auto [dim, from, to] :
       llvm::enumerate(source.getShape(), result.getShape()))
    if (from != to && from != 1)
      return emitOpError("dimension ") << dim << " of " << source << " is "
                                       << from << "; expected 1 or " << to;
  return verifyTileShape(*this, result);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? getSource() : OpFoldResult();
}

LogicalResult TransposeOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  ArrayRef<int64_t> permutation = getPermutation();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, source.getRank())))
    return emitOpError("[") << permutation << "] is not a permutation of the "
                            << source.getRank() << " dimensions of " << source;
  SmallVector<int64_t> expected = llvm::map_to_vector(
      permutation, [&](int64_t dim) { return source.getDimSize(dim); });
  if (result.getShape() != ArrayRef(expected) ||
      result.getElementType() != source.getElementType())
    return emitOpError("result is ")
           << result << "; expected shape [" << expected << "] of "
           << source.getElementType();
  return verifyTileShape(*this, source);
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  bool identity = llvm::equal(
      getPermutation(), llvm::seq<int64_t>(0, getSource().getType().getRank()));
  return identity && getSource().getType() == getType() ? getSource()
                                                        : OpFoldResult();
}

LogicalResult ConvertLayoutOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  if (source.getShape() != result.getShape() ||
      source.getElementType() != result.getElementType())
    return emitOpError("result is ")
           << result << "; expected the shape and element type of " << source;
  return verifyTileShape(*this, source);
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  // a -> b -> a is the original tile.
  if (auto inner = getSource().getDefiningOp<ConvertLayoutOp>())
    if (inner.getSource().getType() == getType())
      return inner.getSource();
  return {};
}

LogicalResult ReduceOp::verify() {
  RankedTensorType source = getSource().getType();
  if (failed(verifyDim(*this, getDim(), source.getRank())) ||
      failed(verifyTileShape(*this, source)))
    return failure();

  Type element = source.getElementType();
  bool isFloat = isa<FloatType>(element);
  switch (getKind()) {
  case ReduceKind::umin:
  case ReduceKind::umax:
  case ReduceKind::And:
  case ReduceKind::Or:
  case ReduceKind::Xor:
    if (isFloat)
      return emitOpError("kind ") << stringifyReduceKind(getKind())
                                  << " needs integers; got " << source;
    break;
  default:
    break;
  }

  Type resultElement = getElementTypeOrSelf(getType());
  bool widens = element.isF16() || element.isBF16();
  if (resultElement != element && !(widens && resultElement.isF32()))
    return emitOpError("result element type is ")
           << resultElement << "; expected " << element
           << (widens ? " or f32" : "");

  SmallVector<int64_t> expected(source.getShape());
  expected.erase(expected.begin() + getDim());
  auto result = dyn_cast<RankedTensorType>(getType());
  if (expected.empty() ? static_cast<bool>(result)
                       : (!result || result.getShape() != ArrayRef(expected)))
    return emitOpError("result is ")
           << getType() << "; expected "
           << (expected.empty() ? "a scalar" : "a tile of shape [") << expected
           << (expected.empty() ? "" : "]");
  return success();
}
