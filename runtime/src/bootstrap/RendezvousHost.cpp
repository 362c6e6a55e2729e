// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RendezvousHost.cpp - Rank 0's side of the rendezvous ---------------===//
#include "bootstrap/JobProof.h"
#include "bootstrap/RendezvousSides.h"
#include "bootstrap/ReservedAddress.h"
#include "bootstrap/TcpSocket.h"
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
/// Processes that may be connected without having said who they are.
static constexpr size_t maxUnidentified = 2 * IRISRT_MAX_RANKS;
/// The time in which a process on another machine says who it is.
static constexpr auto handshakeLimit = std::chrono::seconds(10);

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
  explicit Host(const RendezvousOptions &options)
      : options_(options), deadline_(options.limit), peers_(options.numRanks),
        proof_(options.job, options.token) {}

  /// Listens in the directory until all ranks have connected.
  Status gatherIn(const RendezvousDirectory &directory);
  /// The same at options.address.
  Status gatherAt();

  /// Tells the ranks how it ended.
  Expected<std::vector<Peer>> finish(Status status) {
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
  /// A process that has connected, and the challenge that it got.
  struct Candidate {
    Peer peer;
    Nonce challenge{};
    Deadline deadline{handshakeLimit};
  };

  Status gather(int listener);
  Expected<UniqueFd> listenAtPort();
  Status pollOnce(int listener);
  Status accept(int listener);
  Expected<Peer> acceptLocal(int listener);
  Status challenge(Peer peer);
  void dropSilent();
  Status readHello(size_t index);
  Status admit(Candidate candidate, const Packet &packet);
  Status checkConnected();
  void refuse(Peer &peer, const std::string &reason);
  void refuseToken(Peer &peer, uint32_t claimedRank);
  void sendToAll(MessageKind kind, const std::vector<uint8_t> &payload);
  std::vector<uint32_t> missing() const;

  const RendezvousOptions &options_;
  Deadline deadline_;
  std::vector<Peer> peers_;
  const JobProof proof_;
  /// Rejected processes, for the error if a rank is missing.
  std::vector<std::string> refusals_;
  /// Connected processes that have not sent a hello.
  std::vector<Candidate> unidentified_;
};
} // namespace

std::vector<uint32_t> Host::missing() const {
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 1; rank < options_.numRanks; ++rank)
    if (!peers_[rank].fd.valid())
      ranks.push_back(rank);
  return ranks;
}

