// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that run the programs of host launches.
#ifndef IRIS_RT_BACKENDS_HOST_THREADTEAM_H
#define IRIS_RT_BACKENDS_HOST_THREADTEAM_H

#include "core/OsThread.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace iris::rt {

/// What a thread of a launch runs: its index within the launch, and an arena
/// of at least the size asked for.
using TeamBody = std::function<void(uint32_t index, void *arena)>;

/// Hands out threads, and keeps some of them for the next launch.
class ThreadTeam {
public:
  ThreadTeam();
  ~ThreadTeam();

  /// Runs `body(0) ... body(count - 1)`, each on its own thread, all at once,
  /// and waits for them.  Nothing runs when not all threads can be had.
  Status run(uint32_t count, uint64_t arenaBytes, const TeamBody &body);

private:
  struct Worker;

  Expected<std::shared_ptr<Worker>> take();
  void giveBack(std::shared_ptr<Worker> worker);

  std::mutex mutex_;
  std::vector<std::shared_ptr<Worker>> idle_;
};

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_HOST_THREADTEAM_H
