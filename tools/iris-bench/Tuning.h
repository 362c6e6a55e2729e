// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search for the best config of a product.
#ifndef IRIS_TOOLS_IRIS_BENCH_TUNING_H
#define IRIS_TOOLS_IRIS_BENCH_TUNING_H

#include "Products.h"

namespace iris::bench {

/// The best config of each problem, as measured.
class Tuning {
public:
  void add(const ProductCase &each, double us);
  /// Adds entries to the table of the options; says how many.
  rt::Status write(const Options &options, const rt::World &world) const;

private:
  struct Best {
    ProductCase which;
    double us = 0;
    /// Of what the selector chose.
    double chosenUs = 0;
  };
  std::vector<Best> best;
};

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_TUNING_H
