// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One child process, run to its end.  It leaves the host program's signal
// handling alone, which belongs to whoever loaded this library.
#ifndef IRIS_RT_COMPILE_RUNPROCESS_H
#define IRIS_RT_COMPILE_RUNPROCESS_H

#include "iris/rt/Status.h"

#include <chrono>
#include <string>
#include <vector>

namespace iris::rt {

/// "exited with status 3", "was killed by signal 9 (Killed)".
std::string describeExit(int waitStatus);

/// Runs `argv` (argv[0] is a path) with no input; `output` gets what it wrote
/// to standard output and error, up to a bound.  An error unless it exits with
/// status 0 within `limit`; a child that takes longer is killed.
Status runProcess(const std::vector<std::string> &argv, std::string &output,
                  std::chrono::milliseconds limit);

} // namespace iris::rt

#endif // IRIS_RT_COMPILE_RUNPROCESS_H
