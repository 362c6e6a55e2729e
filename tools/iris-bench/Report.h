// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What people and programs read.
#ifndef IRIS_TOOLS_IRIS_BENCH_REPORT_H
#define IRIS_TOOLS_IRIS_BENCH_REPORT_H

#include "Matmuls.h"
#include "Measure.h"

#include <cstdio>

namespace iris::bench {

/// A table on standard output, progress on standard error, JSON in a file.
class Report {
public:
  static rt::Expected<std::unique_ptr<Report>> open(const Options &options);
  ~Report();

  /// What went wrong in writing; nothing is reported after it.
  rt::Status finish();

  void begin(const rt::World &world, size_t numCases, size_t numMatmuls);
  void progress(size_t number, const Case &each);
  void progress(size_t number, const MatmulCase &each);
  void add(const Case &each, const Timing &timing);
  /// The variant cannot do this case.
  void skip(const Case &each, const rt::Status &status);
  void fail(const Case &each, const rt::Status &status);

  void add(const MatmulCase &each, const MatmulTiming &timing);
  void skip(const MatmulCase &each, const rt::Status &status);
  void fail(const MatmulCase &each, const rt::Status &status);

private:
  explicit Report(const Options &options) : options_(options) {}
  void clearProgress();
  void printProgress(size_t number, const std::string &what);

  const Options &options_;
  std::FILE *json_ = nullptr;
  size_t numCases_ = 0, numAll_ = 0;
  bool showsProgress_ = false;
  std::string device_;
};

/// Prints what the selector chooses for every operation and size, and why.
void explain(const Options &options);

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_REPORT_H
