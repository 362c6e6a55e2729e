// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Report.h - Output of iris-bench --------------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_BENCH_REPORT_H
#define IRIS_TOOLS_IRIS_BENCH_REPORT_H

#include "Matmuls.h"
#include "Measure.h"

#include <cstdio>

namespace iris::bench {

/// Prints a table on standard output and progress on standard error, and writes
/// JSON to a file.
class Report {
public:
  static rt::Expected<std::unique_ptr<Report>> open(const Options &options);
  ~Report();

  /// Closes the file; returns the error of any write. Call last.
  rt::Status finish();

  void begin(const rt::World &world, size_t numCases, size_t numMatmuls);
  void progress(size_t number, const Case &each);
  void progress(size_t number, const MatmulCase &each);
  void add(const Case &each, const Timing &timing);
  /// The variant does not support this case.
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

/// Prints the selector's choice for every operation and size, and the reason.
void explain(const Options &options);

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_REPORT_H
