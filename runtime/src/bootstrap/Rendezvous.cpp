// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rendezvous.cpp - Rendezvous of the ranks of a job ------------------===//
#include "bootstrap/Rendezvous.h"

#include "bootstrap/LauncherNotice.h"
#include "bootstrap/RendezvousDirectory.h"
#include "bootstrap/Socket.h"
#include "core/Log.h"
#include "iris-c/RuntimeABI.h"

#include <cerrno>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace iris::rt;

/// Additional time for rank 0 to report which ranks are missing, after the
/// limit of a rank that has connected to it.
static constexpr auto reportTime = std::chrono::seconds(5);
/// The maximum number of rejected processes in an error.
static constexpr size_t maxRefusals = 4;

void iris::rt::sweepRendezvous(const std::vector<std::string> &paths) {
  std::string skipped;
  for (const std::string &path : paths) {
    // A sweep does not create directories.
    if (::access(path.c_str(), F_OK) != 0)
      continue;
    Expected<RendezvousDirectory> directory =
        RendezvousDirectory::open({path}, skipped);
    if (directory.ok())
      directory->sweep();
  }
}

/// Fails if the launcher has reported the end of another rank.
static Status checkNotice(const RendezvousOptions &options) {
  std::optional<LauncherNotice> notice = peekNotice(options.noticeFd);
  if (!notice || notice->rank == options.rank)
    return Status::success();
  return makeStatus(StatusCode::aborted, "rank %u failed: %s", notice->rank,
                    notice->how.c_str());
}

/// The timeout of one poll. The notice socket is checked between polls and not
/// polled: notices are never consumed, so it would stay readable.
static int pollTime(const RendezvousOptions &options,
                    const Deadline &deadline) {
  return deadline.pollMs(options.noticeFd >= 0 ? 50 : 1000);
}

//===----------------------------------------------------------------------===//
// Rank 0
//===----------------------------------------------------------------------===//

/// "2", "2 and 5", "1, 2 and 5".
static std::string joinRanks(const std::vector<uint32_t> &ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i != 0)
      text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

namespace {
/// Removes the job's socket when it goes out of scope.
class SocketGuard {
public:
  SocketGuard(const RendezvousDirectory &directory, std::string job)
      : directory_(directory), job_(std::move(job)) {}
  SocketGuard(const SocketGuard &) = delete;
  ~SocketGuard() { directory_.removeSocket(job_); }

private:
  const RendezvousDirectory &directory_;
  const std::string job_;
};

/// Rank 0's side of the rendezvous.
class Host {
public:
  Host(const RendezvousOptions &options, const RendezvousDirectory &directory)
      : options_(options), directory_(directory), deadline_(options.limit),
        peers_(options.numRanks) {}

  Expected<std::vector<Peer>> run() {
    Status status = gather();
    if (!status.ok()) {
      for (const std::string &refusal : refusals_)
        status = Status(status.code(), status.message() + "; " + refusal);
      sendToAll(MessageKind::failure, encodeFailure({0, status.message()}));
      return status;
    }
    sendToAll(MessageKind::welcome, {});
    return std::move(peers_);
  }

private:
  Status gather();
  Status pollOnce(int listener);
  Status accept(int listener);
  Status readHello(size_t index);
  Status admit(Peer peer, const Packet &packet);
  Status checkConnected();
  void refuse(const Peer &peer, const std::string &reason);
  void refuseToken(const Peer &peer, uint32_t claimedRank);
  void sendToAll(MessageKind kind, const std::vector<uint8_t> &payload);
  std::vector<uint32_t> missing() const;

  const RendezvousOptions &options_;
  const RendezvousDirectory &directory_;
  Deadline deadline_;
  std::vector<Peer> peers_;
  /// Rejected processes, for the error if a rank is missing.
  std::vector<std::string> refusals_;
  /// Connected processes that have not sent a hello.
  std::vector<Peer> unidentified_;
};
} // namespace

std::vector<uint32_t> Host::missing() const {
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 1; rank < options_.numRanks; ++rank)
    if (!peers_[rank].fd.valid())
      ranks.push_back(rank);
  return ranks;
}

