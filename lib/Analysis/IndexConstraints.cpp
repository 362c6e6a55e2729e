// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IndexConstraints.h"

#include "mlir/Analysis/Presburger/Simplex.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;
using llvm::DynamicAPInt;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

IntegerInterval IntegerInterval::operator+(const IntegerInterval &other) const {
  IntegerInterval sum;
  if (llvm::AddOverflow(least, other.least, sum.least) ||
      llvm::AddOverflow(most, other.most, sum.most))
    return IntegerInterval();
  return sum;
}

LinearSum &LinearSum::add(const LinearSum &other, const DynamicAPInt &factor) {
  constant += other.constant * factor;
  Term *place = terms.begin();
  for (const auto &[variable, coefficient] : other.terms) {
    while (place != terms.end() && place->first < variable)
      ++place;
    if (place == terms.end() || place->first != variable)
      place = terms.insert(place, Term(variable, DynamicAPInt(0)));
    place->second += coefficient * factor;
  }
  llvm::erase_if(terms, [](const Term &term) { return term.second == 0; });
  return *this;
}

LinearSum LinearSum::operator+(const LinearSum &other) const {
  return LinearSum(*this).add(other, DynamicAPInt(1));
}

LinearSum LinearSum::operator-(const LinearSum &other) const {
  return LinearSum(*this).add(other, DynamicAPInt(-1));
}

LinearSum LinearSum::operator*(int64_t factor) const {
  return LinearSum().add(*this, DynamicAPInt(factor));
}

std::optional<int64_t> LinearSum::getConstant() const {
  if (!terms.empty() || constant < DynamicAPInt(IntegerInterval::kLeast) ||
      constant > DynamicAPInt(IntegerInterval::kMost))
    return std::nullopt;
  return int64_t(constant);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// True for a conversion that keeps all numbers of `range`, as signed ones.
static bool keepsNumbers(Operation *op, IntegerInterval range) {
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
    Type type = op->getResult(0).getType();
    unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    return bits >= 64 ||
           (llvm::isIntN(bits, range.least) && llvm::isIntN(bits, range.most));
  }
  if (!isa<arith::IndexCastUIOp, arith::ExtUIOp>(op) || range.least < 0)
    return false;
  Type type = op->getResult(0).getType();
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return bits >= 64 || llvm::isIntN(bits, range.most);
}

/// True for a type that holds numbers modulo 2^32, or more of them.
static bool isWide(Type type) {
  return type.isIndex() || type.getIntOrFloatBitWidth() >= 32;
}

/// True for a conversion that keeps all numbers modulo 2^32.
static bool keepsLowBits(Operation *op) {
  return isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp>(op) &&
         isWide(op->getOperand(0).getType()) &&
         isWide(op->getResult(0).getType());
}

/// True if `op`, a sum, difference or product, does not wrap around.
static bool isExact(Operation *op, const IndexConstraints::GetRange &getRange) {
  Type type = op->getResult(0).getType();
  if (type.isIndex())
    return true;
  unsigned bits = type.getIntOrFloatBitWidth();
  IntegerInterval a = getRange(op->getOperand(0));
  IntegerInterval b = getRange(op->getOperand(1));
  auto fits = [&](int64_t x, int64_t y) {
    int64_t result;
    bool overflows = isa<arith::AddIOp>(op)   ? llvm::AddOverflow(x, y, result)
                     : isa<arith::SubIOp>(op) ? llvm::SubOverflow(x, y, result)
                                              : llvm::MulOverflow(x, y, result);
    return !overflows && llvm::isIntN(bits, result);
  };
  return fits(a.least, b.least) && fits(a.least, b.most) &&
         fits(a.most, b.least) && fits(a.most, b.most);
}