Status Host::gatherIn(const RendezvousDirectory &directory) {
  directory.sweep();
  std::optional<FileLock> lock;
  while (!lock) {
    IRISRT_ASSIGN_OR_RETURN(lock, directory.tryLock(options_.job));
    if (lock)
      break;
    IRISRT_RETURN_IF_ERROR(checkNotice(options_));
    if (deadline_.passed())
      return makeStatus(StatusCode::timeout,
                        "another process holds the rendezvous lock of job '%s' "
                        "in '%s'",
                        options_.job.c_str(), directory.path().c_str());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // Any existing socket belongs to an ended job, because this rank holds the
  // lock.
  directory.removeSocket(options_.job);
  SocketGuard guard(directory, options_.job);
  Expected<UniqueFd> listener =
      listenAt(directory.socketPath(options_.job),
               static_cast<int>(options_.numRanks) + 16);
  if (!listener.ok())
    return listener.status().withContext("in '" + directory.path() + "'");
  return gather(listener->get());
}

Status Host::gather(int listener) {
  while (!missing().empty()) {
    if (deadline_.passed()) {
      std::vector<uint32_t> ranks = missing();
      return makeStatus(StatusCode::timeout,
                        "rank%s %s did not join within %.3g s",
                        ranks.size() == 1 ? "" : "s", joinRanks(ranks).c_str(),
                        std::chrono::duration<double>(options_.limit).count());
    }
    IRISRT_RETURN_IF_ERROR(pollOnce(listener));
    dropSilent();
    IRISRT_RETURN_IF_ERROR(checkNotice(options_));
  }
  return Status::success();
}

/// Listens at the address. A job's worlds use it one after the other.
Expected<UniqueFd> Host::listenAtPort() {
  IRISRT_ASSIGN_OR_RETURN(std::optional<UniqueFd> reserved,
                          takeAddress(options_.address));
  if (reserved)
    return std::move(*reserved);
  IRISRT_ASSIGN_OR_RETURN(TcpAddress address, parseAddress(options_.address));
  while (true) {
    Expected<UniqueFd> listener =
        listenAtAddress(address, static_cast<int>(options_.numRanks) + 16);
    if (listener.ok() || listener.status().code() != StatusCode::unavailable ||
        deadline_.passed())
      return listener;
    IRISRT_RETURN_IF_ERROR(checkNotice(options_));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Status Host::gatherAt() {
  Expected<UniqueFd> listener = listenAtPort();
  if (!listener.ok())
    return listener.status().withContext(
        "expected an address of rank 0's machine, at which no other process "
        "listens, in IRIS_RENDEZVOUS_ADDRESS or NCCL_COMM_ID");
  return gather(listener->get());
}

Status Host::pollOnce(int listener) {
  std::vector<pollfd> entries = {{listener, POLLIN, 0}};
  for (const Candidate &unidentified : unidentified_)
    entries.push_back({unidentified.peer.fd.get(), POLLIN, 0});
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

/// Takes a process of this user; without a valid descriptor otherwise.
Expected<Peer> Host::acceptLocal(int listener) {
  Peer peer;
  peer.fd.reset(
      ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!peer.fd.valid()) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
      return peer;
    return makeErrnoStatus(StatusCode::internal, errno, "cannot accept");
  }
  Expected<PeerIdentity> identity = checkPeer(peer.fd.get());
  if (!identity.ok())
    return Peer(); // another user's
  peer.pid = identity->pid;
  return peer;
}

Status Host::accept(int listener) {
  Expected<Peer> peer =
      options_.address.empty() ? acceptLocal(listener) : acceptRemote(listener);
  if (!peer.ok())
    return peer.status();
  // An unidentified peer must not keep ranks out: the longest silent one
  // leaves.
  if (peer->fd.valid() && unidentified_.size() >= maxUnidentified)
    unidentified_.erase(unidentified_.begin());
  return peer->fd.valid() ? challenge(peer.take()) : Status::success();
}

Status Host::challenge(Peer peer) {
  Candidate candidate;
  IRISRT_ASSIGN_OR_RETURN(candidate.challenge, makeNonce());
  if (peer.isRemote())
    peer.framing->limitPayload(helloBytes);
  std::vector<uint8_t> payload =
      encodeChallenge({static_cast<uint32_t>(::getpid()), candidate.challenge});
  // A new connection has room for it.
  Status sent = sendPacket(peer,
                           encodeMessage({MessageKind::challenge, 0, 0, 0},
                                         payload.data(), payload.size()),
                           nullptr, 0, Deadline(std::chrono::nanoseconds(0)));
  if (!sent.ok())
    return Status::success(); // it has ended
  candidate.peer = std::move(peer);
  unidentified_.push_back(std::move(candidate));
  return Status::success();
}

/// Drops the processes on other machines that have not said who they are.
void Host::dropSilent() {
  for (size_t i = unidentified_.size(); i-- > 0;)
    if (unidentified_[i].peer.isRemote() && unidentified_[i].deadline.passed())
      unidentified_.erase(unidentified_.begin() + static_cast<ptrdiff_t>(i));
}

Status Host::readHello(size_t index) {
  Packet packet;
  Expected<Received> received =
      receivePacket(unidentified_[index].peer, packet);
  if (received.ok() && *received == Received::nothing)
    return Status::success();
  Candidate candidate = std::move(unidentified_[index]);
  unidentified_.erase(unidentified_.begin() + static_cast<ptrdiff_t>(index));
  if (!received.ok()) {
    refuse(candidate.peer, received.status().message());
    return Status::success();
  }
  if (*received == Received::end)
    return Status::success();
  return admit(std::move(candidate), packet);
}

Status Host::admit(Candidate candidate, const Packet &packet) {
  Peer &peer = candidate.peer;
  Expected<Hello> hello = decodeHello(packet.message.payload);
  if (packet.message.header.kind != MessageKind::hello || !hello.ok()) {
    refuse(peer, "expected a hello");
    return Status::success();
  }
  if (peer.isRemote())
    peer.pid = static_cast<int>(hello->pid);
  if (hello->jobTag != proof_.jobTag()) {
    sendPacket(peer,
               encodeMessage({MessageKind::otherJob, 0, 0, 0}, nullptr, 0),
               nullptr, 0, Deadline(std::chrono::nanoseconds(0)))
        .ignore("it tries again");
    return Status::success();
  }
  uint32_t rank = packet.message.header.rank;
  if (!isSameProof(hello->proof,
                   proof_.ofRank(rank, hello->numRanks, candidate.challenge,
                                 hello->nonce))) {
    refuseToken(peer, rank);
    return Status::success();
  }
  Status status;
  if (hello->abiMajor != IRISRT_ABI_VERSION_MAJOR ||
      hello->abiMinor != IRISRT_ABI_VERSION_MINOR)
    status = makeStatus(StatusCode::failedPrecondition,
                        "rank %u (%s) has runtime ABI %u.%u, rank 0 "
                        "has %d.%d",
                        rank, peer.describe().c_str(), hello->abiMajor,
                        hello->abiMinor, IRISRT_ABI_VERSION_MAJOR,
                        IRISRT_ABI_VERSION_MINOR);
  else if (hello->numRanks != options_.numRanks)
    status = makeStatus(StatusCode::failedPrecondition,
                        "rank %u (%s) has a world of %u ranks, rank 0 "
                        "one of %u",
                        rank, peer.describe().c_str(), hello->numRanks,
                        options_.numRanks);
  else if (rank == 0 || rank >= options_.numRanks)
    status =
        makeStatus(StatusCode::failedPrecondition, "%s claims rank %u of %u",
                   peer.describe().c_str(), rank, options_.numRanks);
  else if (peers_[rank].fd.valid())
    status = makeStatus(
        StatusCode::failedPrecondition, "%s and %s both claim rank %u",
        peers_[rank].describe().c_str(), peer.describe().c_str(), rank);
  if (!status.ok()) {
    refuse(peer, status.message());
    return status;
  }
  std::vector<uint8_t> payload = encodeProof(proof_.ofRoot(
      rank, options_.numRanks, candidate.challenge, hello->nonce));
  sendPacket(peer,
             encodeMessage({MessageKind::admitted, 0, 0, 0}, payload.data(),
                           payload.size()),
             nullptr, 0, Deadline(std::chrono::seconds(1)))
      .ignore("checkConnected() notices that the rank has ended");
  if (peer.isRemote())
    peer.framing->limitPayload(maxMessageBytes);
  peers_[rank] = std::move(peer);
  return Status::success();
}

/// Fails if a connected rank ends before all ranks are connected.
Status Host::checkConnected() {
  for (uint32_t rank = 1; rank < options_.numRanks; ++rank) {
    if (!peers_[rank].fd.valid())
      continue;
    if (!hasEnded(peers_[rank]))
      continue;
    // The launcher's notice may explain why it left.
    IRISRT_RETURN_IF_ERROR(checkNotice(options_));
    return makeStatus(StatusCode::aborted,
                      "rank %u (%s) ended during the rendezvous", rank,
                      peers_[rank].describe().c_str());
  }
  return Status::success();
}

void Host::refuse(Peer &peer, const std::string &reason) {
  sendPacket(
      peer,
      [&] {
        std::vector<uint8_t> payload = encodeFailure({0, reason});
        return encodeMessage({MessageKind::failure, 0, 0, 0}, payload.data(),
                             payload.size());
      }(),
      nullptr, 0, Deadline(std::chrono::milliseconds(200)))
      .ignore("the rejected process may have ended");
}

/// Reported on both sides, because either one may have the wrong token.
void Host::refuseToken(Peer &peer, uint32_t claimedRank) {
  std::string text = formatString(
      "rank 0 (process %d) rejected %s, which claims to be rank %u: "
      "its token does not match that of job '%s'; expected the same IRIS_TOKEN "
      "on every rank",
      ::getpid(), peer.describe().c_str(), claimedRank, options_.job.c_str());
  refuse(peer, text);
  if (refusals_.size() == maxRefusals)
    return; // anybody can connect to a port, and the log must not fill
  refusals_.push_back(text);
  Log(options_.rank, options_.numRanks).warning("%s", text.c_str());
}

void Host::sendToAll(MessageKind kind, const std::vector<uint8_t> &payload) {
  std::vector<uint8_t> bytes =
      encodeMessage({kind, 0, 0, 0}, payload.data(), payload.size());
  for (Peer &peer : peers_)
    if (peer.fd.valid())
      sendPacket(peer, bytes, nullptr, 0, Deadline(std::chrono::seconds(1)))
          .ignore("the rank has ended");
  if (kind == MessageKind::failure) // they wait for an answer, too
    for (Candidate &unidentified : unidentified_)
      sendPacket(unidentified.peer, bytes, nullptr, 0,
                 Deadline(std::chrono::milliseconds(200)))
          .ignore("the process may have ended");
}

Expected<std::vector<Peer>>
iris::rt::hostRanks(const RendezvousOptions &options,
                    const RendezvousDirectory &directory) {
  Host host(options);
  return host.finish(host.gatherIn(directory));
}

Expected<std::vector<Peer>>
iris::rt::hostRanksAt(const RendezvousOptions &options) {
  Host host(options);
  return host.finish(host.gatherAt());
}
