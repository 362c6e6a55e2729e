// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulPlan.h - Shapes, memory and requests of matmuls ----*- C++ -*-===//
#ifndef IRIS_RT_CCL_MATMULPLAN_H
#define IRIS_RT_CCL_MATMULPLAN_H

#include "iris/Plan/FusedSizes.h"
#include "iris/ccl/MatmulSelector.h"

namespace iris::ccl {

struct Extents {
  Extents() = default;
  Extents(uint64_t rows, uint64_t columns) : rows(rows), columns(columns) {}
  explicit Extents(const plan::MatrixSize &size)
      : Extents(static_cast<uint64_t>(size.rows),
                static_cast<uint64_t>(size.columns)) {}

  uint64_t rows = 0, columns = 0;
};

/// The sizes of all kernel arguments.
struct MatmulPlan {
  Extents a, b, c, staging;
  uint64_t stagingBytes = 0;
  uint64_t workspaceBytes = 0;
  /// Programs of a launch that has at most `most`.
  uint64_t programs(uint64_t most) const;

  plan::MatmulForm form;
  plan::MatmulShape<int64_t> shape = {};
};

/// Checks the problem before a config is selected.
rt::Status checkProblem(const MatmulProblem &problem, uint32_t groupSize);

/// Fills in the defaults of fields that change the result: shard, partial_type.
void fillSemantics(MatmulProblem &problem);

/// Checks the problem, fills in the fields that sizes depend on, and returns
/// the sizes.
rt::Expected<MatmulPlan> makePlan(MatmulProblem &problem, uint32_t groupSize);

/// What is known of a kind; the value must be one.
constexpr const plan::Matmul &getMatmul(MatmulKind kind) {
  return plan::getMatmul(static_cast<plan::MatmulKind>(kind));
}
/// What is known of a variant; one without traits if there is none of that
/// name.
const plan::MatmulVariant &getVariant(MatmulKind kind,
                                      const std::string &variant);

/// Whether a matmul and a separate collective replace the fused kernel.
bool isUnfused(MatmulKind kind, const std::string &variant);

/// Whether copy engines move the data while the kernel runs.
bool usesCopyEngine(MatmulKind kind, const std::string &variant);

/// The problem's tiles and memory, with the kernel generators' defaults for
/// what its config leaves open.
plan::MatmulForm formOf(const MatmulProblem &problem);

/// The matrices' shapes by which tiles are counted.
plan::MatmulShape<int64_t> shapeOf(const MatmulProblem &problem,
                                   const plan::MatmulForm &form,
                                   uint64_t groupSize);

/// The flags of the variant copy_engine, one cache line each: those of the
/// kernel (plan::CopyLayout), and the host's:
///   flagValue       the value of a set flag
///   initialValues   values of the kernel's flags at the start of a call
/// Each rank owns `rows` rows of a matrix in groups of `groupRows`; each group
/// is one copy.
struct CopiedLayout {
  uint64_t rows = 0, groupRows = 1, groups = 0;
  plan::CopyFlags<int64_t> flags = {};
  uint64_t doneFlag = 0;

  uint64_t numArrived() const { return number(flags.missing); }
  uint64_t numMissing() const { return number(flags.entered - flags.missing); }
  uint64_t missing() const { return number(flags.missing); }
  uint64_t entered() const { return number(flags.entered); }
  uint64_t done() const { return doneFlag; }
  uint64_t numFlags() const { return number(flags.count); }
  uint64_t flagValue() const { return numFlags(); }
  uint64_t initialValues() const { return flagValue() + 1; }
  uint64_t words() const { return initialValues() + numFlags(); }

private:
  static uint64_t number(int64_t value) { return static_cast<uint64_t>(value); }
};
CopiedLayout copiedLayout(const MatmulProblem &problem, uint32_t groupSize);

/// "matmul f16 -> f16 size 8 {variant = ...}"; equal texts mean equal kernels.
std::string describeRequest(const MatmulProblem &problem, uint32_t groupSize);

/// Whether a kernel that was compiled ahead of time matches the problem with
/// its complete config.
bool isKernelOf(const rt::KernelInfo &kernel, const MatmulProblem &problem,
                uint32_t groupSize);

/// The accumulator type.
DType sumType(DType element);

/// A numeric field of a config, with its key, range and default. The default of
/// `programs` is set in requests, all others by the generators; that of
/// communication programs depends on other fields.
struct MatmulNumber {
  plan::ConfigNumber number;
  int64_t MatmulConfig::*value;
  bool hasDefault = true;

  std::string key() const { return std::string(number.key); }
};

/// All numeric fields, in the order of requests.
inline constexpr MatmulNumber matmulNumbers[] = {
    {plan::matmul_numbers::tileM, &MatmulConfig::tileM},
    {plan::matmul_numbers::tileN, &MatmulConfig::tileN},
    {plan::matmul_numbers::tileK, &MatmulConfig::tileK},
    {plan::matmul_numbers::groupM, &MatmulConfig::groupM},
    {plan::matmul_numbers::xcds, &MatmulConfig::xcds},
    {plan::matmul_numbers::warps, &MatmulConfig::warps},
    {plan::matmul_numbers::programs, &MatmulConfig::programs},
    {plan::matmul_numbers::kPerFlag, &MatmulConfig::kPerFlag},
    {plan::matmul_numbers::fetchPrograms, &MatmulConfig::numFetchPrograms,
     /*hasDefault=*/false},
    {plan::matmul_numbers::tilesPerCommProgram,
     &MatmulConfig::tilesPerCommProgram},
    {plan::matmul_numbers::splitK, &MatmulConfig::splitK},
    {plan::matmul_numbers::fetchStages, &MatmulConfig::numFetchStages},
    {plan::matmul_numbers::firstStageFetchPrograms,
     &MatmulConfig::firstStageFetchPrograms, /*hasDefault=*/false},
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MATMULPLAN_H
