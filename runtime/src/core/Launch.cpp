// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Launch.cpp - What a world or a job is created from -----------------===//
#include "core/Launch.h"

#include "iris-c/RuntimeABI.h"

using namespace iris::rt;

Expected<LaunchInfo>
iris::rt::launchOrDefault(const std::optional<LaunchInfo> &given) {
  if (!given && !Env::get().launch().ok())
    return Env::get().launch().status();
  const LaunchInfo &launch = given ? *given : *Env::get().launch();
  if (launch.numRanks == 0 || launch.numRanks > IRISRT_MAX_RANKS ||
      launch.rank >= launch.numRanks)
    return makeStatus(StatusCode::invalidArgument,
                      "rank %u of %u; expected at most %d ranks", launch.rank,
                      launch.numRanks, IRISRT_MAX_RANKS);
  return launch;
}

std::string NameCounter::next(const LaunchInfo &launch) {
  std::lock_guard<std::mutex> lock(mutex_);
  return "#" + std::to_string(counters_[{launch.job, launch.rank}]++);
}
