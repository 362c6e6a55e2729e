// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One child process, run to its end.  It leaves the host program's signal
// handling alone, which belongs to whoever loaded this library.
#ifndef IRIS_RT_COMPILE_RUNPROCESS_H
#define IRIS_RT_COMPILE_RUNPROCESS_H

#include "iris/rt/Status.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace iris::rt {

/// "exited with status 3", "was killed by signal 9 (Killed)".
std::string describeExit(int waitStatus);

/// What a child wrote.
struct ProcessOutput {
  std::string standard;
  /// Standard error, up to a bound.
  std::string messages;
};

/// Runs `argv` (argv[0] is a path) with `input` as its standard input.  An
/// error unless it exits with status 0 within `limit`; a child that takes
/// longer is killed, and so is one whose parent, the calling thread, ends
/// first.
Status runProcess(const std::vector<std::string> &argv, std::string_view input,
                  ProcessOutput &output, std::chrono::milliseconds limit);

} // namespace iris::rt

#endif // IRIS_RT_COMPILE_RUNPROCESS_H
