// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TcpSocket.cpp - Connections between machines -----------------------===//
#include "bootstrap/TcpSocket.h"

#include "core/EnvTable.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

using namespace iris::rt;

/// A machine that is gone without a word is noticed after about 15 s: by
/// probes on an idle connection, by unacknowledged bytes on another.
static constexpr int probeIdleSeconds = 5;
static constexpr int probePauseSeconds = 3;
static constexpr int probeCount = 3;
static constexpr unsigned unacknowledgedMs = 15000;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

std::string TcpAddress::text() const {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
         port;
}

Expected<TcpAddress> iris::rt::parseAddress(const std::string &text) {
  const size_t colon = text.rfind(':');
  TcpAddress address;
  if (colon != std::string::npos) {
    address.host = text.substr(0, colon);
    address.port = text.substr(colon + 1);
    if (address.host.size() > 2 && address.host.front() == '[' &&
        address.host.back() == ']')
      address.host = address.host.substr(1, address.host.size() - 2);
    else if (address.host.find(':') != std::string::npos)
      address.host.clear(); // IPv6 without brackets: where does it end?
  }
  std::optional<uint64_t> port = parseNumber(address.port);
  if (address.host.empty() || address.host.size() > 255 ||
      address.host.find_first_of("[]") != std::string::npos || !port ||
      *port > 65535)
    return makeStatus(StatusCode::invalidArgument,
                      "'%s' is no address; expected HOST:PORT, such as "
                      "node0:29400, 10.0.0.1:29400 or [fd00::1]:29400",
                      text.c_str());
  return address;
}

namespace {
struct FreeAddresses {
  void operator()(addrinfo *list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;
} // namespace

static Expected<Addresses> resolve(const TcpAddress &address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo *list = nullptr;
  int error =
      ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &list);
  if (error != 0)
    return makeStatus(StatusCode::unavailable,
                      "cannot find the address of '%s': %s",
                      address.host.c_str(), ::gai_strerror(error));
  return Addresses(list);
}

static std::string textOf(const sockaddr_storage &address, socklen_t size) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (::getnameinfo(reinterpret_cast<const sockaddr *>(&address), size, host,
                    sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an unknown address";
  return TcpAddress{host, port}.text();
}

//===----------------------------------------------------------------------===//
// Sockets
//===----------------------------------------------------------------------===//

static void set(int fd, int level, int option, int value) {
  // Without an option that a kernel lacks, failures are noticed later.
  (void)::setsockopt(fd, level, option, &value, sizeof(value));
}

static void configure(int fd) {
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, probeIdleSeconds);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, probePauseSeconds);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, probeCount);
  set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(unacknowledgedMs));
}

static Expected<UniqueFd> makeSocket(int family, int type = SOCK_STREAM) {
  UniqueFd fd(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot create a socket");
  return fd;
}

Expected<UniqueFd> iris::rt::listenAtAddress(const TcpAddress &address,
                                             int backlog) {
  IRISRT_ASSIGN_OR_RETURN(Addresses list, resolve(address));
  int error = 0;
  for (const addrinfo *each = list.get(); each; each = each->ai_next) {
    IRISRT_ASSIGN_OR_RETURN(UniqueFd fd, makeSocket(each->ai_family));
    // Connections of an ended job may still occupy the port.
    set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (::bind(fd.get(), each->ai_addr, each->ai_addrlen) == 0 &&
        ::listen(fd.get(), backlog) == 0)
      return fd;
    error = errno;
  }
  return makeErrnoStatus(error == EADDRINUSE ? StatusCode::unavailable
                                             : StatusCode::invalidArgument,
                         error, "cannot listen at '%s'",
                         address.text().c_str());
}

Expected<TcpAddress> iris::rt::localAddressTo(const TcpAddress &address) {
  IRISRT_ASSIGN_OR_RETURN(Addresses list, resolve(address));
  int error = 0;
  for (const addrinfo *each = list.get(); each; each = each->ai_next) {
    // A datagram socket chooses its route when it is connected.
    IRISRT_ASSIGN_OR_RETURN(UniqueFd fd,
                            makeSocket(each->ai_family, SOCK_DGRAM));
    sockaddr_storage near{};
    socklen_t size = sizeof(near);
    if (::connect(fd.get(), each->ai_addr, each->ai_addrlen) == 0 &&
        ::getsockname(fd.get(), reinterpret_cast<sockaddr *>(&near), &size) ==
            0) {
      IRISRT_ASSIGN_OR_RETURN(TcpAddress local,
                              parseAddress(textOf(near, size)));
      local.port = "0";
      return local;
    }
    error = errno;
  }
  return makeErrnoStatus(StatusCode::unavailable, error,
                         "cannot find a route to '%s'", address.text().c_str());
}

Expected<uint16_t> iris::rt::portOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(fd, reinterpret_cast<sockaddr *>(&address), &size) != 0)
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot find the port of a socket");
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6 *>(&address)->sin6_port
                   : reinterpret_cast<sockaddr_in *>(&address)->sin_port);
}

