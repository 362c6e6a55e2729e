// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bootstrap/Rendezvous.h"

#include "bootstrap/Socket.h"
#include "iris-c/RuntimeABI.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace iris::rt;

static const char lockSuffix[] = ".lock";
static const char socketSuffix[] = ".sock";

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Status iris::rt::ensurePrivateDirectory(const std::string &path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot create the rendezvous directory '%s'",
                           path.c_str());
  struct stat info;
  // lstat: a link planted by somebody else must not lead us elsewhere.
  if (::lstat(path.c_str(), &info) != 0)
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot look at the rendezvous directory '%s'",
                           path.c_str());
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() ||
      (info.st_mode & 077) != 0)
    return makeStatus(StatusCode::failedPrecondition,
                      "'%s' must be a directory of user %u with mode 0700; it "
                      "is %s of user %u with mode %04o",
                      path.c_str(), ::geteuid(),
                      S_ISDIR(info.st_mode) ? "a directory" : "something else",
                      info.st_uid, info.st_mode & 07777);
  return Status::success();
}

namespace {
/// The lock of one job's name; whoever holds it owns the socket's path.
class NameLock {
public:
  NameLock() = default;
  NameLock(NameLock &&) = default;
  NameLock &operator=(NameLock &&) = default;
  ~NameLock() {
    // The name goes before the lock does, so that nobody can lock a file that
    // is about to lose its name.
    if (fd_.valid())
      ::unlink(path_.c_str());
  }

  /// Takes the lock if nobody has it.
  static Expected<std::optional<NameLock>> tryTake(const std::string &path) {
    UniqueFd fd(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid())
      return makeErrnoStatus(StatusCode::unavailable, errno, "cannot open '%s'",
                             path.c_str());
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK || errno == EINTR)
        return std::optional<NameLock>();
      return makeErrnoStatus(StatusCode::unavailable, errno, "cannot lock '%s'",
                             path.c_str());
    }
    // Its last owner may have removed the file between our open and lock.
    struct stat ours, named;
    if (::fstat(fd.get(), &ours) != 0 || ::lstat(path.c_str(), &named) != 0 ||
        ours.st_ino != named.st_ino || ours.st_dev != named.st_dev)
      return std::optional<NameLock>();
    NameLock lock;
    lock.fd_ = std::move(fd);
    lock.path_ = path;
    return std::optional<NameLock>(std::move(lock));
  }

private:
  UniqueFd fd_;
  std::string path_;
};

/// Removes a path when it goes out of scope.
class PathGuard {
public:
  explicit PathGuard(std::string path) : path_(std::move(path)) {}
  PathGuard(const PathGuard &) = delete;
  ~PathGuard() { ::unlink(path_.c_str()); }

private:
  std::string path_;
};
} // namespace

static uint64_t hashName(const std::string &text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3ull;
  return hash;
}

static std::string basePath(const RendezvousOptions &options) {
  return options.directory + "/" +
         formatString("%016llx",
                      static_cast<unsigned long long>(hashName(options.job)));
}