std::optional<LinearSum> IndexConstraints::computeExactly(Operation *op,
                                                          bool isBefore) {
  if (op->getNumOperands() == 1) {
    Value source = op->getOperand(0);
    if (isa<IntegerType, IndexType>(source.getType()) &&
        (isModular ? keepsLowBits(op) : keepsNumbers(op, getRange(source))))
      return get(source, isBefore);
    return std::nullopt;
  }
  if (op->getNumOperands() != 2)
    return std::nullopt;
  auto lhs = [&] { return get(op->getOperand(0), isBefore); };
  auto rhs = [&] { return get(op->getOperand(1), isBefore); };
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
    if (isModular ? !isWide(op->getResult(0).getType())
                  : !isExact(op, getRange))
      return std::nullopt;
    if (isa<arith::AddIOp>(op))
      return lhs() + rhs();
    if (isa<arith::SubIOp>(op))
      return lhs() - rhs();
    LinearSum a = lhs(), b = rhs();
    if (std::optional<int64_t> factor = b.getConstant())
      return a * *factor;
    if (std::optional<int64_t> factor = a.getConstant())
      return b * *factor;
    return std::nullopt;
  }
  if (!isa<arith::RemUIOp, arith::DivUIOp, arith::AndIOp, arith::MinUIOp,
           arith::MaxUIOp>(op))
    return std::nullopt;
  // These need the numbers themselves.
  bool wasModular = std::exchange(isModular, false);
  std::optional<int64_t> a = lhs().getConstant(), b = rhs().getConstant();
  isModular = wasModular;
  if (!a || !b || *a < 0 || *b < 0)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<LinearSum>>(op)
      .Case([&](arith::AndIOp) { return LinearSum(*a & *b); })
      .Case([&](arith::MinUIOp) { return LinearSum(std::min(*a, *b)); })
      .Case([&](arith::MaxUIOp) { return LinearSum(std::max(*a, *b)); })
      .Case([&](arith::RemUIOp) -> std::optional<LinearSum> {
        if (*b == 0)
          return std::nullopt;
        return LinearSum(*a % *b);
      })
      .Case([&](arith::DivUIOp) -> std::optional<LinearSum> {
        if (*b == 0)
          return std::nullopt;
        return LinearSum(*a / *b);
      });
}

/// The loop that counts with `value`; null if it is no counter, or an unsigned
/// one.
static scf::ForOp getLoopOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop =
      argument
          ? dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp())
          : scf::ForOp();
  if (!loop || argument != loop.getInductionVar() || loop.getUnsignedCmp())
    return scf::ForOp();
  return loop;
}

LinearSum IndexConstraints::get(Value value, bool isBefore) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return LinearSum(*constant);
  IndexSymbol symbol(value, isBefore && isStale(value));
  auto &known = sums[isModular];
  if (auto it = known.find(symbol); it != known.end())
    return it->second;
  LinearSum sum = compute(value, isBefore);
  known[symbol] = sum;
  return sum;
}

LinearSum IndexConstraints::compute(Value value, bool isBefore) {
  IndexSymbol symbol(value, isBefore && isStale(value));
  if (auto it = chosen.find(symbol); it != chosen.end())
    return LinearSum(it->second);
  if (Operation *op = value.getDefiningOp())
    if (std::optional<LinearSum> sum = computeExactly(op, isBefore))
      return *sum;
  if (scf::ForOp loop = getLoopOf(value))
    return computeCounter(loop, isBefore);
  LinearSum sum = addVariable(getRange(value));
  variables.back() = value;
  describe(value, sum, isBefore);
  return sum;
}

/// The counter of `loop`: a number of whole steps from its lower bound, so that
/// constraints on it can be rounded.
LinearSum IndexConstraints::computeCounter(scf::ForOp loop, bool isBefore) {
  LinearSum lower = get(loop.getLowerBound(), isBefore);
  LinearSum upper = get(loop.getUpperBound(), isBefore);
  std::optional<int64_t> step = get(loop.getStep(), isBefore).getConstant();
  LinearSum counter;
  if (step && *step > 0) {
    counter = lower + addVariable({0, IntegerInterval::kMost}) * *step;
  } else {
    counter = addVariable(getRange(loop.getInductionVar()));
    variables.back() = loop.getInductionVar();
    addLessOrEqual(lower, counter);
  }
  addLessOrEqual(counter + LinearSum(1), upper);
  return counter;
}

LinearSum IndexConstraints::addVariable(IntegerInterval interval) {
  // Larger numbers are those of types, not of programs.
  constexpr int64_t limit = int64_t(1) << 48;
  LinearSum sum;
  sum.terms.emplace_back(variables.size(), DynamicAPInt(1));
  variables.push_back(Value());
  if (interval.least > -limit)
    addNonNegative(sum - LinearSum(interval.least));
  if (interval.most < limit)
    addNonNegative(LinearSum(interval.most) - sum);
  return sum;
}

