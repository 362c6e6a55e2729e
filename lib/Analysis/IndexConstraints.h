// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of index values at two points of one execution, as linear
// constraints.
#ifndef IRIS_LIB_ANALYSIS_INDEXCONSTRAINTS_H
#define IRIS_LIB_ANALYSIS_INDEXCONSTRAINTS_H

#include "iris/Analysis/Divisibility.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/PointerIntPair.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <limits>
#include <optional>

namespace mlir::iris {

/// An interval of integers, both ends included.
struct IntegerInterval {
  static constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

  int64_t least = kLeast;
  int64_t most = kMost;

  /// Every number of this interval plus every one of `other`; unbounded where
  /// that does not fit.
  IntegerInterval operator+(const IntegerInterval &other) const;
  bool isBefore(const IntegerInterval &other) const {
    return most < other.least;
  }
};

/// An SSA value, either as it is now or as it was in an earlier iteration.
using IndexSymbol = llvm::PointerIntPair<Value, 1, bool>;

/// A sum of variables with coefficients, and a constant.
struct LinearSum {
  /// A variable, by its number, and its coefficient, which is not 0.
  using Term = std::pair<unsigned, llvm::DynamicAPInt>;

  llvm::DynamicAPInt constant;
  /// Ascending variables. Sums are copied often and have few terms.
  SmallVector<Term, 4> terms;

  LinearSum(int64_t constant = 0) : constant(constant) {}

  LinearSum &add(const LinearSum &other, const llvm::DynamicAPInt &factor);
  LinearSum operator+(const LinearSum &other) const;
  LinearSum operator-(const LinearSum &other) const;
  LinearSum operator*(int64_t factor) const;
  /// The value if it depends on no variable.
  std::optional<int64_t> getConstant() const;
};

/// Collects constraints on integers, then says whether they contradict each
/// other.
///
/// Arithmetic on i32 is looked into where it cannot wrap, or where numbers are
/// wanted modulo 2^32 only. Index arithmetic is taken not to overflow 64 bits.
class IndexConstraints {
public:
  using GetRange = std::function<IntegerInterval(Value)>;
  using IsStale = std::function<bool(Value)>;
  using Case = llvm::SmallDenseMap<IndexSymbol, int64_t, 4>;

  /// `isStale` says which values have changed since the earlier iteration that
  /// callers ask for with `isBefore`. `chosen` fixes values. Sums that are
  /// right only modulo 2^32 have divisors, but no constraints.
  IndexConstraints(GetRange getRange, IsStale isStale, Case chosen,
                   bool isModular)
      : getRange(std::move(getRange)), isStale(std::move(isStale)),
        chosen(std::move(chosen)), isModular(isModular) {}

  /// `value` as of the earlier iteration, or of now. Adds what is known of it.
  LinearSum get(Value value, bool isBefore);
  /// A new variable within `interval`.
  LinearSum addVariable(IntegerInterval interval);

  void addLessOrEqual(const LinearSum &a, const LinearSum &b);
  void addEqual(const LinearSum &a, const LinearSum &b);
  /// Adds what the control flow around `op` says where `op` is executed.
  void addControl(Operation *op, bool isBefore);

  /// Adds that `loop` has gone on since the earlier iteration.
  void addEarlier(scf::ForOp loop);

  /// True if no integers satisfy all that was added; false if that is not
  /// known.
  bool areContradictory();

  /// The largest power of two that is known to divide `sum`.
  uint64_t getDivisor(const LinearSum &sum, Divisibility &divisors) const;

private:
  using Premises = SmallVector<LinearSum, 0>;
  /// `sum` >= 0, or == 0, known only where every premise is >= 0.
  struct Constraint {
    LinearSum sum;
    bool isEquality;
    Premises premises;
  };

  LinearSum compute(Value value, bool isBefore);
  std::optional<LinearSum> computeExactly(Operation *op, bool isBefore);
  void describe(Value value, const LinearSum &sum, bool isBefore);
  LinearSum computeCounter(scf::ForOp loop, bool isBefore);
  void addCondition(Value condition, bool holds, bool isBefore);
  void addNonNegative(LinearSum sum, Premises premises = {});
  void addZero(LinearSum sum, Premises premises = {});

  GetRange getRange;
  IsStale isStale;
  Case chosen;
  bool isModular;
  /// What values are: themselves, and modulo 2^32.
  llvm::DenseMap<IndexSymbol, LinearSum> sums[2];
  /// What the variables stand for; null for those that stand for no value.
  SmallVector<Value> variables;
  SmallVector<Constraint, 0> constraints;
};

/// Finds what values depend on, where that takes few different numbers. Fixing
/// it makes more expressions linear.
class FewValued {
public:
  /// Numbers are few if they are from 0 to `limit` - 1.
  FewValued(IndexConstraints::GetRange getRange, int64_t limit)
      : getRange(std::move(getRange)), limit(limit) {}

  void collect(Value value);
  ArrayRef<Value> getValues() const { return values.getArrayRef(); }

private:
  /// Whether `value` depends on nothing else.
  bool isFew(Value value);

  IndexConstraints::GetRange getRange;
  int64_t limit;
  llvm::SetVector<Value> values;
  /// Each value is looked at once: paths through sums are exponential.
  llvm::DenseMap<Value, bool> known;
  llvm::DenseSet<Value> collected;
};

} // namespace mlir::iris

#endif // IRIS_LIB_ANALYSIS_INDEXCONSTRAINTS_H
