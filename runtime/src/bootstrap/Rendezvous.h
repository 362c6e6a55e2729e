// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the ranks of a job find each other on one node: rank 0 listens on a Unix
// socket in a directory that only its user may enter, all others connect.
// Afterwards the name is gone and only connections remain.
#ifndef IRIS_RT_BOOTSTRAP_RENDEZVOUS_H
#define IRIS_RT_BOOTSTRAP_RENDEZVOUS_H

#include "core/Deadline.h"
#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace iris::rt {

struct RendezvousOptions {
  uint32_t rank = 0;
  uint32_t numRanks = 1;
  /// Names the world; see LaunchInfo::job.
  std::string job;
  uint64_t token = 0;
  /// Where ranks meet; see Env::rendezvousDirs.
  std::vector<std::string> directories;
  /// See LaunchInfo::noticeFd.
  int noticeFd = -1;
  std::chrono::nanoseconds limit = std::chrono::seconds(60);
};

/// A connection to another rank.
struct Peer {
  UniqueFd fd;
  int pid = 0;
};

/// Meets the other ranks.  On rank 0 the result holds a connection per rank
/// (its own is empty), elsewhere only entry 0 is connected.
Expected<std::vector<Peer>> meet(const RendezvousOptions &options);

/// Removes what dead jobs left in those of `directories` that exist and are
/// ours; for launchers, after their ranks are gone.
void sweepRendezvous(const std::vector<std::string> &directories);

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_RENDEZVOUS_H
