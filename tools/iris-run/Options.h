// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.h - Command line of iris-run ---------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_RUN_OPTIONS_H
#define IRIS_TOOLS_IRIS_RUN_OPTIONS_H

#include "iris/rt/Device.h"
#include "iris/rt/Status.h"

#include <optional>
#include <string>
#include <vector>

namespace iris::run {

struct Options {
  uint32_t numRanks = 2;
  rt::DeviceSpec device;
  /// The interpreter executes the ranks, not a device.
  bool reference = false;
  /// The interpreter executes the program as well, and buffers are compared.
  bool compare = false;
  /// The interpreter looks for data races and deadlocks.
  bool check = false;
  /// Of a check: the orders to try.
  std::optional<uint64_t> numSchedules;
  /// Of a check: all orders, up to a number of executions.
  bool exhaust = false;
  std::optional<uint64_t> maxExecutions;
  /// Of a check: files of an order to repeat, of the one that failed and of its
  /// picture; empty: none.
  std::string replay, saveSchedule, draw;
  /// Of the interpreter: programs of a device that run at once.
  std::optional<uint64_t> resident;
  /// Of a comparison: "f32=1e-5,...".
  std::string tolerances;
  /// Determines the order in which the interpreter takes steps.
  std::optional<uint64_t> scheduleSeed;
  bool threads = false;
  bool verbose = false;
  uint64_t heapBytes = 0;
  std::optional<double> waitLimit;
  /// The time limit of the compilation in seconds.
  std::optional<double> compileLimit;
  /// The file of the trace; empty: no trace.
  std::string trace;
  /// Events that the ring of a program keeps; 0: the runtime's default.
  uint32_t traceEvents = 0;
  std::string program;

  bool help = false;
  /// Print the environment variables.
  bool helpEnv = false;
  bool version = false;
  /// Internal: this process is a rank; results go to this descriptor.
  int resultFd = -1;
  /// Internal: buffers are written to this descriptor at every sync.
  int dumpFd = -1;
  /// Internal: print the device's target and exit.
  bool printTarget = false;
  /// Kernels check their accesses.
  bool debug = false;
  /// The program is compiled with line tables.
  bool lineTables = true;
};

rt::Expected<Options> parseOptions(int argc, char **argv);

/// The text of --help.
std::string helpText();

} // namespace iris::run

#endif // IRIS_TOOLS_IRIS_RUN_OPTIONS_H
