// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Measure.h - Measurements of one rank ---------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_BENCH_MEASURE_H
#define IRIS_TOOLS_IRIS_BENCH_MEASURE_H

#include "Options.h"

#include "iris/ccl/Communicator.h"
#include "iris/ccl/Selector.h"

#include <functional>
#include <set>

namespace iris::bench {

/// A collective of one size, with a config.
struct Case {
  ccl::Op op;
  ccl::DType dtype;
  uint64_t count;
  Mode mode;
  ccl::Config config;
  /// Whether the selector chooses this config.
  bool chosen = false;
  ccl::ReduceOp reduce = ccl::ReduceOp::sum;
  bool inPlace = false;
  /// The case comes from "all" variants, and may not be possible.
  bool mayBeImpossible = false;
  /// The communicator selects; `config` is what the cost model chooses.
  bool isOpen = false;
};

/// Microseconds per call, of the slowest rank.
struct Timing {
  double median = 0, q1 = 0, q3 = 0, least = 0, most = 0;
  /// Calls per sample.
  uint32_t calls = 0;
  /// Host milliseconds of the first call on rank 0 until its result is
  /// available, including the time to get the kernel if no earlier case loaded
  /// it.
  double firstMs = 0;
  /// What the communicator has selected, and why, for a case that is open.
  std::string choice = {};
};

/// The cases of the options, in order.
std::vector<Case> casesOf(const Options &options);

/// The .mlir modules from which the cases' kernels are compiled.
std::set<std::string> requestsOf(const Options &options,
                                 const std::vector<Case> &cases);

/// The selector's input for a case.
ccl::TuningKey tuningKeyOf(const Options &options, ccl::Op op, ccl::DType dtype,
                           uint64_t bytes);

class Measurement {
public:
  /// `bytes`: the bytes of heap needed in addition to the cases' buffers.
  static rt::Expected<std::unique_ptr<Measurement>>
  create(const Options &options, const std::vector<Case> &cases,
         uint64_t bytes);

  /// Collective. Fails if the result is wrong on any rank.
  rt::Expected<Timing> run(const Case &each);

  rt::World &world() { return *world_; }
  rt::Stream stream() const { return stream_; }
  rt::Status finish();

  using Call = std::function<rt::Status()>;
  /// Makes and times the first call; `check` verifies its result.
  rt::Expected<double> first(const Call &call, const Call &check);
  /// Times samples of calls, each of which takes about `callMs`.
  rt::Expected<Timing> time(Mode mode, const Call &call, double callMs);
  /// Milliseconds of one call, of the slowest rank.
  rt::Expected<double> timeOne(const Call &call);
  /// The maximum over all ranks.
  rt::Expected<double> largest(double mine);

private:
  Measurement(const Options &options, std::unique_ptr<rt::World> world)
      : options_(options), world_(std::move(world)) {}

  /// The arguments of a case's call; those of a send for pairs.
  ccl::Call callOf(const Case &each, uint64_t in, uint64_t out);
  rt::Status call(const Case &each, uint64_t in, uint64_t out);
  rt::Status checkOutput(const Case &each, uint64_t out);

  const Options &options_;
  std::unique_ptr<rt::World> world_;
  std::unique_ptr<ccl::Communicator> comm_;
  rt::Stream stream_;
  rt::Event start_, end_;
  /// Two numbers on the heap, for exchanges between ranks.
  uint64_t exchange_ = 0;
  /// The buffers of all cases, and their sizes in bytes.
  uint64_t in_ = 0, out_ = 0, bytes_ = 0;
};

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_MEASURE_H
