// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unix sockets that keep packet boundaries and carry file descriptors.
#ifndef IRIS_RT_BOOTSTRAP_SOCKET_H
#define IRIS_RT_BOOTSTRAP_SOCKET_H

#include "bootstrap/Messages.h"
#include "core/Deadline.h"
#include "core/UniqueFd.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iris::rt {

/// A message as it came in.
struct Packet {
  Message message;
  std::vector<UniqueFd> fds;
};

/// Binds and listens at `path`; nothing may be there.
Expected<UniqueFd> listenAt(const std::string &path, int backlog);

/// Connects to `path`; nothing when nobody listens there (yet).
Expected<std::optional<UniqueFd>> connectTo(const std::string &path);

/// Who is at the other end.  A process of another user is refused.
struct PeerIdentity {
  int pid = 0;
};
Expected<PeerIdentity> checkPeer(int fd);

/// Sends one packet, waiting for room until the deadline.
Status sendPacket(int fd, const std::vector<uint8_t> &bytes, const int *fds,
                  size_t numFds, Deadline deadline);

/// What receivePacket found.
enum class Received { packet, nothing, end };

/// Takes one packet without waiting.  `end`: the other end is gone.
Expected<Received> receivePacket(int fd, Packet &packet);

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_SOCKET_H