/// Adds what follows from the definition of `value`, which is `sum`.
void IndexConstraints::describe(Value value, const LinearSum &sum,
                                bool isBefore) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2 ||
      !isa<arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp,
           arith::RemUIOp, arith::DivUIOp>(op))
    return;
  LinearSum a = get(op->getOperand(0), isBefore);
  LinearSum b = get(op->getOperand(1), isBefore);
  if (isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
    int64_t sign = isa<arith::MinSIOp>(op) ? 1 : -1;
    addNonNegative((a - sum) * sign);
    addNonNegative((b - sum) * sign);
  } else if (isa<arith::MinUIOp>(op)) {
    // A number that is negative as a signed one is large.
    addNonNegative(a - sum, {a});
    addNonNegative(b - sum, {b});
  } else if (isa<arith::MaxUIOp>(op)) {
    addNonNegative(sum - a, {a, b});
    addNonNegative(sum - b, {a, b});
  } else if (std::optional<int64_t> divisor = b.getConstant();
             divisor && *divisor > 0) {
    bool isQuotient = isa<arith::DivUIOp>(op);
    LinearSum other =
        addVariable({isQuotient ? 0 : IntegerInterval::kLeast,
                     isQuotient ? *divisor - 1 : IntegerInterval::kMost});
    addZero((isQuotient ? sum * *divisor + other : other * *divisor + sum) - a,
            {a});
  }
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void IndexConstraints::addControl(Operation *op, bool isBefore) {
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion()) {
    Operation *parent = region->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      (void)get(loop.getInductionVar(), isBefore);
    else if (auto branch = dyn_cast<scf::IfOp>(parent))
      addCondition(branch.getCondition(), region == &branch.getThenRegion(),
                   isBefore);
  }
}

void IndexConstraints::addEarlier(scf::ForOp loop) {
  if (loop.getUnsignedCmp())
    return;
  LinearSum then = get(loop.getInductionVar(), /*isBefore=*/true);
  LinearSum here = get(loop.getInductionVar(), /*isBefore=*/false);
  std::optional<int64_t> step =
      get(loop.getStep(), /*isBefore=*/false).getConstant();
  addLessOrEqual(then + LinearSum(step.value_or(1)), here);
}

void IndexConstraints::addCondition(Value condition, bool holds,
                                    bool isBefore) {
  Operation *op = condition.getDefiningOp();
  if (holds ? isa_and_nonnull<arith::AndIOp>(op)
            : isa_and_nonnull<arith::OrIOp>(op)) {
    addCondition(op->getOperand(0), holds, isBefore);
    addCondition(op->getOperand(1), holds, isBefore);
    return;
  }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare || !isa<IntegerType, IndexType>(compare.getLhs().getType()))
    return;
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (!holds)
    predicate = arith::invertPredicate(predicate);
  LinearSum a = get(compare.getLhs(), isBefore);
  LinearSum b = get(compare.getRhs(), isBefore);
  LinearSum one(1);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return addZero(a - b);
  case arith::CmpIPredicate::ne:
    addNonNegative(a - b - one, {a - b});
    return addNonNegative(b - a - one, {b - a});
  case arith::CmpIPredicate::slt:
    return addNonNegative(b - a - one);
  case arith::CmpIPredicate::sle:
    return addNonNegative(b - a);
  case arith::CmpIPredicate::sgt:
    return addNonNegative(a - b - one);
  case arith::CmpIPredicate::sge:
    return addNonNegative(a - b);
  // The smaller one of two unsigned numbers is not negative as a signed one if
  // the larger one is not.
  case arith::CmpIPredicate::ult:
    addNonNegative(a, {b});
    return addNonNegative(b - a - one, {b});
  case arith::CmpIPredicate::ule:
    addNonNegative(a, {b});
    return addNonNegative(b - a, {b});
  case arith::CmpIPredicate::ugt:
    addNonNegative(b, {a});
    return addNonNegative(a - b - one, {a});
  case arith::CmpIPredicate::uge:
    addNonNegative(b, {a});
    return addNonNegative(a - b, {a});
  }
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

void IndexConstraints::addLessOrEqual(const LinearSum &a, const LinearSum &b) {
  addNonNegative(b - a);
}

void IndexConstraints::addEqual(const LinearSum &a, const LinearSum &b) {
  addZero(a - b);
}

/// Variables are integers: S * q >= 1 says that q >= 1.
static void round(LinearSum &sum) {
  DynamicAPInt divisor(0);
  for (const auto &[variable, coefficient] : sum.terms)
    divisor = llvm::gcd(divisor, llvm::abs(coefficient));
  if (divisor <= 1)
    return;
  for (auto &term : sum.terms)
    term.second /= divisor;
  sum.constant = llvm::floorDiv(sum.constant, divisor);
}

