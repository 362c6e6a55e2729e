// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_HIDDENOPERANDS_H
#define IRIS_TARGET_HIDDENOPERANDS_H

#include "iris/Guards/Guards.h"
#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Hides operands from code generation for AMD GPUs that it would combine with
/// their users to code with other results. Applies to IR that is ready for code
/// generation. LLVM 22.1.8:
///   * divides numbers below 2^24 in f32, and corrects a quotient that is too
///     small, but not one that is too large, which occurs from 2^22 on
///     (`Guard::Divisions24`);
///   * takes a byte of the sign of `ashr x, 8` for a byte of x
///     (`Guard::SignBytes`);
///   * takes a byte of x for a zero byte of `(lshr x, 24) << 16` if it packs
///     other bytes with it (`Guard::ZeroBytes`);
///   * crashes at a selection of `<2 x i32>` whose signs were masked
///     (`Guard::SignMasks`);
///   * replaces K in `select (fcmp one x, K), y, K` by x, which may be NaN; so
///   K
///     is hidden from the comparison (`Guard::SelectedConstants`);
///   * takes a number with two limits, one of them 0.0, for a median, whose
///     zeros have no order (`Guard::ClampedZeros`);
///   * makes the negative of a limited number the median of negatives, which is
///     another one for NaN (`Guard::NegatedMedians`);
///   * makes the minimum of `x - floor(x)` and the largest number below 1 a
///     fraction, which is NaN for infinities (`Guard::InfiniteFractions`);
///   * drops the masks of 24 bits of factors whose product is added in 64 bits
///     (`Guard::Multiply24`);
///   * adds the carry of `x + y` to that of `(x + y) + carry`
///     (`Guard::Carries`).
///
/// A constant is hidden by a readfirstlane of it, any other value by `xor` with
/// a hidden 0. Both become constants again, and the `xor` disappears, after
/// instruction selection.
///
/// Only code generation may follow this pass.
class HiddenOperandsPass : public llvm::PassInfoMixin<HiddenOperandsPass> {
public:
  explicit HiddenOperandsPass(GuardSet guards) : guards(guards) {}

  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results must not depend on the optimization level.
  static bool isRequired() { return true; }

private:
  GuardSet guards;
};

} // namespace mlir::iris

#endif // IRIS_TARGET_HIDDENOPERANDS_H
