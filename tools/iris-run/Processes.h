// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Processes.h - Ranks as processes -------------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_RUN_PROCESSES_H
#define IRIS_TOOLS_IRIS_RUN_PROCESSES_H

#include "ChildProcess.h"
#include "Options.h"
#include "Results.h"

#include "core/UniqueFd.h"

namespace iris::run {

/// Runs the package on options.numRanks processes. `dumps` has a file for the
/// buffers of each rank, or is empty. A failed status means that
/// they could not be started; errors of a rank are in its result.
rt::Expected<std::vector<RankResult>>
runProcesses(Supervisor &supervisor, const Options &options,
             const std::string &packageBytes,
             const std::vector<rt::UniqueFd> &dumps);

} // namespace iris::run

#endif // IRIS_TOOLS_IRIS_RUN_PROCESSES_H
