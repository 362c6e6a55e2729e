// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Analysis/Divisibility.h"

#include "iris/Analysis/WorkgroupMemory.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

/// Alignment in bytes of heaps and of the distances between them: a translated
/// pointer keeps its alignment up to this value.
static constexpr uint64_t kHeapAlignment = 4096;

uint64_t mlir::iris::getPowerOfTwoDivisor(int64_t value) {
  if (value == 0)
    return Divisibility::kMax;
  return std::min(Divisibility::kMax,
                  uint64_t(1) << llvm::countr_zero<uint64_t>(value));
}

Value mlir::iris::getOwnBuffer(Value buffer) {
  while (auto translate = buffer.getDefiningOp<TranslateOp>())
    buffer = translate.getSource();
  return buffer;
}

/// The divisor of the product of numbers with these divisors.
static uint64_t multiply(uint64_t lhs, uint64_t rhs) {
  unsigned bits = llvm::Log2_64(lhs) + llvm::Log2_64(rhs);
  return bits >= llvm::Log2_64(Divisibility::kMax) ? Divisibility::kMax
                                                   : uint64_t(1) << bits;
}

/// Returns the `iris.divisibility` of a function argument, or null.
static Attribute getArgumentFacts(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return {};
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  // Workgroup attributions of a kernel are block arguments, too.
  if (!function || argument.getArgNumber() >= function.getNumArguments())
    return {};
  return function.getArgAttr(argument.getArgNumber(), kDivisibilityAttr);
}

/// True for a buffer that a kernel declares; iris-place-allocas aligns these.
static bool isDeclaredMemory(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return type && isa<BlockArgument>(buffer) && isWorkgroupMemory(type);
}

/// Returns what `iris.divisibility` says about one dimension of a buffer.
static uint64_t getListedDivisor(Value buffer, StringRef list, unsigned dim) {
  auto facts = dyn_cast_or_null<DictionaryAttr>(getArgumentFacts(buffer));
  if (!facts)
    return 1;
  auto entries = facts.getAs<ArrayAttr>(list);
  if (!entries || dim >= entries.size())
    return 1;
  return getPowerOfTwoDivisor(cast<IntegerAttr>(entries[dim]).getInt());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

uint64_t Divisibility::getDivisor(Value value) {
  auto [it, isNew] = divisors.try_emplace(value, 1);
  if (!isNew)
    return it->second;
  uint64_t result = compute(value);
  divisors[value] = result;
  return result;
}

uint64_t Divisibility::compute(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return getPowerOfTwoDivisor(constant.getSExtValue());
  if (auto result = dyn_cast<OpResult>(value))
    return computeResult(result);

  // The induction variable of a loop takes values of the form lower + i * step.
  auto argument = cast<BlockArgument>(value);
  if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())) {
    if (argument == loop.getInductionVar())
      return std::min(getDivisor(loop.getLowerBound()),
                      getDivisor(loop.getStep()));
    return 1;
  }
  if (auto fact = dyn_cast_or_null<IntegerAttr>(getArgumentFacts(value)))
    return getPowerOfTwoDivisor(fact.getInt());
  return 1;
}

