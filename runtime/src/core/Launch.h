// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Launch.h - What a world or a job is created from ---------*- C++ -*-===//
#ifndef IRIS_RT_CORE_LAUNCH_H
#define IRIS_RT_CORE_LAUNCH_H

#include "iris/rt/Env.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace iris::rt {

/// The given launch, or the launcher's; `invalidArgument` if its rank is not
/// one of a possible number of ranks.
Expected<LaunchInfo> launchOrDefault(const std::optional<LaunchInfo> &given);

/// Names what has no name. Ranks that create worlds, or jobs, in the same order
/// get the same names.
class NameCounter {
public:
  std::string next(const LaunchInfo &launch);

private:
  std::mutex mutex_;
  std::map<std::pair<std::string, uint32_t>, uint64_t> counters_;
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_LAUNCH_H