Status Host::gather() {
  directory_.sweep();
  std::optional<NameLock> lock;
  while (!lock) {
    IRISRT_ASSIGN_OR_RETURN(lock, directory_.tryLock(options_.job));
    if (lock)
      break;
    IRISRT_RETURN_IF_ERROR(checkNotice(options_));
    if (deadline_.passed())
      return makeStatus(StatusCode::timeout,
                        "another process holds the rendezvous lock of job '%s' "
                        "in '%s'",
                        options_.job.c_str(), directory_.path().c_str());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // Any existing socket belongs to an ended job, because this rank holds the
  // lock.
  directory_.removeSocket(options_.job);
  SocketGuard guard(directory_, options_.job);
  Expected<UniqueFd> listener =
      listenAt(directory_.socketPath(options_.job),
               static_cast<int>(options_.numRanks) + 16);
  if (!listener.ok())
    return listener.status().withContext("in '" + directory_.path() + "'");

  while (!missing().empty()) {
    if (deadline_.passed()) {
      std::vector<uint32_t> ranks = missing();
      return makeStatus(StatusCode::timeout,
                        "rank%s %s did not join within %.3g s",
                        ranks.size() == 1 ? "" : "s", joinRanks(ranks).c_str(),
                        std::chrono::duration<double>(options_.limit).count());
    }
    IRISRT_RETURN_IF_ERROR(pollOnce(listener->get()));
    IRISRT_RETURN_IF_ERROR(checkNotice(options_));
  }
  return Status::success();
}

Status Host::pollOnce(int listener) {
  std::vector<pollfd> entries = {{listener, POLLIN, 0}};
  for (const Peer &unidentified : unidentified_)
    entries.push_back({unidentified.fd.get(), POLLIN, 0});
  for (const Peer &peer : peers_)
    if (peer.fd.valid())
      entries.push_back({peer.fd.get(), POLLIN, 0});
  int ready =
      ::poll(entries.data(), entries.size(), pollTime(options_, deadline_));
  if (ready < 0 && errno != EINTR)
    return makeErrnoStatus(StatusCode::internal, errno, "cannot poll");
  if (ready <= 0)
    return Status::success();
  // Backwards, because identified peers leave the list.
  for (size_t i = unidentified_.size(); i-- > 0;)
    if (entries[1 + i].revents != 0)
      IRISRT_RETURN_IF_ERROR(readHello(i));
  IRISRT_RETURN_IF_ERROR(checkConnected());
  if ((entries[0].revents & POLLIN) != 0)
    return accept(listener);
  return Status::success();
}

Status Host::accept(int listener) {
  Peer peer;
  peer.fd.reset(
      ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!peer.fd.valid()) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
      return Status::success();
    return makeErrnoStatus(StatusCode::internal, errno, "cannot accept");
  }
  Expected<PeerIdentity> identity = checkPeer(peer.fd.get());
  // Ignore processes of other users, and limit the number of unidentified ones.
  if (!identity.ok() || unidentified_.size() >= 2 * IRISRT_MAX_RANKS)
    return Status::success();
  peer.pid = identity->pid;
  unidentified_.push_back(std::move(peer));
  return Status::success();
}

Status Host::readHello(size_t index) {
  Packet packet;
  Expected<Received> received =
      receivePacket(unidentified_[index].fd.get(), packet);
  if (received.ok() && *received == Received::nothing)
    return Status::success();
  Peer peer = std::move(unidentified_[index]);
  unidentified_.erase(unidentified_.begin() + static_cast<ptrdiff_t>(index));
  if (!received.ok()) {
    refuse(peer, received.status().message());
    return Status::success();
  }
  if (*received == Received::end)
    return Status::success();
  return admit(std::move(peer), packet);
}

Status Host::admit(Peer peer, const Packet &packet) {
  Expected<Hello> hello = decodeHello(packet.message.payload);
  if (packet.message.header.kind != MessageKind::hello || !hello.ok()) {
    refuse(peer, "expected a hello");
    return Status::success();
  }
  if (hello->token != options_.token) {
    refuseToken(peer, packet.message.header.rank);
    return Status::success();
  }
  uint32_t rank = packet.message.header.rank;
  Status status;
  if (hello->abiMajor != IRISRT_ABI_VERSION_MAJOR ||
      hello->abiMinor != IRISRT_ABI_VERSION_MINOR)
    status = makeStatus(StatusCode::failedPrecondition,
                        "rank %u (process %d) has runtime ABI %u.%u, rank 0 "
                        "has %d.%d",
                        rank, peer.pid, hello->abiMajor, hello->abiMinor,
                        IRISRT_ABI_VERSION_MAJOR, IRISRT_ABI_VERSION_MINOR);
  else if (hello->numRanks != options_.numRanks)
    status = makeStatus(StatusCode::failedPrecondition,
                        "rank %u (process %d) has a world of %u ranks, rank 0 "
                        "one of %u",
                        rank, peer.pid, hello->numRanks, options_.numRanks);
  else if (rank == 0 || rank >= options_.numRanks)
    status = makeStatus(StatusCode::failedPrecondition,
                        "process %d claims rank %u of %u", peer.pid, rank,
                        options_.numRanks);
  else if (peers_[rank].fd.valid())
    status = makeStatus(StatusCode::failedPrecondition,
                        "processes %d and %d both claim rank %u",
                        peers_[rank].pid, peer.pid, rank);
  if (!status.ok()) {
    refuse(peer, status.message());
    return status;
  }
  peers_[rank] = std::move(peer);
  return Status::success();
}