static Peer makePeer(UniqueFd fd, std::string address) {
  configure(fd.get());
  Peer peer;
  peer.fd = std::move(fd);
  peer.address = std::move(address);
  peer.framing = std::make_unique<Framing>();
  return peer;
}

Expected<Peer> iris::rt::acceptRemote(int listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  UniqueFd fd(::accept4(listener, reinterpret_cast<sockaddr *>(&address), &size,
                        SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (fd.valid())
    return makePeer(std::move(fd), textOf(address, size));
  switch (errno) {
  // Errors of the connection, which is gone.
  case EAGAIN:
  case EINTR:
  case ECONNABORTED:
  case ENETDOWN:
  case EPROTO:
  case ENOPROTOOPT:
  case EHOSTDOWN:
  case EHOSTUNREACH:
  case ENETUNREACH:
  case ETIMEDOUT:
    return Peer();
  default:
    return makeErrnoStatus(StatusCode::internal, errno, "cannot accept");
  }
}

/// Whether a connection is one of a socket to itself: the system may choose the
/// port that is connected to, where no process listens.
static bool isLoop(int fd) {
  sockaddr_storage near{}, far{};
  socklen_t nearSize = sizeof(near), farSize = sizeof(far);
  return ::getsockname(fd, reinterpret_cast<sockaddr *>(&near), &nearSize) ==
             0 &&
         ::getpeername(fd, reinterpret_cast<sockaddr *>(&far), &farSize) == 0 &&
         nearSize == farSize && std::memcmp(&near, &far, nearSize) == 0;
}

/// Waits until a connection is established.
/// \return 0, or the error
static int awaitConnection(int fd, Deadline deadline) {
  while (true) {
    pollfd entry = {fd, POLLOUT, 0};
    int ready = ::poll(&entry, 1, deadline.pollMs(1000));
    if (ready < 0 && errno != EINTR)
      return errno;
    int error = 0;
    socklen_t size = sizeof(error);
    if (ready > 0)
      return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error
                                                                        : errno;
    if (deadline.passed())
      return ETIMEDOUT;
  }
}

Expected<std::optional<Peer>>
iris::rt::connectToAddress(const TcpAddress &address, Deadline deadline,
                           std::string &why) {
  Expected<Addresses> list = resolve(address);
  if (!list.ok()) {
    why = list.status().message(); // a name server may answer later
    return std::optional<Peer>();
  }
  int error = 0;
  for (const addrinfo *each = list->get(); each; each = each->ai_next) {
    IRISRT_ASSIGN_OR_RETURN(UniqueFd fd, makeSocket(each->ai_family));
    error = 0;
    if (::connect(fd.get(), each->ai_addr, each->ai_addrlen) != 0)
      error = errno == EINPROGRESS || errno == EINTR
                  ? awaitConnection(fd.get(), deadline)
                  : errno;
    if (error == 0 && isLoop(fd.get()))
      error = ECONNREFUSED;
    if (error == 0)
      return std::optional<Peer>(makePeer(std::move(fd), address.text()));
  }
  why = std::strerror(error);
  return std::optional<Peer>();
}
