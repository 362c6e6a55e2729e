// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measurements of matmuls, alone and fused with communication.
#ifndef IRIS_TOOLS_IRIS_BENCH_MATMULS_H
#define IRIS_TOOLS_IRIS_BENCH_MATMULS_H

#include "Measure.h"

#include "iris/ccl/MatmulSelector.h"

#include <optional>
#include <set>

namespace iris::bench {

class MatmulData;

/// A matmul, done one way.
struct MatmulCase {
  ccl::MatmulProblem problem;
  Shape shape;
  Mode mode = Mode::graph;
  /// Whether the config is what the selector chooses.
  bool chosen = false;
  /// The variant is one of all, and may not be able to do this.
  bool mayBeImpossible = false;
  /// Cases that differ in their configs only: of one problem.
  size_t group = 0;
  /// Why it cannot be done, if that is known.
  rt::Status status;
};

/// What comes of a case.
struct MatmulTiming {
  Timing timing;
  /// Of what rounding may make.
  double error = 0;
  double tflops = 0;
};

/// The cases that the options ask for, in order.
rt::Expected<std::vector<MatmulCase>> matmulsOf(const Options &options);

/// Adds the .mlir text that the cases' kernels are compiled of.
void addRequests(const Options &options, const std::vector<MatmulCase> &cases,
                 std::set<std::string> &requests);

/// Most bytes of heap that one of the cases takes.
uint64_t heapBytesOf(const Options &options,
                     const std::vector<MatmulCase> &cases);

/// One rank's part.
class MatmulRun {
public:
  explicit MatmulRun(Measurement &measurement) : measurement(measurement) {}

  /// Collective.  An error if the result was wrong on any rank.
  rt::Expected<MatmulTiming> run(const MatmulCase &each);
  /// Frees the matrices.  Collective.
  rt::Status release();

  /// On the heap.
  struct Matrices {
    uint64_t a = 0, b = 0, c = 0;
  };

private:
  rt::Status prepare(const MatmulCase &each, const MatmulData &data);

  Measurement &measurement;
  Matrices at;
  /// Whose matrices they are.
  std::optional<size_t> group;
};

/// What one rank has of a shape; `layouts` says how matrices lie in memory.
rt::Expected<ccl::MatmulProblem>
problemOf(uint32_t numRanks, ccl::MatmulKind kind, ccl::DType dtype,
          const std::string &shard, const std::string &share,
          const Shape &shape, const ccl::MatmulProblem &layouts);

/// "all_gather_matmul k, a column".
std::string matmulName(const ccl::MatmulProblem &problem);

/// What the selector is told.
ccl::MatmulTuningKey tuningKeyOf(const Options &options,
                                 const ccl::MatmulProblem &problem);

/// Prints what the selector chooses for every matmul, and why.
rt::Status explainMatmuls(const Options &options);

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_MATMULS_H
