// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Socket.h - Unix sockets with packets and descriptors -----*- C++ -*-===//
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

/// A received message.
struct Packet {
  Message message;
  std::vector<UniqueFd> fds;
};

/// Binds and listens at `path`, which must not exist.
Expected<UniqueFd> listenAt(const std::string &path, int backlog);

/// Connects to `path`; none if no process listens there (yet).
Expected<std::optional<UniqueFd>> connectTo(const std::string &path);

/// The process at the other end; rejects processes of other users.
struct PeerIdentity {
  int pid = 0;
};
Expected<PeerIdentity> checkPeer(int fd);

/// Sends one packet; waits for buffer space until the deadline.
Status sendPacket(int fd, const std::vector<uint8_t> &bytes, const int *fds,
                  size_t numFds, Deadline deadline);

/// The result of receivePacket.
enum class Received { packet, nothing, end };

/// Receives one packet without waiting; `end` if the peer has closed the
/// connection.
Expected<Received> receivePacket(int fd, Packet &packet);

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_SOCKET_H
