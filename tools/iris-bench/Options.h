// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.h - Command line of iris-bench -------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_BENCH_OPTIONS_H
#define IRIS_TOOLS_IRIS_BENCH_OPTIONS_H

#include "KernelList.h"
#include "iris/ccl/Matmul.h"
#include "iris/ccl/Types.h"
#include "iris/rt/Device.h"
#include "iris/rt/Env.h"

#include <optional>
#include <string>
#include <vector>

namespace iris::bench {

std::string helpText();

/// How calls are made and timed: `eager` individually or `graph` as one graph,
/// on the device; `host` individually, on the calling thread.
enum class Mode { eager, graph, host };
const char *modeName(Mode mode);

/// The rows and columns of the result and the values of k, over all ranks; or
/// the extents of a tile.
struct Shape {
  uint64_t m = 0, n = 0, k = 0;
};

struct Options {
  uint32_t numRanks = 2;
  rt::DeviceSpec device;
  /// "sm_90a"; empty: the device's target, or its kind's best-measured one.
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
  /// Empty: the selector's choice. "all": every variant.
  std::vector<std::string> variants;
  std::vector<Mode> modes = {Mode::graph};
  /// Each combination is measured; 0: the selector's choice.
  std::vector<int64_t> programs = {0}, tiles = {0}, warps = {0};
  ccl::ReduceOp reduce = ccl::ReduceOp::sum;
  /// Matmuls; the options below apply to them.
  std::vector<ccl::MatmulKind> matmuls;
  std::vector<Shape> shapes;
  /// Empty: the selector's choice, or the kind's default.
  std::vector<Shape> matmulTiles = {{}};
  std::vector<std::string> shards = {""}, partialTypes = {""};
  /// The layouts of a and b: "row" or "column".
  std::vector<std::string> aLayouts = {"row"}, bLayouts = {"row"};
  std::vector<int64_t> fetchPrograms = {0}, tilesPerCommProgram = {0},
                       kPerFlag = {0}, groupM = {0}, splitK = {0};
  /// The number of candidates to measure for each matmul; 0: no tuning.
  uint64_t tune = 0;
  /// Skip problems that are in the table.
  bool resume = false;
  /// The table for the best configs.
  std::string tablePath;
  /// The file for a cost model of the device; empty: no calibration.
  std::string calibratePath;
  /// The communicator chooses what the options leave open, by measurements of
  /// this level; none: the cost model, without measurements.
  std::optional<rt::TuneLevel> level;
  /// Calls per sample, samples, and samples that are not counted.
  uint32_t calls = 20, samples = 15, warmups = 3;
  uint64_t heapBytes = 0;
  bool inPlace = false, staged = false;
  bool explain = false;
  /// Complete options for further measurements in the same run.
  std::vector<Options> plan;
  std::string planPath;
  /// Packages of kernels that were compiled ahead of time.
  std::vector<std::string> packages;
  /// The file for the source of such a package.
  std::string requestsPath;
  /// Write the requests of libiris_nccl, in place of those of what is measured.
  bool nccl = false;
  nccl::CallKinds ncclCalls;
  std::string jsonPath, commit, machine;
  bool help = false, version = false;
};

rt::Expected<Options> parseOptions(int argc, char **argv);

/// Whether every variant is to be measured, as far as it is possible.
bool asksForAll(const Options &options);

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_OPTIONS_H
