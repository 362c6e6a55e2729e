// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LauncherNotice.cpp - Notices of ended ranks ------------------------===//
#include "bootstrap/LauncherNotice.h"

#include "bootstrap/Messages.h"

#include <cerrno>
#include <sys/socket.h>

using namespace iris::rt;

static constexpr size_t maxNoticeBytes = maxReasonBytes + 64;

Status NoticeSender::open() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                   fds) != 0)
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot create a pair of sockets");
  sender_.reset(fds[0]);
  receiver_.reset(fds[1]);
  return Status::success();
}

void NoticeSender::send(const LauncherNotice &notice) {
  if (sent_)
    return;
  sent_ = true;
  std::vector<uint8_t> payload = encodeFailure({notice.rank, notice.how});
  std::vector<uint8_t> bytes = encodeMessage({MessageKind::failure, 0, 0, 0},
                                             payload.data(), payload.size());
  // Fails only if no rank is left to read it.
  ::send(sender_.get(), bytes.data(), bytes.size(),
         MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<LauncherNotice> iris::rt::peekNotice(int fd) {
  // The number comes from the environment, so it may be any descriptor.
  int type = 0;
  socklen_t size = sizeof(type);
  if (fd < 0 || ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
      type != SOCK_SEQPACKET)
    return std::nullopt;
  uint8_t buffer[maxNoticeBytes];
  ssize_t got = ::recv(fd, buffer, sizeof(buffer), MSG_PEEK | MSG_DONTWAIT);
  if (got <= 0)
    return std::nullopt;
  Expected<Message> message = decodeMessage(buffer, static_cast<size_t>(got));
  if (!message.ok() || message->header.kind != MessageKind::failure)
    return std::nullopt;
  Expected<Failure> failure = decodeFailure(message->payload);
  if (!failure.ok())
    return std::nullopt;
  return LauncherNotice{failure->rank, failure->reason};
}
