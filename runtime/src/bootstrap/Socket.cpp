// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Socket.cpp - Unix sockets with packets and descriptors -------------===//
#include "bootstrap/Socket.h"

#include "iris-c/RuntimeABI.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace iris::rt;

static Expected<sockaddr_un> makeAddress(const std::string &path) {
  sockaddr_un address;
  std::memset(&address, 0, sizeof(address));
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return makeStatus(StatusCode::invalidArgument,
                      "socket path '%s' is longer than the %zu bytes that a "
                      "socket's name may have",
                      path.c_str(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

static Expected<UniqueFd> makeSocket() {
  UniqueFd fd(
      ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot create a socket");
  return fd;
}

Expected<UniqueFd> iris::rt::listenAt(const std::string &path, int backlog) {
  IRISRT_ASSIGN_OR_RETURN(sockaddr_un address, makeAddress(path));
  IRISRT_ASSIGN_OR_RETURN(UniqueFd fd, makeSocket());
  if (::bind(fd.get(), reinterpret_cast<sockaddr *>(&address),
             sizeof(address)) != 0)
    return makeErrnoStatus(StatusCode::internal, errno, "cannot bind to '%s'",
                           path.c_str());
  if (::listen(fd.get(), backlog) != 0)
    return makeErrnoStatus(StatusCode::internal, errno, "cannot listen at '%s'",
                           path.c_str());
  return fd;
}

Expected<std::optional<UniqueFd>> iris::rt::connectTo(const std::string &path) {
  IRISRT_ASSIGN_OR_RETURN(sockaddr_un address, makeAddress(path));
  IRISRT_ASSIGN_OR_RETURN(UniqueFd fd, makeSocket());
  if (::connect(fd.get(), reinterpret_cast<sockaddr *>(&address),
                sizeof(address)) == 0)
    return std::optional<UniqueFd>(std::move(fd));
  // Not created yet, left by an ended job, or with a full queue: retry later.
  if (errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN ||
      errno == EINTR)
    return std::optional<UniqueFd>();
  return makeErrnoStatus(StatusCode::unavailable, errno,
                         "cannot connect to '%s'", path.c_str());
}

Expected<PeerIdentity> iris::rt::checkPeer(int fd) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return makeErrnoStatus(
        StatusCode::internal, errno,
        "cannot identify the peer of a rendezvous connection");
  if (credentials.uid != ::geteuid())
    return makeStatus(StatusCode::invalidArgument,
                      "process %d at the rendezvous belongs to user %u, not %u",
                      credentials.pid, credentials.uid, ::geteuid());
  PeerIdentity peer;
  peer.pid = credentials.pid;
  return peer;
}

Status iris::rt::sendPacket(int fd, const std::vector<uint8_t> &bytes,
                            const int *fds, size_t numFds, Deadline deadline) {
  if (numFds > IRISRT_MAX_RANKS)
    return makeStatus(StatusCode::internal, "%zu descriptors in one message",
                      numFds);
  iovec part = {const_cast<uint8_t *>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(IRISRT_MAX_RANKS * sizeof(int))];
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (numFds != 0) {
    std::memset(control, 0, sizeof(control));
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(numFds * sizeof(int));
    cmsghdr *item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(numFds * sizeof(int));
    std::memcpy(CMSG_DATA(item), fds, numFds * sizeof(int));
  }
  while (true) {
    ssize_t sent = ::sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(bytes.size()))
      return Status::success();
    if (sent >= 0)
      return makeStatus(StatusCode::internal,
                        "a packet was sent only partially");
    if (errno == EINTR)
      continue;
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
      return makeStatus(StatusCode::aborted,
                        "the peer has closed the connection");
    // ETOOMANYREFS: too many descriptors in flight, until the reader takes
    // them.
    if (errno != EAGAIN && errno != ENOBUFS && errno != ETOOMANYREFS)
      return makeErrnoStatus(StatusCode::internal, errno,
                             "cannot send %zu bytes", bytes.size());
    if (deadline.passed())
      return makeStatus(StatusCode::timeout, "the peer does not receive");
    pollfd entry = {fd, POLLOUT, 0};
    ::poll(&entry, 1, deadline.pollMs(50));
  }
}

Expected<Received> iris::rt::receivePacket(int fd, Packet &packet) {
  packet = Packet();
  // One extra byte, to detect packets that are too long.
  static thread_local std::vector<uint8_t> buffer(maxMessageBytes + 1);
  iovec part = {buffer.data(), buffer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(IRISRT_MAX_RANKS * sizeof(int))];
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);

  // If the peer closes its end with unread packets of this rank, Linux reports
  // that once, before the packets that the peer has sent. So retry once.
  bool reset = false;
  ssize_t got = 0;
  do {
    reset = reset || (got < 0 && errno == ECONNRESET);
    got = ::recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && (errno == EINTR || (errno == ECONNRESET && !reset)));
  if (got < 0) {
    if (errno == EAGAIN)
      return Received::nothing;
    if (errno == ECONNRESET)
      return Received::end;
    return makeErrnoStatus(StatusCode::internal, errno, "cannot receive");
  }
  for (cmsghdr *item = CMSG_FIRSTHDR(&header); item;
       item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS)
      continue;
    size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int raw = -1;
      std::memcpy(&raw, CMSG_DATA(item) + i * sizeof(int), sizeof(int));
      packet.fds.emplace_back(raw);
    }
  }
  if (got == 0)
    return Received::end;
  // The kernel drops descriptors beyond this process's limit.
  if ((header.msg_flags & MSG_CTRUNC) != 0)
    return makeErrnoStatus(StatusCode::unavailable, EMFILE,
                           "cannot receive the descriptors of another rank");
  if ((header.msg_flags & MSG_TRUNC) != 0)
    return makeStatus(StatusCode::invalidArgument,
                      "malformed rendezvous message: too long");
  IRISRT_ASSIGN_OR_RETURN(
      packet.message, decodeMessage(buffer.data(), static_cast<size_t>(got)));
  return Received::packet;
}
