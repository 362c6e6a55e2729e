// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.h - Command line of iris-run ---------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_RUN_OPTIONS_H
#define IRIS_TOOLS_IRIS_RUN_OPTIONS_H

#include "iris/rt/Check.h"
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
  /// How the interpreter executes the program, but for the ranks and the heap,
  /// which devices have as well. Without `check` only the seed and the resident
  /// programs count.
  rt::CheckOptions interpreter;
  /// Of a comparison: "f32=1e-5,...".
  std::string tolerances;
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
