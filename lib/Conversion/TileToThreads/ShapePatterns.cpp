// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops, and ops that create a tile or rearrange its elements.
//
// All rearranging ops (expand_dims, broadcast, transpose, convert_layout) work
// the same way: a linear map on element indices gives the source element of
// each element of the result. If every thread already holds the elements it
// needs, the op selects registers; otherwise the tile goes through scratch
// memory.
#include "Patterns.h"

#include "iris/Analysis/TileLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Rearranging elements
//===----------------------------------------------------------------------===//

/// Returns the map from element indices of `op`'s result to those of its
/// operand.
static std::function<uint64_t(uint64_t)>
getProjection(Operation *op, const LinearLayout &from, const LinearLayout &to) {
  if (isa<tile::BroadcastOp>(op))
    return [from, to](uint64_t index) {
      SmallVector<int64_t> coordinates = to.getCoordinates(index);
      uint64_t result = 0;
      for (auto [dim, coordinate] : llvm::enumerate(coordinates))
        result |= static_cast<uint64_t>(coordinate & (from.getShape()[dim] - 1))
                  << from.getDimShift(dim);
      return result;
    };
  if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    SmallVector<int64_t> permutation(transpose.getPermutation());
    return [from, to, permutation](uint64_t index) {
      SmallVector<int64_t> coordinates = to.getCoordinates(index);
      uint64_t result = 0;
      for (auto [i, dim] : llvm::enumerate(permutation))
        result |= static_cast<uint64_t>(coordinates[i])
                  << from.getDimShift(dim);
      return result;
    };
  }
  // A dimension of extent 1 does not change the index.
  return [](uint64_t index) { return index; };
}

static bool isRenaming(Operation *op) {
  return isa<tile::BroadcastOp, tile::ConvertLayoutOp, tile::ExpandDimsOp,
             tile::TransposeOp>(op);
}

bool mlir::iris::needsExchange(Operation *op) {
  if (!isRenaming(op))
    return false;
  auto from =
      getLinearLayout(cast<RankedTensorType>(op->getOperand(0).getType()));
  auto to = getLinearLayout(cast<RankedTensorType>(op->getResult(0).getType()));
  auto conversion = to->sourceOf(*from, getProjection(op, *from, *to));
  return !conversion || !conversion->isWithinThread();
}

namespace {

template <typename OpT>
struct RenamePattern : ThreadPattern<OpT> {
  using ThreadPattern<OpT>::ThreadPattern;

  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = this->getBuilder(rewriter, op);
    LinearLayout from = *getLinearLayout(op.getSource().getType());
    LinearLayout to = *getLinearLayout(op.getResult().getType());
    auto project = getProjection(op, from, to);
    Value source = adaptor.getSource();
    std::optional<LayoutConversion> conversion = to.sourceOf(from, project);
    if (!conversion || !conversion->isWithinThread()) {
      rewriter.replaceOp(op, t.exchange(source, from, to, project));
      return success();
    }
    SmallVector<int64_t> choice;
    for (uint64_t reg = 0; reg < to.getNumRegisters(); ++reg)
      choice.push_back(conversion->apply({reg, 0, 0}).reg);
    if (choice.size() == from.getNumRegisters() &&
        llvm::equal(choice, llvm::seq<int64_t>(0, choice.size())))
      rewriter.replaceOp(op, source);
    else
      rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, source, source,
                                                     choice);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Creating tiles
//===----------------------------------------------------------------------===//

struct ConstantPattern : ThreadPattern<arith::ConstantOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    auto type = dyn_cast_or_null<VectorType>(
        getTypeConverter()->convertType(op.getType()));
    if (!elements || !elements.isSplat() || !type)
      return rewriter.notifyMatchFailure(op, "not a splat");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, DenseElementsAttr::get(type, elements.getSplatValue<Attribute>()));
    return success();
  }
};

struct SplatPattern : ThreadPattern<tensor::SplatOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(tensor::SplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(
        op, getTypeConverter()->convertType(op.getType()), adaptor.getInput());
    return success();
  }
};

struct RangePattern : ThreadPattern<tile::RangeOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(tile::RangeOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = getBuilder(rewriter, op);
    LinearLayout layout = *getLinearLayout(op.getResult().getType());
    unsigned dim = op.getDim();
    SmallVector<int32_t> constants;
    for (uint64_t reg = 0; reg < layout.getNumRegisters(); ++reg)
      constants.push_back(
          layout.getCoordinates(layout.apply({reg, 0, 0}))[dim]);
    auto i32Type = VectorType::get({static_cast<int64_t>(constants.size())},
                                   rewriter.getI32Type());
    Value thread = vector::BroadcastOp::create(
        rewriter, t.loc, i32Type, t.getThreadCoordinate(layout, dim));
    Value registers = arith::ConstantOp::create(
        rewriter, t.loc,
        DenseElementsAttr::get(i32Type, ArrayRef<int32_t>(constants)));
    Value result =
        rewriter.createOrFold<arith::XOrIOp>(t.loc, thread, registers);
    Type type = getTypeConverter()->convertType(op.getResult().getType());
    Type element = getElementTypeOrSelf(type);
    if (element.isIndex())
      result = arith::IndexCastUIOp::create(rewriter, t.loc, type, result);
    else if (element.isInteger(64))
      result = arith::ExtUIOp::create(rewriter, t.loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Earlier passes have converted some tiles to registers with a cast.
struct CastPattern : OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getNumOperands() != 1 || op.getNumResults() != 1 ||
        getTypeConverter()->convertType(op.getType(0)) !=
            adaptor.getInputs().front().getType())
      return rewriter.notifyMatchFailure(op, "not between a tile and its "
                                             "registers");
    rewriter.replaceOp(op, adaptor.getInputs());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

/// Applies an elementwise op to the thread's registers.
struct ElementwisePattern : ConversionPattern {
  ElementwisePattern(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumRegions() != 0)
      return rewriter.notifyMatchFailure(op, "not elementwise");
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, "result without layout");
    OperationState state(op->getLoc(), op->getName(), operands, types,
                         op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    rewriter.replaceOp(op, rewriter.create(state)->getResults());
    return success();
  }
};

} // namespace

void mlir::iris::populateShapePatterns(const TypeConverter &converter,
                                       const ConversionFacts &facts,
                                       RewritePatternSet &patterns) {
  patterns.add<ConstantPattern, RangePattern, RenamePattern<tile::BroadcastOp>,
               RenamePattern<tile::ConvertLayoutOp>,
               RenamePattern<tile::ExpandDimsOp>,
               RenamePattern<tile::TransposeOp>, SplatPattern>(
      converter, patterns.getContext(), facts);
  patterns.add<CastPattern, ElementwisePattern>(converter,
                                                patterns.getContext());
}
