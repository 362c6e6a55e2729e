// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NarrowIntegers.cpp - 32-bit arithmetic for small values ------------===//
//
// Upstream's arith-int-range-narrowing narrows an operation if its values fit
// in 32 bits, as signed or as unsigned numbers, whatever the operation takes
// them for: 4294967295 < 7 becomes -1 < 7. It also narrows shifts by 32 and
// more. Here each kind of operation states what its values must be.
//
// Decisions are made for all operations first: the analysis does not know the
// values that narrowing creates.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-narrow-integers"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISNARROWINTEGERSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

static constexpr unsigned kNarrowBits = 32;

/// The type with i32 in place of index or a wider integer; null for others.
static Type getNarrowType(Type type) {
  Type element = getElementTypeOrSelf(type);
  auto integer = dyn_cast<IntegerType>(element);
  if (!element.isIndex() && !(integer && integer.getWidth() > kNarrowBits))
    return {};
  Type narrow = IntegerType::get(type.getContext(), kNarrowBits);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(narrow);
  return narrow;
}

//===----------------------------------------------------------------------===//
// Which values fit
//===----------------------------------------------------------------------===//

namespace {
/// The extensions of 32 bits that give a value back: of both, a value in
/// [0, 2^31); of one only, negative values or values in [2^31, 2^32).
struct Fit {
  bool asSigned = false;
  bool asUnsigned = false;

  bool any() const { return asSigned || asUnsigned; }
  Fit operator&(Fit other) const {
    return {asSigned && other.asSigned, asUnsigned && other.asUnsigned};
  }
};

/// What the analysis knows of values.
class Ranges {
public:
  explicit Ranges(DataFlowSolver &solver) : solver(solver) {}

  /// None in code that is never executed.
  std::optional<ConstantIntRanges> find(Value value) const {
    const auto *state =
        solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
    if (!state || state->getValue().isUninitialized())
      return std::nullopt;
    return state->getValue().getValue();
  }

  Fit fit(Value value) const {
    std::optional<ConstantIntRanges> range = find(value);
    if (!range)
      return {};
    return {range->smin().isSignedIntN(kNarrowBits) &&
                range->smax().isSignedIntN(kNarrowBits),
            range->umax().isIntN(kNarrowBits)};
  }

  Fit fit(ValueRange values) const {
    Fit all = {true, true};
    for (Value value : values)
      all = all & fit(value);
    return all;
  }

  bool isBelow(Value value, uint64_t limit) const {
    std::optional<ConstantIntRanges> range = find(value);
    return range && range->umax().ult(limit);
  }

  bool canBe(Value value, int64_t number) const {
    std::optional<ConstantIntRanges> range = find(value);
    return !range || (range->smin().sle(number) && range->smax().sge(number));
  }

private:
  DataFlowSolver &solver;
};
} // namespace

/// Whether the quotient or remainder of 32 bits is undefined although that of
/// more bits is not: -2^31 divided by -1.
static bool mayOverflow(Operation *division, const Ranges &ranges) {
  return ranges.canBe(division->getOperand(0),
                      std::numeric_limits<int32_t>::min()) &&
         ranges.canBe(division->getOperand(1), -1);
}

/// How the values of `op`, operands and result, fit if its 32-bit form has the
/// same result; else not at all.
static Fit getFit(Operation *op, const Ranges &ranges) {
  Fit all = ranges.fit(op->getOperands()) & ranges.fit(op->getResults());
  auto shiftsBelow32 = [&] {
    return ranges.isBelow(op->getOperand(1), kNarrowBits);
  };
  bool isSame =
      llvm::TypeSwitch<Operation *, bool>(op)
          // The low bits of the result depend on low bits only.
          .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp,
                arith::OrIOp, arith::XOrIOp>([&](auto) { return all.any(); })
          .Case([&](arith::ShLIOp) { return all.any() && shiftsBelow32(); })
          .Case<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp,
                arith::MinUIOp, arith::MaxUIOp>(
              [&](auto) { return all.asUnsigned; })
          .Case(
              [&](arith::ShRUIOp) { return all.asUnsigned && shiftsBelow32(); })
          .Case<arith::MinSIOp, arith::MaxSIOp>(
              [&](auto) { return all.asSigned; })
          .Case<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
                arith::FloorDivSIOp>(
              [&](auto) { return all.asSigned && !mayOverflow(op, ranges); })
          .Case([&](arith::ShRSIOp) { return all.asSigned && shiftsBelow32(); })
          .Default(false);
  return isSame ? all : Fit();
}

static bool isSigned(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::sge:
    return true;
  default:
    return false;
  }
}

static bool canNarrow(arith::CmpIOp op, const Ranges &ranges) {
  Fit fit = ranges.fit(op.getOperands());
  // Extending the sign keeps the order of unsigned numbers too.
  return isSigned(op.getPredicate()) ? fit.asSigned : fit.any();
}

