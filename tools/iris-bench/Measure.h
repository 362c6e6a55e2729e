// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One rank's part in the measurements.
#ifndef IRIS_TOOLS_IRIS_BENCH_MEASURE_H
#define IRIS_TOOLS_IRIS_BENCH_MEASURE_H

#include "Options.h"

#include "iris/ccl/Communicator.h"
#include "iris/ccl/Selector.h"

#include <functional>
#include <set>

namespace iris::bench {

/// A collective of one size, done one way.
struct Case {
  ccl::Op op;
  ccl::DType dtype;
  uint64_t count;
  Mode mode;
  ccl::Config config;
  /// Whether the config is what the selector chooses.
  bool chosen = false;
  ccl::ReduceOp reduce = ccl::ReduceOp::sum;
  bool inPlace = false;
  /// The variant is one of all, and may not be able to do this.
  bool mayBeImpossible = false;
};

/// Microseconds of one call, of the slowest rank.
struct Timing {
  double median = 0, q1 = 0, q3 = 0, least = 0, most = 0;
  /// In a sample.
  uint32_t calls = 0;
  /// Milliseconds of the very first call on rank 0, host time, until its result
  /// is there: with what it takes to get the kernel, if no case before had it.
  double firstMs = 0;
};

/// The cases that the options ask for, in order.
std::vector<Case> casesOf(const Options &options);

/// The .mlir text that the cases' kernels are compiled of.
std::set<std::string> requestsOf(const Options &options,
                                 const std::vector<Case> &cases);

/// What the selector knows of a case.
ccl::TuningKey tuningKeyOf(const Options &options, ccl::Op op, ccl::DType dtype,
                           uint64_t bytes);

class Measurement {
public:
  /// `bytes`: of heap that is needed beside the cases' buffers.
  static rt::Expected<std::unique_ptr<Measurement>>
  create(const Options &options, const std::vector<Case> &cases,
         uint64_t bytes);

  /// Collective.  An error if the result was wrong on any rank.
  rt::Expected<Timing> run(const Case &each);

  rt::World &world() { return *world_; }
  rt::Stream stream() const { return stream_; }
  rt::Status finish();

  using Call = std::function<rt::Status()>;
  /// The first call, whose result `check` looks at.
  rt::Expected<double> first(const Call &call, const Call &check);
  /// Samples of calls of which each takes about `callMs`.
  rt::Expected<Timing> time(Mode mode, const Call &call, double callMs);
  /// Milliseconds of one call, of the slowest rank.
  rt::Expected<double> timeOne(const Call &call);
  /// The largest of all ranks' numbers.
  rt::Expected<double> largest(double mine);

private:
  Measurement(const Options &options, std::unique_ptr<rt::World> world)
      : options_(options), world_(std::move(world)) {}

  rt::Status call(const Case &each, uint64_t in, uint64_t out);
  rt::Status checkOutput(const Case &each, uint64_t out);

  const Options &options_;
  std::unique_ptr<rt::World> world_;
  std::unique_ptr<ccl::Communicator> comm_;
  rt::Stream stream_;
  rt::Event start_, end_;
  /// Two numbers on the heap, for what ranks tell each other.
  uint64_t exchange_ = 0;
  /// The buffers of all cases, and the bytes of each.
  uint64_t in_ = 0, out_ = 0, bytes_ = 0;
};

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_MEASURE_H
