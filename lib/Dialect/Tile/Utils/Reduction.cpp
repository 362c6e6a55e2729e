// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Dialect/Tile/Utils/Reduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::tile;

bool tile::dependsOnOrder(ReduceOp reduce) {
  bool rounds = reduce.getKind() == ReduceKind::sum ||
                reduce.getKind() == ReduceKind::prod;
  return rounds &&
         isa<FloatType>(reduce.getSource().getType().getElementType());
}

Type tile::getAccumulatorType(ReduceOp reduce) {
  Type element = reduce.getSource().getType().getElementType();
  bool isNarrow = element.isF16() || element.isBF16();
  return isNarrow ? Float32Type::get(element.getContext()) : element;
}

Value tile::convertPartial(OpBuilder &builder, Location loc, Value value,
                           Type type) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (width < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  if (width > type.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(builder, loc, type, value);
  return value;
}

/// An op for floats, or one for integers.
template <typename FloatOpT, typename IntOpT>
static Value make(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return FloatOpT::create(builder, loc, lhs, rhs);
  return IntOpT::create(builder, loc, lhs, rhs);
}

Value tile::combinePartials(OpBuilder &builder, Location loc, ReduceKind kind,
                            Value lhs, Value rhs) {
  switch (kind) {
  case ReduceKind::sum:
    return make<arith::AddFOp, arith::AddIOp>(builder, loc, lhs, rhs);
  case ReduceKind::prod:
    return make<arith::MulFOp, arith::MulIOp>(builder, loc, lhs, rhs);
  case ReduceKind::min:
    return make<arith::MinimumFOp, arith::MinSIOp>(builder, loc, lhs, rhs);
  case ReduceKind::max:
    return make<arith::MaximumFOp, arith::MaxSIOp>(builder, loc, lhs, rhs);
  case ReduceKind::umin:
    return arith::MinUIOp::create(builder, loc, lhs, rhs);
  case ReduceKind::umax:
    return arith::MaxUIOp::create(builder, loc, lhs, rhs);
  case ReduceKind::And:
    return arith::AndIOp::create(builder, loc, lhs, rhs);
  case ReduceKind::Or:
    return arith::OrIOp::create(builder, loc, lhs, rhs);
  case ReduceKind::Xor:
    return arith::XOrIOp::create(builder, loc, lhs, rhs);
  }
  llvm_unreachable("unknown kind of reduction");
}
