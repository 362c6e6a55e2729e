// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Peer.cpp - A connection to another rank ----------------------------===//
#include "bootstrap/Peer.h"

#include <cerrno>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>

using namespace iris::rt;

std::string Peer::describe() const {
  std::string text = "process " + std::to_string(pid);
  return address.empty() ? text : text + " at " + address;
}

Status iris::rt::sendPacket(Peer &peer, const std::vector<uint8_t> &bytes,
                            const int *fds, size_t numFds, Deadline deadline) {
  if (!peer.isRemote())
    return sendPacket(peer.fd.get(), bytes, fds, numFds, deadline);
  if (numFds != 0)
    return Status(StatusCode::internal,
                  "descriptors cannot be passed to another machine");
  return peer.framing->send(peer.fd.get(), bytes, deadline);
}

Expected<Received> iris::rt::receivePacket(Peer &peer, Packet &packet) {
  return peer.isRemote() ? peer.framing->receive(peer.fd.get(), packet)
                         : receivePacket(peer.fd.get(), packet);
}

bool iris::rt::hasEnded(const Peer &peer) {
  char byte;
  ssize_t got = ::recv(peer.fd.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

void iris::rt::drain(Peer &peer, Deadline deadline) {
  if (!peer.isRemote())
    return;
  peer.framing->flush(peer.fd.get(), deadline)
      .ignore("the peer has ended, or does not receive");
  int unacknowledged = 0;
  char discarded[4096];
  while (!deadline.passed() &&
         ::ioctl(peer.fd.get(), SIOCOUTQ, &unacknowledged) == 0 &&
         unacknowledged != 0) {
    ssize_t got = 1;
    while (got > 0)
      got = ::recv(peer.fd.get(), discarded, sizeof(discarded), MSG_DONTWAIT);
    // A peer that has left acknowledges nothing any more.
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}
