// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WholeWindows.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

/// Numbers below this can be added and multiplied a few times without overflow.
static constexpr uint64_t kLarge = uint64_t(1) << 62;

/// The source of a chain of casts between index and integers. The casts come
/// from narrowing, which is applied only to numbers that fit.
static Value stripCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// An upper bound of `value` if it is known, in which case `value` is also
/// known not to be negative.
static std::optional<uint64_t> getBound(Value value, unsigned depth = 0) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant >= 0 ? std::optional<uint64_t>(*constant) : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (!op || depth > 8)
    return std::nullopt;
  if (isa<gpu::BlockIdOp, gpu::GridDimOp>(op))
    return INT32_MAX;
  if (isa<RankOp, NumRanksOp, GroupSizeOp, GroupIndexOp, GroupMemberOp>(op))
    return kMaxRanks;
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp,
          arith::ExtSIOp>(op))
    return getBound(op->getOperand(0), depth + 1);
  // c - c mod x.
  if (auto difference = dyn_cast<arith::SubIOp>(op)) {
    auto rest = stripCasts(difference.getRhs()).getDefiningOp<arith::RemUIOp>();
    std::optional<int64_t> from =
        getConstantIntValue(stripCasts(difference.getLhs()));
    if (rest && from && *from >= 0 &&
        getConstantIntValue(stripCasts(rest.getLhs())) == from)
      return *from;
    return std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::MulIOp, arith::RemUIOp, arith::DivUIOp,
           arith::MinUIOp>(op))
    return std::nullopt;
  std::optional<uint64_t> lhs = getBound(op->getOperand(0), depth + 1);
  std::optional<uint64_t> rhs = getBound(op->getOperand(1), depth + 1);
  // A remainder is less than its divisor, for any dividend.
  if (isa<arith::RemUIOp>(op))
    return rhs;
  if (isa<arith::MinUIOp>(op))
    return lhs && rhs ? std::min(*lhs, *rhs) : lhs ? lhs : rhs;
  if (!lhs || !rhs)
    return std::nullopt;
  if (isa<arith::DivUIOp>(op))
    return lhs;
  uint64_t limit = value.getType().isInteger(32) ? INT32_MAX : kLarge;
  bool overflow = false;
  uint64_t result = isa<arith::AddIOp>(op)
                        ? llvm::SaturatingAdd(*lhs, *rhs, &overflow)
                        : llvm::SaturatingMultiply(*lhs, *rhs, &overflow);
  if (overflow || result > limit)
    return std::nullopt;
  return result;
}

/// The value from which the size of a dimension was created; null if it is
/// unknown.
static Value getSize(Value buffer, unsigned dim) {
  Operation *op = buffer.getDefiningOp();
  if (!op)
    return {};
  // The buffer on another rank has the same size.
  if (auto translate = dyn_cast<TranslateOp>(op))
    return getSize(translate.getSource(), dim);
  if (auto cast = dyn_cast<memref::CastOp>(op))
    return getSize(cast.getSource(), dim);
  SmallVector<OpFoldResult> sizes;
  if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
    if (subview.getSourceType().getRank() == subview.getType().getRank())
      sizes = subview.getMixedSizes();
  } else if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
    sizes = cast.getMixedSizes();
  }
  return sizes.empty() ? Value() : dyn_cast<Value>(sizes[dim]);
}

static bool isSizeOf(Value size, Value buffer, unsigned dim) {
  if (auto dimOp = size.getDefiningOp<memref::DimOp>())
    if (dimOp.getSource() == buffer && dimOp.getConstantIndex() == dim)
      return true;
  Value known = getSize(buffer, dim);
  return known && stripCasts(known) == size;
}

std::optional<uint64_t> mlir::iris::getSizeBound(Value buffer, unsigned dim) {
  Value size = getSize(buffer, dim);
  return size ? getBound(size) : std::nullopt;
}

/// `a * b` with a constant `b`.
static bool matchProduct(Value value, Value &a, int64_t &b) {
  auto product = stripCasts(value).getDefiningOp<arith::MulIOp>();
  if (!product)
    return false;
  a = stripCasts(product.getLhs());
  std::optional<int64_t> constant = getConstantIntValue(product.getRhs());
  if (!constant) {
    a = stripCasts(product.getRhs());
    constant = getConstantIntValue(product.getLhs());
  }
  b = constant.value_or(0);
  return b > 0;
}

bool mlir::iris::isWholeWindow(Value offset, Value buffer, unsigned dim,
                               int64_t extent) {
  Value number;
  int64_t pitch;
  if (!matchProduct(offset, number, pitch) || extent > pitch)
    return false;
  scf::ForOp loop = scf::getForInductionVarOwner(number);
  if (!loop || !getBound(loop.getLowerBound()) || !getBound(loop.getStep()))
    return false;
  // Number < size / pitch, so number * pitch + pitch <= size. Sizes and
  // quotients are not negative.
  auto whole = stripCasts(loop.getUpperBound()).getDefiningOp<arith::DivUIOp>();
  return whole && getConstantIntValue(whole.getRhs()) == pitch &&
         isSizeOf(stripCasts(whole.getLhs()), buffer, dim);
}

bool mlir::iris::isCutWindow(Value offset, Value buffer, unsigned dim,
                             int64_t extent) {
  Value number;
  int64_t pitch;
  if (!matchProduct(offset, number, pitch) || extent < pitch)
    return false;
  // size / pitch * pitch + pitch > size.
  auto whole = number.getDefiningOp<arith::DivUIOp>();
  return whole && getConstantIntValue(whole.getRhs()) == pitch &&
         isSizeOf(stripCasts(whole.getLhs()), buffer, dim);
}
