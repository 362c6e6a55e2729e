// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rendezvous.h - Rendezvous of the ranks of a job ----------*- C++ -*-===//
//
// Ranks of one machine: rank 0 listens on a Unix socket in a private directory
// that it chooses, and all other ranks look for it in the same directories.
// Ranks of several machines: rank 0 listens at a TCP address that all of them
// know. Afterwards the socket file is removed, or the port closed, and only the
// connections remain.
//
// Every other process proves that it knows the job's token (JobProof.h).
#ifndef IRIS_RT_BOOTSTRAP_RENDEZVOUS_H
#define IRIS_RT_BOOTSTRAP_RENDEZVOUS_H

#include "bootstrap/Peer.h"
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
  /// See LaunchInfo::address; empty: the directories below.
  std::string address;
  /// See Env::rendezvousDirs.
  std::vector<std::string> directories;
  /// See LaunchInfo::noticeFd.
  int noticeFd = -1;
  /// See WorldOptions::cancelled.
  const std::atomic<bool> *cancelled = nullptr;
  std::chrono::nanoseconds limit = std::chrono::seconds(60);
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

/// For how many jobs an address is.
enum class AddressUse { once, lasting };

/// Listens at a free port of `host`, for rank 0 of a job that will be started
/// in this process. connectRanks() of that rank takes the port over; a lasting
/// one stays open until releaseAddress(), for jobs one after the other.
/// \return the address, "host:port"
Expected<std::string> reserveAddress(const std::string &host,
                                     AddressUse use = AddressUse::once);
/// Closes the port of a lasting address.
void releaseAddress(const std::string &address);

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_RENDEZVOUS_H
