// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Framing.h - Messages over a stream socket ----------------*- C++ -*-===//
//
// A local socket keeps the bounds of messages; a TCP connection is a stream of
// bytes. A message is received in two steps, its header and then as many bytes
// as the checked header says, and never beyond its end: a message that has
// arrived completely always makes the descriptor readable.
#ifndef IRIS_RT_BOOTSTRAP_FRAMING_H
#define IRIS_RT_BOOTSTRAP_FRAMING_H

#include "bootstrap/Socket.h"

#include <atomic>

namespace iris::rt {

class Framing {
public:
  /// Sends a message by the deadline; `timeout`: nothing of it was sent. The
  /// end of a message whose beginning was sent is kept, and sent later.
  Status send(int fd, const std::vector<uint8_t> &bytes, Deadline deadline);
  /// Sends what is kept, as far as the socket takes it by the deadline.
  Status flush(int fd, Deadline deadline);
  /// Whether a part of a message is kept. Any thread may ask.
  bool hasUnsent() const { return hasUnsent_.load(); }

  /// Like receivePacket(). By one thread at a time, which may be another one
  /// than that of send().
  Expected<Received> receive(int fd, Packet &packet);
  /// The maximum payload of the next messages: that of handshakes, until the
  /// peer has proved who it is.
  void limitPayload(size_t bytes) { maxPayload_ = bytes; }

private:
  Expected<bool> fill(int fd, size_t size, bool &hasEnded);

  std::vector<uint8_t> unsent_;
  std::atomic<bool> hasUnsent_{false};
  std::vector<uint8_t> received_; ///< of the current message
  size_t maxPayload_ = 0;
};

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_FRAMING_H