/// Returns the divisor of an affine expression over `operands`.
static uint64_t getExprDivisor(AffineExpr expr, unsigned numDims,
                               ValueRange operands, Divisibility &facts) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return getPowerOfTwoDivisor(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return facts.getDivisor(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return facts.getDivisor(operands[numDims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  uint64_t lhs = getExprDivisor(binary.getLHS(), numDims, operands, facts);
  uint64_t rhs = getExprDivisor(binary.getRHS(), numDims, operands, facts);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
  case AffineExprKind::Mod:
    return std::min(lhs, rhs);
  case AffineExprKind::Mul:
    return multiply(lhs, rhs);
  default:
    return 1;
  }
}

uint64_t Divisibility::computeResult(OpResult result) {
  Operation *op = result.getOwner();
  auto lhs = [&] { return getDivisor(op->getOperand(0)); };
  auto rhs = [&] { return getDivisor(op->getOperand(1)); };
  return llvm::TypeSwitch<Operation *, uint64_t>(op)
      .Case<arith::AddIOp, arith::SubIOp, arith::OrIOp, arith::XOrIOp,
            arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp,
            arith::RemSIOp, arith::RemUIOp>(
          [&](Operation *) { return std::min(lhs(), rhs()); })
      .Case([&](arith::MulIOp) { return multiply(lhs(), rhs()); })
      .Case([&](arith::AndIOp) { return std::max(lhs(), rhs()); })
      .Case([&](arith::ShLIOp shift) {
        APInt amount;
        if (matchPattern(shift.getRhs(), m_ConstantInt(&amount)) &&
            amount.ult(62))
          return multiply(lhs(), uint64_t(1) << amount.getZExtValue());
        return lhs();
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>([&](Operation *) { return lhs(); })
      .Case([&](arith::SelectOp select) {
        return std::min(getDivisor(select.getTrueValue()),
                        getDivisor(select.getFalseValue()));
      })
      .Case([&](affine::AffineApplyOp apply) {
        AffineMap map = apply.getAffineMap();
        return getExprDivisor(map.getResult(0), map.getNumDims(),
                              apply.getOperands(), *this);
      })
      .Case([&](scf::IfOp conditional) {
        unsigned i = result.getResultNumber();
        return std::min(getDivisor(conditional.thenYield().getOperand(i)),
                        getDivisor(conditional.elseYield().getOperand(i)));
      })
      .Case([&](memref::DimOp dim) -> uint64_t {
        if (std::optional<int64_t> index = dim.getConstantIndex())
          return getSizeDivisor(dim.getSource(), *index);
        return 1;
      })
      .Default([](Operation *) { return uint64_t(1); });
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The divisor of the distance in bytes from the pointer of a kernel's argument
/// to its first element, whose address the attribute is about. Kernels have no
/// argument with a dynamic offset; of other functions it is about the pointer.
static uint64_t getOffsetDivisor(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset))
    return Divisibility::kMax;
  return multiply(getPowerOfTwoDivisor(offset),
                  getPowerOfTwoDivisor(getElementBytes(type.getElementType())));
}

uint64_t Divisibility::getPointerDivisor(Value buffer) {
  Operation *op = buffer.getDefiningOp();
  if (!op && isDeclaredMemory(buffer))
    return kWorkgroupAlignment;
  if (!op) {
    Attribute facts = getArgumentFacts(buffer);
    if (auto list = dyn_cast_or_null<DictionaryAttr>(facts))
      facts = list.get("pointer");
    if (auto bytes = dyn_cast_or_null<IntegerAttr>(facts))
      return std::min(getPowerOfTwoDivisor(bytes.getInt()),
                      getOffsetDivisor(cast<MemRefType>(buffer.getType())));
    return 1;
  }
  return llvm::TypeSwitch<Operation *, uint64_t>(op)
      .Case([&](TranslateOp translate) {
        return std::min(getPointerDivisor(translate.getSource()),
                        kHeapAlignment);
      })
      .Case<memref::CastOp, memref::ReinterpretCastOp, memref::SubViewOp,
            memref::AssumeAlignmentOp, memref::MemorySpaceCastOp>(
          [&](Operation *view) {
            return getPointerDivisor(view->getOperand(0));
          })
      .Case<memref::AllocOp, memref::AllocaOp>([](auto alloc) {
        return getPowerOfTwoDivisor(alloc.getAlignment().value_or(1));
      })
      .Default([](Operation *) { return uint64_t(1); });
}

uint64_t Divisibility::getSizeDivisor(Value buffer, unsigned dim) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dim))
    return getPowerOfTwoDivisor(type.getDimSize(dim));
  buffer = getOwnBuffer(buffer);
  if (auto cast = buffer.getDefiningOp<memref::CastOp>())
    if (isa<MemRefType>(cast.getSource().getType()))
      return getSizeDivisor(cast.getSource(), dim);
  if (auto view = buffer.getDefiningOp<memref::SubViewOp>())
    if (view.getDroppedDims().none())
      return getDivisor(view.getDynamicSize(dim));
  return getListedDivisor(buffer, "sizes", dim);
}

uint64_t Divisibility::getStrideDivisor(Value buffer, unsigned dim) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return 1;
  if (!ShapedType::isDynamic(strides[dim]))
    return getPowerOfTwoDivisor(strides[dim]);

  // Row-major: the product of the extents to the right.
  if (type.getLayout().isIdentity()) {
    uint64_t result = getListedDivisor(getOwnBuffer(buffer), "strides", dim);
    uint64_t product = 1;
    for (unsigned d = dim + 1; d < strides.size(); ++d)
      product = multiply(product, getSizeDivisor(buffer, d));
    return std::max(result, product);
  }
  buffer = getOwnBuffer(buffer);
  if (auto view = buffer.getDefiningOp<memref::SubViewOp>())
    if (view.getDroppedDims().none() && view.isDynamicStride(dim) == false)
      return multiply(getPowerOfTwoDivisor(view.getStaticStride(dim)),
                      getStrideDivisor(view.getSource(), dim));
  if (auto cast = buffer.getDefiningOp<memref::CastOp>())
    if (isa<MemRefType>(cast.getSource().getType()))
      return getStrideDivisor(cast.getSource(), dim);
  return getListedDivisor(buffer, "strides", dim);
}
