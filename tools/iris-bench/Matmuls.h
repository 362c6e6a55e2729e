// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matmuls.h - Measurement of matmuls -----------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_BENCH_MATMULS_H
#define IRIS_TOOLS_IRIS_BENCH_MATMULS_H

#include "Measure.h"

#include "iris/ccl/MatmulSelector.h"

#include <optional>
#include <set>

namespace iris::bench {

class MatmulData;

/// A matmul with a config.
struct MatmulCase {
  ccl::MatmulProblem problem;
  Shape shape;
  Mode mode = Mode::graph;
  /// Whether the selector chooses this config.
  bool chosen = false;
  /// The case comes from "all" variants or from tuning, and may not be
  /// possible.
  bool mayBeImpossible = false;
  /// Equal for cases that differ in their configs only.
  size_t group = 0;
  /// Why the case is not possible, if known.
  rt::Status status;
  /// Because the device lacks what the variant needs.
  bool isUnsupported = false;
};

/// The result of a case.
struct MatmulTiming {
  Timing timing;
  /// The largest error, relative to the bound for rounding.
  double error = 0;
  double tflops = 0;
};

/// The cases of the options, in order.
rt::Expected<std::vector<MatmulCase>> matmulsOf(const Options &options);

/// Adds the .mlir modules from which the cases' kernels are compiled.
void addRequests(const Options &options, const std::vector<MatmulCase> &cases,
                 std::set<std::string> &requests);

/// The maximum number of heap bytes of any case.
uint64_t heapBytesOf(const Options &options,
                     const std::vector<MatmulCase> &cases);

/// One rank's part of the measurement.
class MatmulRun {
public:
  explicit MatmulRun(Measurement &measurement) : measurement(measurement) {}

  /// Collective. Fails if the result is wrong on any rank.
  rt::Expected<MatmulTiming> run(const MatmulCase &each);
  /// Frees the matrices.  Collective.
  rt::Status release();

  /// Addresses on the heap.
  struct Matrices {
    uint64_t a = 0, b = 0, c = 0;
  };

private:
  rt::Status prepare(const MatmulCase &each, const MatmulData &data);

  Measurement &measurement;
  Matrices at;
  /// The group that the matrices belong to.
  std::optional<size_t> group;
};

/// One rank's problem for a shape; `layouts` has the layouts of the matrices.
rt::Expected<ccl::MatmulProblem>
problemOf(uint32_t numRanks, ccl::MatmulKind kind, ccl::DType dtype,
          const std::string &shard, const std::string &partialType,
          const Shape &shape, const ccl::MatmulProblem &layouts);

/// "all_gather_matmul k, a column".
std::string matmulName(const ccl::MatmulProblem &problem);

/// The selector's input.
ccl::MatmulTuningKey tuningKeyOf(const Options &options,
                                 const ccl::MatmulProblem &problem);

/// Prints the selector's choice for every matmul and the reason.
rt::Status explainMatmuls(const Options &options);

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_MATMULS_H
