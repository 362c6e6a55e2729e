// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TcpSocket.h - Connections between machines ---------------*- C++ -*-===//
#ifndef IRIS_RT_BOOTSTRAP_TCPSOCKET_H
#define IRIS_RT_BOOTSTRAP_TCPSOCKET_H

#include "bootstrap/Peer.h"
#include "core/Deadline.h"
#include "core/UniqueFd.h"

#include <optional>
#include <string>

namespace iris::rt {

/// "host:port", "10.0.0.1:29400" or "[fd00::1]:29400".
struct TcpAddress {
  std::string host;
  std::string port;

  std::string text() const;
};

/// Parses an address.
/// \retval invalidArgument it has no host, or a port beyond 65535
Expected<TcpAddress> parseAddress(const std::string &text);

/// Binds and listens at an address of this machine; port 0: a free one.
/// \retval unavailable another process listens there
/// \retval invalidArgument the address is not of this machine
Expected<UniqueFd> listenAtAddress(const TcpAddress &address, int backlog);
/// The address of this machine by which it reaches another one, with port 0.
/// Nothing is sent.
/// \retval unavailable there is no route
Expected<TcpAddress> localAddressTo(const TcpAddress &address);
/// The port of a listening socket.
Expected<uint16_t> portOf(int fd);

/// Accepts a connection that is pending; without a valid descriptor if there is
/// none.
Expected<Peer> acceptRemote(int listener);

/// Connects by the deadline; none if that was not possible now, with the reason
/// in `why`.
Expected<std::optional<Peer>> connectToAddress(const TcpAddress &address,
                                               Deadline deadline,
                                               std::string &why);

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_TCPSOCKET_H
