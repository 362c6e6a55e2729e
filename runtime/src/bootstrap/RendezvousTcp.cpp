// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RendezvousTcp.cpp - Joining at an address --------------------------===//
#include "bootstrap/RendezvousSides.h"
#include "bootstrap/TcpSocket.h"

#include <thread>

using namespace iris::rt;

Expected<std::vector<Peer>>
iris::rt::joinHostAt(const RendezvousOptions &options) {
  IRISRT_ASSIGN_OR_RETURN(TcpAddress address, parseAddress(options.address));
  Deadline deadline(options.limit);
  std::string why;
  auto pause = std::chrono::milliseconds(1);
  while (true) {
    // Short attempts: a lost packet of a connection is sent again ever later,
    // and the launcher's notice must be seen.
    Deadline attempt(std::min<std::chrono::nanoseconds>(
        deadline.remaining(), std::chrono::seconds(2)));
    IRISRT_ASSIGN_OR_RETURN(std::optional<Peer> host,
                            connectToAddress(address, attempt, why));
    if (host) {
      RendezvousOptions rest = options;
      rest.limit = deadline.remaining();
      IRISRT_ASSIGN_OR_RETURN(std::optional<std::vector<Peer>> peers,
                              awaitWelcome(rest, std::move(*host)));
      if (peers)
        return std::move(*peers);
      why = "the process there meets the ranks of another job, or has ended";
    }
    IRISRT_RETURN_IF_ERROR(checkNotice(options));
    if (deadline.passed())
      return makeStatus(
          StatusCode::timeout,
          "rank 0 did not open the rendezvous of job '%s' within %.3g s at "
          "'%s' (IRIS_RENDEZVOUS_ADDRESS): %s",
          options.job.c_str(),
          std::chrono::duration<double>(options.limit).count(),
          options.address.c_str(), why.c_str());
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(50));
  }
}
