// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadTeam.h - Threads for the programs of a launch ------*- C++ -*-===//
#ifndef IRIS_RT_BACKENDS_HOST_THREADTEAM_H
#define IRIS_RT_BACKENDS_HOST_THREADTEAM_H

#include "core/OsThread.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace iris::rt {

/// The function that a thread of a launch runs. `index` is the thread's index
/// in the launch; `arena` has at least the requested size.
using TeamBody = std::function<void(uint32_t index, void *arena)>;

/// Provides threads and keeps some of them for the next launch.
class ThreadTeam {
public:
  ThreadTeam();
  ~ThreadTeam();

  /// Runs `body(0) ... body(count - 1)` concurrently, each on a separate
  /// thread, and waits for them. Runs none if a thread cannot be created.
  Status run(uint32_t count, uint64_t arenaBytes, const TeamBody &body);

  /// Runs `item(0, arena) ... item(count - 1, arena)`, in this order, on
  /// `threads` threads, and waits for them. An item may poll for what a later
  /// one does: while none ends, further threads start, up to `most`.
  Status runItems(uint64_t count, uint32_t threads, uint32_t most,
                  uint64_t arenaBytes,
                  const std::function<void(uint64_t, void *)> &item);

private:
  struct Worker;

  /// A thread with an arena.
  Expected<std::shared_ptr<Worker>> take(uint64_t arenaBytes);
  void giveBack(std::shared_ptr<Worker> worker);

  std::mutex mutex_;
  std::vector<std::shared_ptr<Worker>> idle_;
};

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_HOST_THREADTEAM_H