void IndexConstraints::addNonNegative(LinearSum sum, Premises premises) {
  round(sum);
  constraints.push_back({std::move(sum), false, std::move(premises)});
}

void IndexConstraints::addZero(LinearSum sum, Premises premises) {
  constraints.push_back({std::move(sum), true, std::move(premises)});
}

/// The coefficients of `sum`, then its constant.
static SmallVector<DynamicAPInt> getRow(const LinearSum &sum, unsigned size) {
  SmallVector<DynamicAPInt> row(size + 1);
  for (const auto &[variable, coefficient] : sum.terms)
    row[variable] = coefficient;
  row[size] = sum.constant;
  return row;
}

bool IndexConstraints::areContradictory() {
  assert(!isModular && "modulo 2^32 no number is less than another one");
  unsigned size = variables.size();
  presburger::Simplex simplex(size);
  auto add = [&](const Constraint &constraint) {
    if (constraint.isEquality)
      simplex.addEquality(getRow(constraint.sum, size));
    else
      simplex.addInequality(getRow(constraint.sum, size));
  };
  auto follows = [&](const LinearSum &sum) {
    unsigned snapshot = simplex.getSnapshot();
    simplex.addInequality(getRow(LinearSum(-1) - sum, size));
    bool isImplied = simplex.isEmpty();
    simplex.rollback(snapshot);
    return isImplied;
  };

  SmallVector<const Constraint *> open;
  for (const Constraint &constraint : constraints) {
    if (constraint.premises.empty())
      add(constraint);
    else
      open.push_back(&constraint);
  }
  // What one constraint says may be what another one needs.
  bool isNew = true;
  while (isNew && !simplex.isEmpty()) {
    isNew = false;
    llvm::erase_if(open, [&](const Constraint *constraint) {
      if (!llvm::all_of(constraint->premises, follows))
        return false;
      add(*constraint);
      isNew = true;
      return true;
    });
  }
  return simplex.isEmpty();
}

uint64_t IndexConstraints::getDivisor(const LinearSum &sum,
                                      Divisibility &divisors) const {
  auto getPower = [](const DynamicAPInt &number) {
    int64_t bounded = int64_t(number % DynamicAPInt(int64_t(1) << 62));
    return getPowerOfTwoDivisor(bounded);
  };
  uint64_t divisor = getPower(sum.constant);
  for (const auto &[variable, coefficient] : sum.terms) {
    uint64_t factor = getPower(coefficient);
    Value value = variables[variable];
    uint64_t other = value ? divisors.getDivisor(value) : 1;
    bool isLarge = llvm::Log2_64(factor) + llvm::Log2_64(other) >= 62;
    divisor = std::min(divisor, isLarge ? Divisibility::kMax : factor * other);
  }
  return divisor;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

static bool isArithmetic(Operation *op) {
  return isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp,
                         arith::RemUIOp, arith::DivUIOp, arith::AndIOp,
                         arith::MinUIOp, arith::MaxUIOp, arith::IndexCastOp,
                         arith::IndexCastUIOp, arith::ExtUIOp, arith::ExtSIOp,
                         arith::TruncIOp>(op);
}

static bool isLinear(Operation *op) {
  return isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) ||
         (isArithmetic(op) && op->getNumOperands() == 1);
}

static bool isWithin(IntegerInterval range, int64_t limit) {
  return range.least >= 0 && range.most < limit;
}

bool FewValued::isFew(Value value) {
  if (getConstantIntValue(value))
    return true;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  bool result = (isArithmetic(op) &&
                 llvm::all_of(op->getOperands(),
                              [&](Value operand) { return isFew(operand); })) ||
                isWithin(getRange(value), limit);
  known[value] = result;
  return result;
}

void FewValued::collect(Value value) {
  if (getConstantIntValue(value) || !collected.insert(value).second)
    return;
  Operation *op = value.getDefiningOp();
  bool hasFewOperands =
      isArithmetic(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
        return isFew(operand);
      });
  // Summands may be few-valued although others are not.
  if (hasFewOperands || isLinear(op))
    for (Value operand : op->getOperands())
      collect(operand);
  if (!hasFewOperands && isWithin(getRange(value), limit))
    values.insert(value);
}
