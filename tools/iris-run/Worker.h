// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Worker.h - One rank of the program -----------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_RUN_WORKER_H
#define IRIS_TOOLS_IRIS_RUN_WORKER_H

#include "Options.h"
#include "Results.h"

#include "core/UniqueFd.h"
#include "iris/rt/Env.h"
#include "iris/rt/Package.h"

namespace iris::run {

/// Runs `@main` as the rank of `launch`. Writes buffers to `dumpFd` at every
/// sync, unless it is -1.
RankResult runRank(const Options &options, const rt::LaunchInfo &launch,
                   const rt::Package &package, int dumpFd);

/// Runs a rank in this process: rank and job come from the environment, and the
/// result goes to options.resultFd.
int workerMain(const Options &options);

/// Runs all ranks as threads of this process. `dumps` has a file for the
/// buffers of each rank, or is empty.
std::vector<RankResult> runThreads(const Options &options,
                                   const rt::Package &package,
                                   const std::vector<rt::UniqueFd> &dumps);

} // namespace iris::run

#endif // IRIS_TOOLS_IRIS_RUN_WORKER_H
