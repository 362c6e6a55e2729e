// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search for the best config of a matmul.
#ifndef IRIS_TOOLS_IRIS_BENCH_TUNING_H
#define IRIS_TOOLS_IRIS_BENCH_TUNING_H

#include "Matmuls.h"

namespace iris::bench {

/// Puts the best config of each problem into the table of the options, as soon
/// as all of the problem's were measured: what ends early keeps what it has.
class Tuning {
public:
  /// Fails if there is a table already that cannot be extended.
  static rt::Expected<Tuning> open(const Options &options,
                                   const rt::World &world);

  /// Before a case is measured; those of one problem follow each other.
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
  /// Of the present problem: the best so far, and the selector's.
  std::optional<MatmulCase> best;
  double bestUs = 0, chosenUs = 0;
};

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_TUNING_H
