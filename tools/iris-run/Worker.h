// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One rank of the program.
#ifndef IRIS_TOOLS_IRIS_RUN_WORKER_H
#define IRIS_TOOLS_IRIS_RUN_WORKER_H

#include "Options.h"
#include "Results.h"

#include "iris/rt/Env.h"
#include "iris/rt/Package.h"

namespace iris::run {

/// Runs `@main` as the rank that `launch` names.
RankResult runRank(const Options &options, const rt::LaunchInfo &launch,
                   const rt::Package &package);

/// Body of a process that is a rank: rank and job come from the environment,
/// the result goes to options.resultFd.
int workerMain(const Options &options);

/// All ranks as threads of this process.
std::vector<RankResult> runThreads(const Options &options,
                                   const rt::Package &package);

} // namespace iris::run

#endif // IRIS_TOOLS_IRIS_RUN_WORKER_H