/// The last increment of the induction variable, which ends the loop, must not
/// wrap either.
static bool canNarrow(scf::ForOp loop, const Ranges &ranges) {
  Value bounds[] = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  Fit fit = ranges.fit(bounds);
  std::optional<ConstantIntRanges> upper = ranges.find(bounds[1]);
  std::optional<ConstantIntRanges> step = ranges.find(bounds[2]);
  if (!upper || !step)
    return false;
  // Numbers of 32 bits: their sum fits in 64.
  if (loop.getUnsignedCmp())
    return fit.asUnsigned &&
           llvm::isUIntN(kNarrowBits, upper->umax().getZExtValue() +
                                          step->umax().getZExtValue());
  return fit.asSigned &&
         llvm::isIntN(kNarrowBits, upper->smax().getSExtValue() +
                                       step->smax().getSExtValue());
}

//===----------------------------------------------------------------------===//
// Narrowing
//===----------------------------------------------------------------------===//

/// The low bits of `value`.
static Value narrow(OpBuilder &b, Location loc, Value value) {
  Type type = getNarrowType(value.getType());
  // Instead of narrowing what was extended.
  if (Operation *op = value.getDefiningOp();
      isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp,
                      arith::IndexCastUIOp>(op) &&
      op->getOperand(0).getType() == type)
    return op->getOperand(0);
  if (getElementTypeOrSelf(value.getType()).isIndex())
    return arith::IndexCastOp::create(b, loc, type, value);
  return arith::TruncIOp::create(b, loc, type, value);
}

static Value extend(OpBuilder &b, Location loc, Type type, Value value,
                    bool isUnsigned) {
  bool isIndex = getElementTypeOrSelf(type).isIndex();
  if (isUnsigned)
    return isIndex
               ? arith::IndexCastUIOp::create(b, loc, type, value).getResult()
               : arith::ExtUIOp::create(b, loc, type, value).getResult();
  return isIndex ? arith::IndexCastOp::create(b, loc, type, value).getResult()
                 : arith::ExtSIOp::create(b, loc, type, value).getResult();
}

static SmallVector<Value> narrowAll(OpBuilder &b, Operation *op) {
  return llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    return narrow(b, op->getLoc(), operand);
  });
}

static void narrowElementwise(Operation *op, Fit fit) {
  OpBuilder b(op);
  Type type = op->getResult(0).getType();
  // Without flags: that the wide op does not overflow says nothing.
  Operation *narrowed = b.create(op->getLoc(), op->getName().getIdentifier(),
                                 narrowAll(b, op), getNarrowType(type),
                                 op->getDiscardableAttrDictionary().getValue());
  op->getResult(0).replaceAllUsesWith(
      extend(b, op->getLoc(), type, narrowed->getResult(0), fit.asUnsigned));
  op->erase();
}

static void narrowComparison(arith::CmpIOp op) {
  OpBuilder b(op);
  op->setOperands(narrowAll(b, op));
}

static void narrowLoop(scf::ForOp loop, bool isUnsigned) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  loop.setLowerBound(narrow(b, loc, loop.getLowerBound()));
  loop.setUpperBound(narrow(b, loc, loop.getUpperBound()));
  loop.setStep(narrow(b, loc, loop.getStep()));
  Value variable = loop.getInductionVar();
  Type type = variable.getType();
  variable.setType(getNarrowType(type));
  b.setInsertionPointToStart(loop.getBody());
  Value wide = extend(b, loc, type, variable, isUnsigned);
  variable.replaceAllUsesExcept(wide, wide.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether the induction variable is never negative.
static bool countsUnsigned(scf::ForOp loop, const Ranges &ranges) {
  return loop.getUnsignedCmp() || ranges.fit(loop.getLowerBound()).asUnsigned;
}

/// What narrows `op`; null if nothing does.
static std::function<void()> planFor(Operation *op, const Ranges &ranges) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (!getNarrowType(loop.getInductionVar().getType()) ||
        !canNarrow(loop, ranges))
      return nullptr;
    bool isUnsigned = countsUnsigned(loop, ranges);
    return [=] { narrowLoop(loop, isUnsigned); };
  }
  if (auto comparison = dyn_cast<arith::CmpIOp>(op)) {
    if (!getNarrowType(comparison.getLhs().getType()) ||
        !canNarrow(comparison, ranges))
      return nullptr;
    return [=] { narrowComparison(comparison); };
  }
  if (op->getNumResults() != 1 || !getNarrowType(op->getResult(0).getType()))
    return nullptr;
  Fit fit = getFit(op, ranges);
  if (!fit.any())
    return nullptr;
  return [=] { narrowElementwise(op, fit); };
}

namespace {
struct NarrowIntegersPass
    : iris::impl::IrisNarrowIntegersPassBase<NarrowIntegersPass> {
  void runOnOperation() override {
    DataFlowSolver solver;
    dataflow::loadBaselineAnalyses(solver);
    solver.load<dataflow::IntegerRangeAnalysis>();
    if (failed(solver.initializeAndRun(getOperation())))
      return signalPassFailure();
    Ranges ranges(solver);
    SmallVector<std::function<void()>> plans;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (std::function<void()> narrowing = planFor(op, ranges)) {
        LDBG() << "narrow " << *op;
        plans.push_back(std::move(narrowing));
      }
    });
    for (const std::function<void()> &narrowing : plans)
      narrowing();
  }
};
} // namespace
