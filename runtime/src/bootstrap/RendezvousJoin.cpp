// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RendezvousJoin.cpp - The other ranks' side of the rendezvous -------===//
#include "bootstrap/JobProof.h"
#include "bootstrap/RendezvousSides.h"
#include "iris-c/RuntimeABI.h"

#include <cerrno>
#include <optional>
#include <poll.h>
#include <thread>
#include <unistd.h>

using namespace iris::rt;

/// Additional time for rank 0 to report which ranks are missing, after the
/// limit of a rank that has connected to it.
static constexpr auto reportTime = std::chrono::seconds(5);

/// Connects; none if rank 0 is not listening.
static Expected<std::optional<Peer>> connect(const std::string &path) {
  IRISRT_ASSIGN_OR_RETURN(std::optional<UniqueFd> fd, connectTo(path));
  if (!fd)
    return std::optional<Peer>();
  Peer peer;
  peer.fd = std::move(*fd);
  IRISRT_ASSIGN_OR_RETURN(PeerIdentity identity, checkPeer(peer.fd.get()));
  peer.pid = identity.pid;
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
    IRISRT_ASSIGN_OR_RETURN(std::optional<Peer> host,
                            connect((*directory)->socketPath(options_.job)));
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

namespace {
/// The handshake of this rank with rank 0, over a connection to it.
class Handshake {
public:
  Handshake(const RendezvousOptions &options, Peer host)
      : options_(options), host_(std::move(host)),
        // Starts when this rank has connected to rank 0, which started earlier:
        // rank 0's limit expires first, and it knows the missing ranks.
        deadline_(options.limit + reportTime),
        proof_(options.job, options.token) {
    if (host_.isRemote())
      host_.framing->limitPayload(maxHandshakeBytes);
  }

  /// See awaitWelcome().
  Expected<std::optional<std::vector<Peer>>> run();

private:
  Expected<std::optional<Packet>> receive();
  Status answer(const Packet &packet);
  Status checkRoot(const Packet &packet);

  const RendezvousOptions &options_;
  Peer host_;
  const Deadline deadline_;
  const JobProof proof_;
  bool hasAnswered_ = false, isAdmitted_ = false;
  Nonce challenge_{}, answer_{};
};
} // namespace

/// Waits for rank 0's next message; none if the connection ended and this rank
/// may try again.
Expected<std::optional<Packet>> Handshake::receive() {
  while (true) {
    pollfd entry = {host_.fd.get(), POLLIN, 0};
    if (::poll(&entry, 1, pollTime(options_, deadline_)) < 0 && errno != EINTR)
      return makeErrnoStatus(StatusCode::internal, errno, "cannot poll");
    Packet packet;
    IRISRT_ASSIGN_OR_RETURN(Received received, receivePacket(host_, packet));
    if (received == Received::packet)
      return std::optional<Packet>(std::move(packet));
    // The launcher's notice may explain why rank 0 left.
    IRISRT_RETURN_IF_ERROR(checkNotice(options_));
    if (received == Received::end && host_.isRemote() && !isAdmitted_)
      return std::optional<Packet>();
    if (received == Received::end)
      return makeStatus(StatusCode::aborted,
                        "rank 0 (%s) ended during the rendezvous",
                        host_.describe().c_str());
    if (deadline_.passed())
      return makeStatus(StatusCode::timeout,
                        "rank 0 (%s) did not gather all ranks within "
                        "%.3g s",
                        host_.describe().c_str(),
                        std::chrono::duration<double>(options_.limit).count());
  }
}

/// Answers the challenge.
Status Handshake::answer(const Packet &packet) {
  IRISRT_ASSIGN_OR_RETURN(Challenge challenge,
                          decodeChallenge(packet.message.payload));
  if (host_.isRemote())
    host_.pid = static_cast<int>(challenge.pid);
  challenge_ = challenge.nonce;
  IRISRT_ASSIGN_OR_RETURN(answer_, makeNonce());
  Hello hello;
  hello.abiMajor = IRISRT_ABI_VERSION_MAJOR;
  hello.abiMinor = IRISRT_ABI_VERSION_MINOR;
  hello.numRanks = options_.numRanks;
  hello.pid = static_cast<uint32_t>(::getpid());
  hello.jobTag = proof_.jobTag();
  hello.nonce = answer_;
  hello.proof =
      proof_.ofRank(options_.rank, options_.numRanks, challenge_, answer_);
  std::vector<uint8_t> payload = encodeHello(hello);
  hasAnswered_ = true;
  return sendPacket(host_,
                    encodeMessage({MessageKind::hello, options_.rank, 0, 0},
                                  payload.data(), payload.size()),
                    nullptr, 0, Deadline(std::chrono::seconds(5)));
}

Status Handshake::checkRoot(const Packet &packet) {
  IRISRT_ASSIGN_OR_RETURN(uint64_t proof, decodeProof(packet.message.payload));
  if (hasAnswered_ &&
      isSameProof(proof, proof_.ofRoot(options_.rank, options_.numRanks,
                                       challenge_, answer_))) {
    isAdmitted_ = true;
    if (host_.isRemote())
      host_.framing->limitPayload(maxMessageBytes);
    return Status::success();
  }
  return makeStatus(StatusCode::failedPrecondition,
                    "%s, which claims to be rank 0, does not know the token of "
                    "job '%s'; expected the same IRIS_TOKEN on every rank",
                    host_.describe().c_str(), options_.job.c_str());
}

Expected<std::optional<std::vector<Peer>>> Handshake::run() {
  while (true) {
    IRISRT_ASSIGN_OR_RETURN(std::optional<Packet> received, receive());
    if (!received)
      return std::optional<std::vector<Peer>>();
    const Packet &packet = *received;
    const MessageKind kind = packet.message.header.kind;
    if (kind == MessageKind::challenge && !hasAnswered_) {
      Status sent = answer(packet);
      if (sent.code() == StatusCode::aborted)
        continue; // receive() finds out why
      IRISRT_RETURN_IF_ERROR(sent);
      continue;
    }
    if (kind == MessageKind::otherJob)
      return std::optional<std::vector<Peer>>();
    if (kind == MessageKind::failure) {
      IRISRT_ASSIGN_OR_RETURN(Failure failure,
                              decodeFailure(packet.message.payload));
      return makeStatus(StatusCode::aborted, "rank 0 reports: %s",
                        failure.reason.c_str());
    }
    if (kind == MessageKind::admitted) {
      IRISRT_RETURN_IF_ERROR(checkRoot(packet));
      continue;
    }
    if (kind != MessageKind::welcome || !isAdmitted_)
      return makeStatus(StatusCode::internal,
                        "rank 0 sent message kind %d instead of a welcome",
                        static_cast<int>(kind));
    std::vector<Peer> peers(options_.numRanks);
    peers[0] = std::move(host_);
    return std::optional<std::vector<Peer>>(std::move(peers));
  }
}

Expected<std::optional<std::vector<Peer>>>
iris::rt::awaitWelcome(const RendezvousOptions &options, Peer host) {
  return Handshake(options, std::move(host)).run();
}

Expected<std::vector<Peer>>
iris::rt::joinHost(const RendezvousOptions &options) {
  HostSearch search(options);
  IRISRT_ASSIGN_OR_RETURN(Peer host, search.run());
  IRISRT_ASSIGN_OR_RETURN(std::optional<std::vector<Peer>> peers,
                          awaitWelcome(options, std::move(host)));
  if (!peers)
    return makeStatus(StatusCode::internal,
                      "the socket of job '%s' serves another job",
                      options.job.c_str());
  return std::move(*peers);
}
