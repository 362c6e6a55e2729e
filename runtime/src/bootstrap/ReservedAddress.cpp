// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReservedAddress.cpp - Addresses of jobs to come --------------------===//
#include "bootstrap/ReservedAddress.h"

#include "bootstrap/Rendezvous.h"
#include "bootstrap/TcpSocket.h"
#include "core/ForkGuard.h"
#include "iris-c/RuntimeABI.h"

#include <cerrno>
#include <fcntl.h>
#include <map>
#include <mutex>

using namespace iris::rt;

namespace {
struct Listener {
  UniqueFd fd;
  AddressUse use = AddressUse::once;
};
struct Reserved {
  std::mutex mutex;
  std::map<std::string, Listener> listeners; // by address
};
} // namespace

/// Never destroyed: threads may use it while the process exits.
static Reserved &allReserved() {
  static auto *reserved = new Reserved();
  return *reserved;
}

Expected<std::string> iris::rt::reserveAddress(const std::string &host,
                                               AddressUse use) {
  TcpAddress address{host, "0"};
  IRISRT_ASSIGN_OR_RETURN(UniqueFd listener,
                          listenAtAddress(address, IRISRT_MAX_RANKS + 16));
  IRISRT_ASSIGN_OR_RETURN(uint16_t port, portOf(listener.get()));
  address.port = std::to_string(port);
  closeInChildren(listener.get());
  Reserved &reserved = allReserved();
  std::lock_guard<std::mutex> lock(reserved.mutex);
  reserved.listeners[address.text()] = {std::move(listener), use};
  return address.text();
}

/// Removes a listener. The caller holds the mutex.
static UniqueFd remove(Reserved &reserved,
                       std::map<std::string, Listener>::iterator found) {
  UniqueFd fd = std::move(found->second.fd);
  reserved.listeners.erase(found);
  forgetInChildren(fd.get());
  return fd;
}

void iris::rt::releaseAddress(const std::string &address) {
  Reserved &reserved = allReserved();
  std::lock_guard<std::mutex> lock(reserved.mutex);
  auto found = reserved.listeners.find(address);
  if (found != reserved.listeners.end())
    remove(reserved, found);
}

Expected<std::optional<UniqueFd>>
iris::rt::takeAddress(const std::string &address) {
  Reserved &reserved = allReserved();
  std::lock_guard<std::mutex> lock(reserved.mutex);
  auto found = reserved.listeners.find(address);
  if (found == reserved.listeners.end())
    return std::optional<UniqueFd>();
  if (found->second.use == AddressUse::once)
    return std::optional<UniqueFd>(remove(reserved, found));
  UniqueFd copy(::fcntl(found->second.fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.valid())
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot listen at '%s' again", address.c_str());
  return std::optional<UniqueFd>(std::move(copy));
}