void iris::rt::sweepRendezvous(const std::string &directory) {
  DIR *dir = ::opendir(directory.c_str());
  if (!dir)
    return;
  std::vector<std::string> bases;
  while (dirent *entry = ::readdir(dir)) {
    std::string name = entry->d_name;
    size_t dot = name.rfind('.');
    if (dot == 16 &&
        (name.substr(dot) == lockSuffix || name.substr(dot) == socketSuffix))
      bases.push_back(directory + "/" + name.substr(0, dot));
  }
  ::closedir(dir);
  for (const std::string &base : bases) {
    Expected<std::optional<NameLock>> lock =
        NameLock::tryTake(base + lockSuffix);
    if (lock.ok() && lock->has_value())
      ::unlink((base + socketSuffix).c_str());
  }
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
/// Rank 0's side of a rendezvous.
class Host {
public:
  explicit Host(const RendezvousOptions &options)
      : options_(options), deadline_(options.limit), peers_(options.numRanks) {}

  Expected<std::vector<Peer>> run() {
    Status status = gather();
    if (!status.ok()) {
      tellAll(MessageKind::failure, encodeFailure({0, status.message()}));
      return status;
    }
    tellAll(MessageKind::welcome, {});
    return std::move(peers_);
  }

private:
  Status gather();
  Status pollOnce(int listener);
  Status accept(int listener);
  Status readHello(size_t index);
  Status admit(Peer peer, const Packet &packet);
  Status checkMembers();
  void refuse(const Peer &peer, const std::string &reason);
  void tellAll(MessageKind kind, const std::vector<uint8_t> &payload);
  std::vector<uint32_t> missing() const;

  const RendezvousOptions &options_;
  Deadline deadline_;
  std::vector<Peer> peers_;
  /// Connected, but not yet introduced.
  std::vector<Peer> strangers_;
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
  std::string base = basePath(options_);
  sweepRendezvous(options_.directory);
  std::optional<NameLock> lock;
  while (!lock) {
    IRISRT_ASSIGN_OR_RETURN(lock, NameLock::tryTake(base + lockSuffix));
    if (lock)
      break;
    if (deadline_.passed())
      return makeStatus(StatusCode::timeout,
                        "another process holds the rendezvous of job '%s' "
                        "('%s%s')",
                        options_.job.c_str(), base.c_str(), lockSuffix);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // Whatever is there belongs to a dead job: we hold the lock.
  std::string path = base + socketSuffix;
  ::unlink(path.c_str());
  PathGuard guard(path);
  IRISRT_ASSIGN_OR_RETURN(
      UniqueFd listener,
      listenAt(path, static_cast<int>(options_.numRanks) + 16));

  while (!missing().empty()) {
    if (deadline_.passed()) {
      std::vector<uint32_t> ranks = missing();
      return makeStatus(StatusCode::timeout,
                        "rank%s %s did not join within %.3g s",
                        ranks.size() == 1 ? "" : "s", joinRanks(ranks).c_str(),
                        std::chrono::duration<double>(options_.limit).count());
    }
    IRISRT_RETURN_IF_ERROR(pollOnce(listener.get()));
  }
  return Status::success();
}

Status Host::pollOnce(int listener) {
  std::vector<pollfd> entries = {{listener, POLLIN, 0}};
  for (const Peer &stranger : strangers_)
    entries.push_back({stranger.fd.get(), POLLIN, 0});
  for (const Peer &peer : peers_)
    if (peer.fd.valid())
      entries.push_back({peer.fd.get(), POLLIN, 0});
  int ready = ::poll(entries.data(), entries.size(), deadline_.pollMs(1000));
  if (ready < 0 && errno != EINTR)
    return makeErrnoStatus(StatusCode::internal, errno, "cannot poll");
  if (ready <= 0)
    return Status::success();
  // Backwards, because an introduced stranger leaves the list.
  for (size_t i = strangers_.size(); i-- > 0;)
    if (entries[1 + i].revents != 0)
      IRISRT_RETURN_IF_ERROR(readHello(i));
  IRISRT_RETURN_IF_ERROR(checkMembers());
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
  // Strangers of other users, or too many silent ones, are simply dropped.
  if (!identity.ok() || strangers_.size() >= 2 * IRISRT_MAX_RANKS)
    return Status::success();
  peer.pid = identity->pid;
  strangers_.push_back(std::move(peer));
  return Status::success();
}

Status Host::readHello(size_t index) {
  Packet packet;
  Expected<Received> received =
      receivePacket(strangers_[index].fd.get(), packet);
  if (received.ok() && *received == Received::nothing)
    return Status::success();
  Peer peer = std::move(strangers_[index]);
  strangers_.erase(strangers_.begin() + static_cast<ptrdiff_t>(index));
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
    refuse(peer, "the job's token does not match");
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
                        "rank %u (process %d) wants a world of %u ranks, rank "
                        "0 one of %u",
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

/// A rank that joined must stay until all are here.
Status Host::checkMembers() {
  for (uint32_t rank = 1; rank < options_.numRanks; ++rank) {
    if (!peers_[rank].fd.valid())
      continue;
    char byte;
    ssize_t got =
        ::recv(peers_[rank].fd.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
      return makeStatus(StatusCode::aborted,
                        "rank %u (process %d) went away during the rendezvous",
                        rank, peers_[rank].pid);
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
      .ignore("who is refused may not be listening");
}

void Host::tellAll(MessageKind kind, const std::vector<uint8_t> &payload) {
  std::vector<uint8_t> bytes =
      encodeMessage({kind, 0, 0, 0}, payload.data(), payload.size());
  for (const Peer &peer : peers_)
    if (peer.fd.valid())
      sendPacket(peer.fd.get(), bytes, nullptr, 0,
                 Deadline(std::chrono::seconds(1)))
          .ignore("a rank that is gone shows in its connection");
}

//===----------------------------------------------------------------------===//
// The others
//===----------------------------------------------------------------------===//

/// Connects and says hello; nothing when rank 0 is not there (any more).
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
    return std::optional<Peer>(); // it went away between the two steps
  return std::optional<Peer>(std::move(peer));
}

static Expected<std::vector<Peer>> join(const RendezvousOptions &options) {
  Deadline deadline(options.limit);
  // Rank 0 names who is missing; leave it the time to say so.
  Deadline patience(options.limit + std::chrono::seconds(2));
  std::string path = basePath(options) + socketSuffix;
  auto seconds = std::chrono::duration<double>(options.limit).count();

  std::optional<Peer> host;
  auto pause = std::chrono::milliseconds(1);
  while (true) {
    while (!host) {
      IRISRT_ASSIGN_OR_RETURN(host, introduce(options, path));
      if (host)
        break;
      if (deadline.passed())
        return makeStatus(StatusCode::timeout,
                          "rank 0 did not open the rendezvous of job '%s' "
                          "within %.3g s",
                          options.job.c_str(), seconds);
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::milliseconds(20));
    }
    pollfd entry = {host->fd.get(), POLLIN, 0};
    if (::poll(&entry, 1, patience.pollMs(1000)) < 0 && errno != EINTR)
      return makeErrnoStatus(StatusCode::internal, errno, "cannot poll");
    Packet packet;
    IRISRT_ASSIGN_OR_RETURN(Received received,
                            receivePacket(host->fd.get(), packet));
    if (received == Received::end)
      return makeStatus(StatusCode::aborted,
                        "rank 0 (process %d) went away during the rendezvous",
                        host->pid);
    if (received == Received::nothing) {
      if (patience.passed())
        return makeStatus(StatusCode::timeout,
                          "rank 0 (process %d) did not gather all ranks within "
                          "%.3g s",
                          host->pid, seconds);
      continue;
    }
    if (packet.message.header.kind == MessageKind::failure) {
      IRISRT_ASSIGN_OR_RETURN(Failure failure,
                              decodeFailure(packet.message.payload));
      return makeStatus(StatusCode::aborted, "rank 0 says: %s",
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

Expected<std::vector<Peer>> iris::rt::meet(const RendezvousOptions &options) {
  if (options.numRanks == 1)
    return std::vector<Peer>(1);
  IRISRT_RETURN_IF_ERROR(ensurePrivateDirectory(options.directory));
  Expected<std::vector<Peer>> peers =
      options.rank == 0 ? Host(options).run() : join(options);
  if (!peers.ok())
    return peers.status().withContext(formatString(
        "rendezvous of rank %u of %u failed", options.rank, options.numRanks));
  return peers;
}
