// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RendezvousSides.h - Sides of the rendezvous --------------*- C++ -*-===//
#ifndef IRIS_RT_BOOTSTRAP_RENDEZVOUSSIDES_H
#define IRIS_RT_BOOTSTRAP_RENDEZVOUSSIDES_H

#include "bootstrap/Rendezvous.h"
#include "bootstrap/RendezvousDirectory.h"

#include <optional>

namespace iris::rt {

/// Rank 0's side: listens in the directory until all ranks have connected.
Expected<std::vector<Peer>> hostRanks(const RendezvousOptions &options,
                                      const RendezvousDirectory &directory);

/// The same at options.address.
Expected<std::vector<Peer>> hostRanksAt(const RendezvousOptions &options);

/// The side of every other rank: connects to rank 0 and waits for its welcome.
Expected<std::vector<Peer>> joinHost(const RendezvousOptions &options);
/// The same at options.address.
Expected<std::vector<Peer>> joinHostAt(const RendezvousOptions &options);
/// The part after the connection: proves who this rank is and waits for the
/// welcome; none if the process at the other end serves another job, or has
/// stopped listening there before it admitted this rank.
Expected<std::optional<std::vector<Peer>>>
awaitWelcome(const RendezvousOptions &options, Peer host);

/// The maximum payload of messages before a welcome, on both sides.
constexpr size_t maxHandshakeBytes = maxReasonBytes + 64;

/// Fails if the launcher has reported the end of another rank.
Status checkNotice(const RendezvousOptions &options);

/// The timeout of one poll. The notice socket is checked between polls and not
/// polled: notices are never consumed, so it would stay readable.
int pollTime(const RendezvousOptions &options, const Deadline &deadline);

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_RENDEZVOUSSIDES_H
