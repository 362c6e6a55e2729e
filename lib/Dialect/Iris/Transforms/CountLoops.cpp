// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CountLoops.cpp - Loops whose numbers MLIR gets wrong ---------------===//
//
// Ranges and trip counts of `scf.for unsigned` are those of signed bounds in
// several places of MLIR. The lowering of every loop adds the step before it
// compares, so a loop that ends next to the limit of its type starts again.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISCOUNTLOOPSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;

/// Index has 64 bits on all targets.
static constexpr unsigned kWideBits = 64;

static unsigned getBits(scf::ForOp loop) {
  Type type = loop.getInductionVar().getType();
  return type.isIndex() ? kWideBits : type.getIntOrFloatBitWidth();
}

/// What a loop with constant bounds does to the limit of signed numbers.
enum class Limit { Unknown, Kept, Passed };

/// Whether the numbers of a loop, up to the one that ends it, are signed ones
/// of its type, read as the loop compares them.
static Limit getLimit(scf::ForOp loop) {
  APInt bounds[3];
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&bounds[0])) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&bounds[1])) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&bounds[2])))
    return Limit::Unknown;
  unsigned bits = getBits(loop);
  for (APInt &bound : bounds) {
    bound = bound.sextOrTrunc(bits);
    bound = loop.getUnsignedCmp() ? bound.zext(bits + 2) : bound.sext(bits + 2);
  }
  auto &[lower, upper, step] = bounds;
  if (!step.isStrictlyPositive())
    return Limit::Unknown; // no loop
  APInt last = lower;
  if (lower.slt(upper))
    last +=
        llvm::APIntOps::RoundingUDiv(upper - lower, step, APInt::Rounding::UP) *
        step;
  bool isKept =
      llvm::all_of(ArrayRef({lower, upper, step, last}),
                   [&](const APInt &v) { return v.isSignedIntN(bits); });
  return isKept ? Limit::Kept : Limit::Passed;
}

/// Counts in i64, in which no number of a narrower loop is near the limit.
static void widen(scf::ForOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Type wide = b.getIntegerType(kWideBits);
  auto extend = [&](Value value) -> Value {
    return loop.getUnsignedCmp()
               ? arith::ExtUIOp::create(b, loc, wide, value).getResult()
               : arith::ExtSIOp::create(b, loc, wide, value).getResult();
  };
  loop.setLowerBound(extend(loop.getLowerBound()));
  loop.setUpperBound(extend(loop.getUpperBound()));
  loop.setStep(extend(loop.getStep()));
  Value variable = loop.getInductionVar();
  Type type = variable.getType();
  variable.setType(wide);
  b.setInsertionPointToStart(loop.getBody());
  auto narrow = arith::TruncIOp::create(b, loc, type, variable);
  variable.replaceAllUsesExcept(narrow, narrow);
}

/// Counts iterations. More than 2^63 - 1 end nowhere.
static void countIterations(scf::ForOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value variable = loop.getInductionVar();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Value step = loop.getStep();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(variable.getType(), value));
  };
  Value zero = constant(0);
  Value isEmpty =
      arith::CmpIOp::create(b, loc,
                            loop.getUnsignedCmp() ? arith::CmpIPredicate::ule
                                                  : arith::CmpIPredicate::sle,
                            upper, lower);
  Value distance = arith::SubIOp::create(b, loc, upper, lower);
  Value count = arith::CeilDivUIOp::create(b, loc, distance, step);
  count = arith::MinUIOp::create(b, loc, count,
                                 constant(std::numeric_limits<int64_t>::max()));
  loop.setUpperBound(arith::SelectOp::create(b, loc, isEmpty, zero, count));
  loop.setLowerBound(zero);
  loop.setStep(constant(1));
  b.setInsertionPointToStart(loop.getBody());
  Value offset = arith::MulIOp::create(b, loc, variable, step);
  Value number = arith::AddIOp::create(b, loc, lower, offset);
  variable.replaceAllUsesExcept(number, offset.getDefiningOp());
}

namespace {
struct CountLoopsPass : iris::impl::IrisCountLoopsPassBase<CountLoopsPass> {
  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) {
      Limit limit = getLimit(loop);
      bool isRight =
          loop.getUnsignedCmp() ? limit == Limit::Kept : limit != Limit::Passed;
      if (!isRight && getBits(loop) < kWideBits)
        widen(loop);
      else if (!isRight)
        countIterations(loop);
      loop.setUnsignedCmp(false);
    });
  }
};
} // namespace
