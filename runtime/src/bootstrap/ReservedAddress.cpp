// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReservedAddress.cpp - Addresses of jobs to come --------------------===//
#include "bootstrap/ReservedAddress.h"

#include "bootstrap/Rendezvous.h"
#include "bootstrap/TcpSocket.h"
#include "core/ForkGuard.h"
#include "iris-c/RuntimeABI.h"

#include <map>
#include <mutex>

using namespace iris::rt;

namespace {
struct Reserved {
  std::mutex mutex;
  std::map<std::string, UniqueFd> listeners; // by address
};
} // namespace

/// Never destroyed: threads may use it while the process exits.
static Reserved &allReserved() {
  static auto *reserved = new Reserved();
  return *reserved;
}

Expected<std::string> iris::rt::reserveAddress(const std::string &host) {
  TcpAddress address{host, "0"};
  IRISRT_ASSIGN_OR_RETURN(UniqueFd listener,
                          listenAtAddress(address, IRISRT_MAX_RANKS + 16));
  IRISRT_ASSIGN_OR_RETURN(uint16_t port, portOf(listener.get()));
  address.port = std::to_string(port);
  closeInChildren(listener.get());
  Reserved &reserved = allReserved();
  std::lock_guard<std::mutex> lock(reserved.mutex);
  reserved.listeners[address.text()] = std::move(listener);
  return address.text();
}

std::optional<UniqueFd> iris::rt::takeAddress(const std::string &address) {
  Reserved &reserved = allReserved();
  std::lock_guard<std::mutex> lock(reserved.mutex);
  auto found = reserved.listeners.find(address);
  if (found == reserved.listeners.end())
    return std::nullopt;
  UniqueFd listener = std::move(found->second);
  reserved.listeners.erase(found);
  forgetInChildren(listener.get());
  return listener;
}
