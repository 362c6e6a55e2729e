// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RendezvousJoin.cpp - The other ranks' side of the rendezvous -------===//
#include "bootstrap/RendezvousSides.h"
#include "bootstrap/Socket.h"
#include "iris-c/RuntimeABI.h"

#include <cerrno>
#include <optional>
#include <poll.h>
#include <thread>

using namespace iris::rt;

/// Additional time for rank 0 to report which ranks are missing, after the
/// limit of a rank that has connected to it.
static constexpr auto reportTime = std::chrono::seconds(5);

/// Connects and sends a hello; none if rank 0 is not listening.
static Expected<std::optional<Peer>> introduce(const RendezvousOptions &options,
                                               const std::string &path) {
  IRISRT_ASSIGN_OR_RETURN(std::optional<UniqueFd> fd, connectTo(path));
  if (!fd)
    return std::optional<Peer>();
  Peer peer;
  peer.fd = std::move(*fd);
  IRISRT_ASSIGN_OR_RETURN(PeerIdentity identity, checkPeer(peer.fd.get()));
  peer.pid = identity.pid;
  Hello hello;
  hello.abiMajor = IRISRT_ABI_VERSION_MAJOR;
  hello.abiMinor = IRISRT_ABI_VERSION_MINOR;
  hello.numRanks = options.numRanks;
  hello.token = options.token;
  std::vector<uint8_t> payload = encodeHello(hello);
  Status sent =
      sendPacket(peer.fd.get(),
                 encodeMessage({MessageKind::hello, options.rank, 0, 0},
                               payload.data(), payload.size()),
                 nullptr, 0, Deadline(std::chrono::seconds(5)));
  if (!sent.ok())
    return std::optional<Peer>(); // rank 0 ended in between
  return std::optional<Peer>(std::move(peer));
}

namespace {
/// Looks for rank 0 in all directories. This rank does not choose one of them:
/// a name in /tmp that another user creates and removes may be usable for one
/// rank and not for the next, and the ranks would wait for each other in
/// different directories.
class HostSearch {
public:
  explicit HostSearch(const RendezvousOptions &options)
      : options_(options), deadline_(options.limit),
        contest_(RendezvousDirectory::contestLimit) {}

  /// Connects to rank 0 within the limit.
  Expected<Peer> run();

private:
  /// Looks once; none if rank 0 is not listening.
  Expected<std::optional<Peer>> look();

  const RendezvousOptions &options_;
  Deadline deadline_;
  /// Ends when all directories have been rejected for too long.
  Deadline contest_;
  /// Why directories were rejected the last time.
  std::string rejections_;
};
} // namespace

Expected<std::optional<Peer>> HostSearch::look() {
  rejections_.clear();
  size_t rejected = 0;
  for (const std::string &path : options_.directories) {
    Expected<std::optional<RendezvousDirectory>> directory =
        RendezvousDirectory::find(path);
    if (!directory.ok()) {
      ++rejected;
      rejections_ +=
          (rejections_.empty() ? "" : "; ") + directory.status().message();
      continue;
    }
    if (!*directory)
      continue;
    IRISRT_ASSIGN_OR_RETURN(
        std::optional<Peer> host,
        introduce(options_, (*directory)->socketPath(options_.job)));
    if (host)
      return host;
  }
  if (rejected != options_.directories.size())
    contest_ = Deadline(RendezvousDirectory::contestLimit);
  else if (contest_.passed())
    return RendezvousDirectory::noneIsUsable(rejections_);
  return std::optional<Peer>();
}

Expected<Peer> HostSearch::run() {
  auto pause = std::chrono::milliseconds(1);
  while (true) {
    IRISRT_ASSIGN_OR_RETURN(std::optional<Peer> host, look());
    if (host)
      return std::move(*host);
    IRISRT_RETURN_IF_ERROR(checkNotice(options_));
    if (deadline_.passed()) {
      std::string places;
      for (const std::string &path : options_.directories)
        places += (places.empty() ? "'" : ", '") + path + "'";
      return makeStatus(
          StatusCode::timeout,
          "rank 0 did not open the rendezvous of job '%s' within %.3g s in %s%s"
          "%s",
          options_.job.c_str(),
          std::chrono::duration<double>(options_.limit).count(), places.c_str(),
          rejections_.empty() ? "" : ": ", rejections_.c_str());
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(20));
  }
}

Expected<std::vector<Peer>>
iris::rt::joinHost(const RendezvousOptions &options) {
  HostSearch search(options);
  IRISRT_ASSIGN_OR_RETURN(Peer host, search.run());
  // Starts when this rank has connected to rank 0, which started earlier: rank
  // 0's limit expires first, and it knows the missing ranks.
  Deadline hostDeadline(options.limit + reportTime);
  while (true) {
    pollfd entry = {host.fd.get(), POLLIN, 0};
    if (::poll(&entry, 1, pollTime(options, hostDeadline)) < 0 &&
        errno != EINTR)
      return makeErrnoStatus(StatusCode::internal, errno, "cannot poll");
    Packet packet;
    IRISRT_ASSIGN_OR_RETURN(Received received,
                            receivePacket(host.fd.get(), packet));
    // The launcher's notice may explain why rank 0 left.
    if (received != Received::packet)
      IRISRT_RETURN_IF_ERROR(checkNotice(options));
    if (received == Received::end)
      return makeStatus(StatusCode::aborted,
                        "rank 0 (process %d) ended during the rendezvous",
                        host.pid);
    if (received == Received::nothing) {
      if (hostDeadline.passed())
        return makeStatus(StatusCode::timeout,
                          "rank 0 (process %d) did not gather all ranks within "
                          "%.3g s",
                          host.pid,
                          std::chrono::duration<double>(options.limit).count());
      continue;
    }
    if (packet.message.header.kind == MessageKind::failure) {
      IRISRT_ASSIGN_OR_RETURN(Failure failure,
                              decodeFailure(packet.message.payload));
      return makeStatus(StatusCode::aborted, "rank 0 reports: %s",
                        failure.reason.c_str());
    }
    if (packet.message.header.kind != MessageKind::welcome)
      return makeStatus(StatusCode::internal,
                        "rank 0 sent message kind %d instead of a welcome",
                        static_cast<int>(packet.message.header.kind));
    std::vector<Peer> peers(options.numRanks);
    peers[0] = std::move(host);
    return peers;
  }
}