/// Fails if a connected rank ends before all ranks are connected.
Status Host::checkConnected() {
  for (uint32_t rank = 1; rank < options_.numRanks; ++rank) {
    if (!peers_[rank].fd.valid())
      continue;
    char byte;
    ssize_t got =
        ::recv(peers_[rank].fd.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
      continue;
    // The launcher's notice may explain why it left.
    IRISRT_RETURN_IF_ERROR(checkNotice(options_));
    return makeStatus(StatusCode::aborted,
                      "rank %u (process %d) ended during the rendezvous", rank,
                      peers_[rank].pid);
  }
  return Status::success();
}

void Host::refuse(const Peer &peer, const std::string &reason) {
  sendPacket(
      peer.fd.get(),
      [&] {
        std::vector<uint8_t> payload = encodeFailure({0, reason});
        return encodeMessage({MessageKind::failure, 0, 0, 0}, payload.data(),
                             payload.size());
      }(),
      nullptr, 0, Deadline(std::chrono::milliseconds(200)))
      .ignore("the rejected process may have ended");
}

/// Reported on both sides, because either one may have the wrong token.
void Host::refuseToken(const Peer &peer, uint32_t claimedRank) {
  std::string text = formatString(
      "rank 0 (process %d) rejected process %d, which claims to be rank %u: "
      "its token does not match that of job '%s'; expected the same IRIS_TOKEN "
      "on every rank",
      ::getpid(), peer.pid, claimedRank, options_.job.c_str());
  refuse(peer, text);
  if (refusals_.size() < maxRefusals)
    refusals_.push_back(text);
  Log(options_.rank, options_.numRanks).warning("%s", text.c_str());
}

void Host::sendToAll(MessageKind kind, const std::vector<uint8_t> &payload) {
  std::vector<uint8_t> bytes =
      encodeMessage({kind, 0, 0, 0}, payload.data(), payload.size());
  for (const Peer &peer : peers_)
    if (peer.fd.valid())
      sendPacket(peer.fd.get(), bytes, nullptr, 0,
                 Deadline(std::chrono::seconds(1)))
          .ignore("the rank has ended");
  if (kind == MessageKind::failure) // they wait for an answer, too
    for (const Peer &unidentified : unidentified_)
      sendPacket(unidentified.fd.get(), bytes, nullptr, 0,
                 Deadline(std::chrono::milliseconds(200)))
          .ignore("the process may have ended");
}

//===----------------------------------------------------------------------===//
// Other ranks
//===----------------------------------------------------------------------===//

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

static Expected<std::vector<Peer>> join(const RendezvousOptions &options,
                                        const RendezvousDirectory &directory) {
  Deadline deadline(options.limit);
  // Starts when this rank connects to rank 0, which started earlier: rank 0's
  // limit expires first, and it knows the missing ranks.
  Deadline hostDeadline(options.limit);
  std::string path = directory.socketPath(options.job);
  auto seconds = std::chrono::duration<double>(options.limit).count();

  std::optional<Peer> host;
  auto pause = std::chrono::milliseconds(1);
  while (true) {
    while (!host) {
      IRISRT_ASSIGN_OR_RETURN(host, introduce(options, path));
      if (host) {
        hostDeadline = Deadline(options.limit + reportTime);
        break;
      }
      IRISRT_RETURN_IF_ERROR(checkNotice(options));
      if (deadline.passed())
        return makeStatus(StatusCode::timeout,
                          "rank 0 did not open the rendezvous of job '%s' "
                          "within %.3g s",
                          options.job.c_str(), seconds);
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::milliseconds(20));
    }
    pollfd entry = {host->fd.get(), POLLIN, 0};
    if (::poll(&entry, 1, pollTime(options, hostDeadline)) < 0 &&
        errno != EINTR)
      return makeErrnoStatus(StatusCode::internal, errno, "cannot poll");
    Packet packet;
    IRISRT_ASSIGN_OR_RETURN(Received received,
                            receivePacket(host->fd.get(), packet));
    // The launcher's notice may explain why rank 0 left.
    if (received != Received::packet)
      IRISRT_RETURN_IF_ERROR(checkNotice(options));
    if (received == Received::end)
      return makeStatus(StatusCode::aborted,
                        "rank 0 (process %d) ended during the rendezvous",
                        host->pid);
    if (received == Received::nothing) {
      if (hostDeadline.passed())
        return makeStatus(StatusCode::timeout,
                          "rank 0 (process %d) did not gather all ranks within "
                          "%.3g s",
                          host->pid, seconds);
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
    peers[0] = std::move(*host);
    return peers;
  }
}

Expected<std::vector<Peer>>
iris::rt::connectRanks(const RendezvousOptions &options) {
  if (options.numRanks == 1)
    return std::vector<Peer>(1);
  std::string skipped;
  IRISRT_ASSIGN_OR_RETURN(
      RendezvousDirectory directory,
      RendezvousDirectory::open(options.directories, skipped));
  if (!skipped.empty() && options.rank == 0)
    Log(options.rank, options.numRanks)
        .warning("using rendezvous directory '%s' (set IRIS_RENDEZVOUS_DIR to "
                 "choose another one): %s",
                 directory.path().c_str(), skipped.c_str());
  Expected<std::vector<Peer>> peers = options.rank == 0
                                          ? Host(options, directory).run()
                                          : join(options, directory);
  if (peers.ok())
    return peers;
  // If rank 0 was killed, its socket file is still there.
  directory.sweep();
  return peers.status().withContext(formatString(
      "rendezvous of rank %u of %u failed", options.rank, options.numRanks));
}
