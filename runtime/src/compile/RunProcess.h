// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RunProcess.h - Child processes ---------------------------*- C++ -*-===//
//
// Runs child processes without changing the signal handling of the host
// program.
#ifndef IRIS_RT_COMPILE_RUNPROCESS_H
#define IRIS_RT_COMPILE_RUNPROCESS_H

#include "iris/rt/Status.h"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace iris::rt {

/// "exited with status 3", "was killed by signal 9 (Killed)".
std::string describeExit(int waitStatus);

/// Starts `argv` (argv[0] is a path) with these descriptors as standard input,
/// output and error, and no others. The child gets SIGTERM if the calling
/// thread ends first. The caller must wait for it. With `leadsGroup` it leads a
/// process group of its own.
Expected<pid_t> startProcess(const std::vector<std::string> &argv, int in,
                             int out, int messages, bool leadsGroup = false);

/// The output of a child process.
struct ProcessOutput {
  std::string standard;
  /// Standard error, truncated to a fixed size.
  std::string messages;
};

struct ProcessOptions {
  /// A child that runs for longer is killed.
  std::chrono::nanoseconds limit;
  /// What errors call the child; its path if empty.
  std::string name = {};
  /// False: standard error is this process'.
  bool keepsMessages = true;
  /// Called many times a second; the child is killed when it returns true.
  std::function<bool()> isCancelled = {};
};

/// Runs `argv` (argv[0] is a path) with `input` as standard input. Fails unless
/// the child exits with status 0 within the limit. Every process that the child
/// has started, unless in a group of its own, ends with it. If its parent, the
/// calling thread, ends first, the child gets SIGTERM.
Status runProcess(const std::vector<std::string> &argv, std::string_view input,
                  ProcessOutput &output, const ProcessOptions &options);

} // namespace iris::rt

#endif // IRIS_RT_COMPILE_RUNPROCESS_H
