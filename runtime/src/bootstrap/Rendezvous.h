// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rendezvous.h - Rendezvous of the ranks of a job ----------*- C++ -*-===//
//
// Rank 0 listens on a Unix socket in a private directory that it chooses, and
// all other ranks look for it in the same directories. Afterwards the socket
// file is removed and only the connections remain.
#ifndef IRIS_RT_BOOTSTRAP_RENDEZVOUS_H
#define IRIS_RT_BOOTSTRAP_RENDEZVOUS_H

#include "core/Deadline.h"
#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace iris::rt {

struct RendezvousOptions {
  uint32_t rank = 0;
  uint32_t numRanks = 1;
  /// The name of the world; see LaunchInfo::job.
  std::string job;
  uint64_t token = 0;
  /// See Env::rendezvousDirs.
  std::vector<std::string> directories;
  /// See LaunchInfo::noticeFd.
  int noticeFd = -1;
  /// See WorldOptions::cancelled.
  const std::atomic<bool> *cancelled = nullptr;
  std::chrono::nanoseconds limit = std::chrono::seconds(60);
};

/// A connection to another rank.
struct Peer {
  UniqueFd fd;
  int pid = 0;
};

/// Connects the ranks. On rank 0 the result has one connection per rank, except
/// its own; on other ranks only entry 0 is connected.
Expected<std::vector<Peer>> connectRanks(const RendezvousOptions &options);

/// The first of `paths` that is, or can be created as, a directory of this user
/// alone; for launchers, which pass it to all ranks. Warns of those that it
/// skips.
Expected<std::string> chooseRendezvous(const std::vector<std::string> &paths);

/// Removes the files of ended jobs in those of `directories` that exist and are
/// private; for launchers, after their ranks have ended.
void sweepRendezvous(const std::vector<std::string> &directories);

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_RENDEZVOUS_H
