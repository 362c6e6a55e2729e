// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tuning.h - Search for the best configs -------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_BENCH_TUNING_H
#define IRIS_TOOLS_IRIS_BENCH_TUNING_H

#include "Matmuls.h"

namespace iris::bench {

/// Writes the best config of each problem to the table of the options as soon
/// as all configs of the problem are measured, so that an interrupted run keeps
/// its results.
class Tuning {
public:
  /// Fails if an existing table cannot be extended.
  static rt::Expected<Tuning> open(const Options &options,
                                   const rt::World &world);

  /// Called before each case; the cases of a problem are consecutive.
  rt::Status begin(const MatmulCase &each);
  void add(const MatmulCase &each, double us);
  rt::Status finish();

private:
  Tuning(const Options &options, const rt::World &world)
      : options(&options), world(&world) {}
  rt::Status save();

  const Options *options;
  const rt::World *world;
  ccl::MatmulTable table;
  /// The best case of the current problem, and the time of the selector's
  /// choice.
  std::optional<MatmulCase> best;
  double bestUs = 0, chosenUs = 0;
};

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_TUNING_H
