// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RunProcess.h - Child processes ---------------------------*- C++ -*-===//
//
// Runs child processes without changing the signal handling of the host
// program.
#ifndef IRIS_RT_COMPILE_RUNPROCESS_H
#define IRIS_RT_COMPILE_RUNPROCESS_H

#include "iris/rt/Status.h"

#include <chrono>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace iris::rt {

/// "exited with status 3", "was killed by signal 9 (Killed)".
std::string describeExit(int waitStatus);

/// Starts `argv` (argv[0] is a path) with these descriptors as standard input,
/// output and error, and no others. The child gets SIGTERM if the calling
/// thread ends first. The caller must wait for it.
Expected<pid_t> startProcess(const std::vector<std::string> &argv, int in,
                             int out, int messages);

/// The output of a child process.
struct ProcessOutput {
  std::string standard;
  /// Standard error, truncated to a fixed size.
  std::string messages;
};

/// Runs `argv` (argv[0] is a path) with `input` as standard input. Fails unless
/// the child exits with status 0 within `limit`. A child that exceeds the limit
/// is killed, and so is one whose parent, the calling thread, ends first.
Status runProcess(const std::vector<std::string> &argv, std::string_view input,
                  ProcessOutput &output, std::chrono::milliseconds limit);

} // namespace iris::rt

#endif // IRIS_RT_COMPILE_RUNPROCESS_H
