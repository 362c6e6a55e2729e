// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Framing.cpp - Messages over a stream socket ------------------------===//
#include "bootstrap/Framing.h"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

using namespace iris::rt;

/// Errors of a connection whose other end is gone, or cannot be reached.
static bool isDisconnect(int error) {
  return error == EPIPE || error == ECONNRESET || error == ENOTCONN ||
         error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH ||
         error == ENETDOWN || error == ECONNABORTED;
}

//===----------------------------------------------------------------------===//
// Sending
//===----------------------------------------------------------------------===//

/// Sends bytes until the deadline.
/// \param sent the number of bytes that were sent
static Status sendBytes(int fd, const std::vector<uint8_t> &bytes,
                        Deadline deadline, size_t &sent) {
  sent = 0;
  while (sent < bytes.size()) {
    ssize_t step = ::send(fd, bytes.data() + sent, bytes.size() - sent,
                          MSG_NOSIGNAL | MSG_DONTWAIT);
    if (step >= 0) {
      sent += static_cast<size_t>(step);
      continue;
    }
    if (errno == EINTR)
      continue;
    if (isDisconnect(errno))
      return Status(StatusCode::aborted, "the peer has closed the connection");
    if (errno != EAGAIN && errno != ENOBUFS)
      return makeErrnoStatus(StatusCode::internal, errno,
                             "cannot send %zu bytes", bytes.size());
    if (deadline.passed())
      return Status(StatusCode::timeout, "the peer does not receive");
    pollfd entry = {fd, POLLOUT, 0};
    ::poll(&entry, 1, deadline.pollMs(50));
  }
  return Status::success();
}

Status Framing::flush(int fd, Deadline deadline) {
  if (unsent_.empty())
    return Status::success();
  size_t sent = 0;
  Status status = sendBytes(fd, unsent_, deadline, sent);
  unsent_.erase(unsent_.begin(),
                unsent_.begin() + static_cast<ptrdiff_t>(sent));
  hasUnsent_.store(!unsent_.empty());
  return status;
}

Status Framing::send(int fd, const std::vector<uint8_t> &bytes,
                     Deadline deadline) {
  IRISRT_RETURN_IF_ERROR(flush(fd, deadline));
  size_t sent = 0;
  Status status = sendBytes(fd, bytes, deadline, sent);
  if (status.code() != StatusCode::timeout || sent == 0)
    return status;
  unsent_.assign(bytes.begin() + static_cast<ptrdiff_t>(sent), bytes.end());
  hasUnsent_.store(true);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Receiving
//===----------------------------------------------------------------------===//

/// Receives until the current message has `size` bytes; false if they have not
/// all arrived.
Expected<bool> Framing::fill(int fd, size_t size, bool &hasEnded) {
  size_t have = received_.size();
  received_.resize(size);
  while (have < size) {
    ssize_t got =
        ::recv(fd, received_.data() + have, size - have, MSG_DONTWAIT);
    if (got > 0) {
      have += static_cast<size_t>(got);
      continue;
    }
    if (got < 0 && errno == EINTR)
      continue;
    const int error = got < 0 ? errno : 0;
    received_.resize(have);
    if (got == 0 || isDisconnect(error)) {
      hasEnded = true;
      return false;
    }
    if (error == EAGAIN)
      return false;
    return makeErrnoStatus(StatusCode::internal, error, "cannot receive");
  }
  return true;
}

Expected<Received> Framing::receive(int fd, Packet &packet) {
  packet = Packet();
  bool hasEnded = false, isComplete = true;
  if (received_.size() < messageHeaderBytes) {
    IRISRT_ASSIGN_OR_RETURN(isComplete, fill(fd, messageHeaderBytes, hasEnded));
  }
  if (isComplete) {
    IRISRT_ASSIGN_OR_RETURN(size_t payload,
                            decodePayloadSize(received_.data(), maxPayload_));
    IRISRT_ASSIGN_OR_RETURN(isComplete,
                            fill(fd, messageHeaderBytes + payload, hasEnded));
  }
  if (hasEnded)
    return Received::end;
  if (!isComplete)
    return Received::nothing;
  Expected<Message> message = decodeMessage(received_.data(), received_.size());
  received_.clear();
  if (!message.ok())
    return message.status();
  packet.message = message.take();
  return Received::packet;
}
