// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Peer.h - A connection to another rank --------------------*- C++ -*-===//
#ifndef IRIS_RT_BOOTSTRAP_PEER_H
#define IRIS_RT_BOOTSTRAP_PEER_H

#include "bootstrap/Framing.h"

#include <memory>
#include <string>

namespace iris::rt {

/// A connection to another rank: a local socket, or a TCP connection.
struct Peer {
  UniqueFd fd;
  int pid = 0;
  /// The address of the other end of a TCP connection; empty for local ones.
  std::string address;
  /// Of a TCP connection; null for local ones.
  std::unique_ptr<Framing> framing;

  /// "process 7", or "process 7 at 10.0.0.2:4711".
  std::string describe() const;
  bool isRemote() const { return framing != nullptr; }
};

/// Sends one message; waits for buffer space until the deadline. Only local
/// connections pass descriptors.
Status sendPacket(Peer &peer, const std::vector<uint8_t> &bytes, const int *fds,
                  size_t numFds, Deadline deadline);

/// Receives one message without waiting; `end` if the peer has closed the
/// connection or cannot be reached.
Expected<Received> receivePacket(Peer &peer, Packet &packet);

/// Whether the peer has closed the connection, or cannot be reached. Takes no
/// message.
bool hasEnded(const Peer &peer);

/// Waits until the peer's machine has received everything, at most until the
/// deadline: closing a connection with unread messages may drop what was sent.
void drain(Peer &peer, Deadline deadline);

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_PEER_H
