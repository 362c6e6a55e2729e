// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TOOLS_IRIS_BENCH_OPTIONS_H
#define IRIS_TOOLS_IRIS_BENCH_OPTIONS_H

#include "iris/ccl/Matmul.h"
#include "iris/ccl/Types.h"
#include "iris/rt/Device.h"

#include <optional>
#include <string>
#include <vector>

namespace iris::bench {

extern const char helpText[];

/// How calls are made: one by one, or as a graph; and what is timed: the
/// device, or with `host` the calling thread alone.
enum class Mode { eager, graph, host };
const char *modeName(Mode mode);

/// Rows and columns of what is computed, and values of k, over all ranks; or
/// those of a tile.
struct Shape {
  uint64_t m = 0, n = 0, k = 0;
};

struct Options {
  uint32_t numRanks = 2;
  rt::DeviceKind device = rt::DeviceKind::host;
  /// "sm_90a"; empty: the device's own, or the best known of its kind.
  std::string target;
  /// What the device that is measured says of itself; empty with --explain.
  std::optional<rt::DeviceAttributes> attributes;
  const rt::DeviceAttributes *attributesOrNull() const {
    return attributes ? &*attributes : nullptr;
  }
  std::vector<ccl::Op> ops = {ccl::Op::allReduce, ccl::Op::allGather};
  std::vector<ccl::DType> dtypes = {ccl::DType::bf16};
  /// Bytes of one chunk.
  std::vector<uint64_t> sizes;
  /// Empty: what the selector chooses. "all": every variant.
  std::vector<std::string> variants;
  std::vector<Mode> modes = {Mode::graph};
  /// Each combination is measured; zero: the selector's.
  std::vector<int64_t> programs = {0}, tiles = {0}, warps = {0};
  ccl::ReduceOp reduce = ccl::ReduceOp::sum;
  /// Matmuls, which the options below are for.
  std::vector<ccl::MatmulKind> matmuls;
  std::vector<Shape> shapes;
  /// Empty: the selector's, or the kind's default.
  std::vector<Shape> matmulTiles = {{}};
  std::vector<std::string> shards = {""}, shares = {""};
  /// How a and b lie in memory: "row" or "column".
  std::vector<std::string> aLayouts = {"row"}, bLayouts = {"row"};
  std::vector<int64_t> fetchPrograms = {0}, tilesPerCommProgram = {0},
                       kPerFlag = {0}, groupM = {0}, splitK = {0};
  /// Candidates to measure for each matmul; 0: none.
  uint64_t tune = 0;
  /// Problems that the table has are left out.
  bool resume = false;
  /// The table that the best of them go to.
  std::string tablePath;
  /// Calls in a sample, samples, and samples that are not counted.
  uint32_t calls = 20, samples = 15, warmups = 3;
  uint64_t heapBytes = 0;
  bool inPlace = false, staged = false;
  bool explain = false;
  /// More to measure in the same run: options, each set for itself.
  std::vector<Options> plan;
  std::string planPath;
  /// Kernels that were compiled ahead.
  std::vector<std::string> packages;
  /// Where to write what such a package is compiled of.
  std::string requestsPath;
  std::string jsonPath, commit, machine;
  bool help = false, version = false;
};

rt::Expected<Options> parseOptions(int argc, char **argv);

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_OPTIONS_H
