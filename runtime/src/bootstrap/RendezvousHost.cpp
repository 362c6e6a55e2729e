// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RendezvousHost.cpp - Rank 0's side of the rendezvous ---------------===//
#include "bootstrap/RendezvousSides.h"
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

/// The maximum number of rejected processes in an error.
static constexpr size_t maxRefusals = 4;

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
  std::optional<FileLock> lock;
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

Expected<std::vector<Peer>>
iris::rt::hostRanks(const RendezvousOptions &options,
                    const RendezvousDirectory &directory) {
  return Host(options, directory).run();
}
