// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Bootstrap.cpp - Host-side communication between ranks --------------===//
#include "bootstrap/Bootstrap.h"

#include "core/ForkGuard.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

using namespace iris::rt;

static constexpr uint32_t noRank = ~0u;
/// Tag of a failure that is only that the rank leaves.
static constexpr uint32_t rankLeaves = 1;
static constexpr auto failureSendLimit = std::chrono::milliseconds(500);
/// Milliseconds between looks at how other ranks end once rank 0 is gone.
static constexpr int statesInterval = 20;
/// How long a rank that leaves waits until peers on other machines have what it
/// sent.
static constexpr auto drainLimit = std::chrono::seconds(2);

const char *iris::rt::collectiveName(uint32_t tag) {
  switch (static_cast<CollectiveTag>(tag)) {
  case CollectiveTag::create:
    return "world creation";
  case CollectiveTag::grow:
    return "heap growth";
  case CollectiveTag::sync:
    return "sync";
  case CollectiveTag::barrier:
    return "barrier";
  case CollectiveTag::module:
    return "package loading";
  case CollectiveTag::destroy:
    return "world destruction";
  case CollectiveTag::trace:
    return "writeTrace";
  case CollectiveTag::import:
    return "import of memory";
  case CollectiveTag::share:
    return "creation of a communicator that compares calls";
  case CollectiveTag::user:
    return "all-gather";
  }
  return "unknown collective";
}

//===----------------------------------------------------------------------===//
// Construction and destruction
//===----------------------------------------------------------------------===//

Bootstrap::Bootstrap(uint32_t rank, uint32_t numRanks, std::vector<Peer> peers)
    : rank_(rank), numRanks_(numRanks), peers_(std::move(peers)),
      sendLocks_(new std::mutex[numRanks]), unsent_(numRanks), inbox_(numRanks),
      departed_(numRanks, false), lastRounds_(numRanks) {
  for (const Peer &peer : peers_)
    if (peer.fd.valid())
      closeInChildren(peer.fd.get());
}

void Bootstrap::disconnect() {
  Deadline deadline(drainLimit);
  for (Peer &peer : peers_) {
    if (!peer.fd.valid())
      continue;
    drain(peer, deadline);
    forgetInChildren(peer.fd.get());
    peer.fd.reset();
  }
}

Expected<std::unique_ptr<Bootstrap>>
Bootstrap::create(const RendezvousOptions &options) {
  IRISRT_ASSIGN_OR_RETURN(std::vector<Peer> peers, connectRanks(options));
  std::unique_ptr<Bootstrap> bootstrap(
      new Bootstrap(options.rank, options.numRanks, std::move(peers)));
  IRISRT_RETURN_IF_ERROR(bootstrap->start());
  return bootstrap;
}

Status Bootstrap::start() {
  if (numRanks_ == 1)
    return Status::success();
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.valid())
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot create an event descriptor");
  IRISRT_ASSIGN_OR_RETURN(listener_, OsThread::start([this] {
                            listen();
                            if (isHeld_ && isHeld_->ok())
                              states_->letGo();
                          }));
  return Status::success();
}

Status Bootstrap::letRanksLeave(std::chrono::nanoseconds limit) {
  letsRanksLeave_.store(true);
  if (numRanks_ < 3)
    return Status::success();
  auto states = std::make_unique<RankStates>();
  IRISRT_RETURN_IF_ERROR(states->create());
  const int fd = states->fd();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    states_ = std::move(states);
    wake();
    changed_.wait(lock, [this] { return isHeld_.has_value(); });
    IRISRT_RETURN_IF_ERROR(*isHeld_);
  }
  IRISRT_ASSIGN_OR_RETURN(FdResult result,
                          exchangeFds(CollectiveTag::create, {}, fd, limit));
  std::lock_guard<std::mutex> lock(mutex_);
  IRISRT_RETURN_IF_ERROR(states_->map(std::move(result.fds), rank_));
  areStatesMapped_ = true;
  wake(); // rank 0 may be gone already
  return Status::success();
}

void Bootstrap::leave() {
  if (!listener_.joinable())
    return disconnect();
  for (uint32_t peer = 0; peer < numRanks_; ++peer)
    if (peers_[peer].fd.valid())
      send(peer, {MessageKind::goodbye, rank_, 0, 0}, {}, {},
           Deadline(failureSendLimit))
          .ignore("the rank has already ended");
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    if (states_)
      states_->tell({rank_, "it has ended"}, /*leaves=*/true);
  }
  wake();
  listener_.join();
  disconnect();
}

/// Wakes the listener thread so that it checks for changes.
void Bootstrap::wake() {
  uint64_t one = 1;
  while (::write(wake_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

//===----------------------------------------------------------------------===//
// Listener thread
//===----------------------------------------------------------------------===//

void Bootstrap::listen() {
  std::vector<bool> open(numRanks_);
  for (uint32_t peer = 0; peer < numRanks_; ++peer)
    open[peer] = peers_[peer].fd.valid();
  while (true) {
    std::vector<pollfd> entries = {{wake_.get(), POLLIN, 0}};
    std::vector<uint32_t> ranks;
    for (uint32_t peer = 0; peer < numRanks_; ++peer) {
      if (!open[peer])
        continue;
      short events = hasUnsent(peer) ? POLLIN | POLLOUT : POLLIN;
      entries.push_back({peers_[peer].fd.get(), events, 0});
      ranks.push_back(peer);
    }
    int timeout = untilCall();
    if (watchesStates())
      timeout =
          timeout < 0 ? statesInterval : std::min(timeout, statesInterval);
    int ready = ::poll(entries.data(), entries.size(), timeout);
    // Before a look at what has changed: a later wake() is left for the next
    // poll.
    uint64_t calls;
    if (ready > 0 && entries[0].revents != 0)
      (void)!::read(wake_.get(), &calls, sizeof(calls));
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_)
        return;
    }
    holdState();
    callIfDue();
    if (watchesStates())
      readStates();
    if (ready < 0)
      continue; // EINTR
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (entries[i + 1].revents == 0)
        continue;
      uint32_t from = ranks[i];
      if ((entries[i + 1].revents & POLLOUT) != 0)
        sendUnsent(from);
      Packet packet;
      Expected<Received> received = receivePacket(peers_[from], packet);
      if (received.ok() && *received == Received::nothing)
        continue;
      if (received.ok() && *received == Received::packet) {
        handle(from, std::move(packet));
        continue;
      }
      open[from] = false;
      {
        std::lock_guard<std::mutex> lock(unsentMutex_);
        unsent_[from].clear();
      }
      if (received.ok())
        handleEnd(from);
      else if (received.status().code() == StatusCode::invalidArgument)
        fail(from, received.status().message(), noRank);
      else // a local error, not the peer's
        failHere(received.status());
    }
  }
}

void Bootstrap::handle(uint32_t from, Packet packet) {
  switch (packet.message.header.kind) {
  case MessageKind::contribution:
  case MessageKind::result: {
    std::lock_guard<std::mutex> lock(mutex_);
    lastRounds_[from] = packet.message.header.sequence;
    inbox_[from].push_back(std::move(packet));
    changed_.notify_all();
    return;
  }
  case MessageKind::goodbye: {
    std::lock_guard<std::mutex> lock(mutex_);
    departed_[from] = true;
    changed_.notify_all();
    return;
  }
  case MessageKind::failure: {
    Expected<Failure> failure = decodeFailure(packet.message.payload);
    if (!failure.ok())
      return fail(from, failure.status().message(), noRank);
    const bool leaves = packet.message.header.tag == rankLeaves;
    if (leaves && rank_ != 0 && failure->rank < numRanks_) {
      std::lock_guard<std::mutex> lock(mutex_);
      lastRounds_[failure->rank] = packet.message.header.sequence;
    }
    return fail(failure->rank, failure->reason, from, leaves);
  }
  case MessageKind::groupContribution:
    return handleGroupContribution(from, std::move(packet));
  case MessageKind::lateQuery:
    return answerLateQuery(from, packet.message.header.sequence);
  case MessageKind::lateAnswer: {
    Expected<uint64_t> late = decodeLateRanks(packet.message.payload);
    if (!late.ok())
      return fail(from, late.status().message(), noRank);
    std::lock_guard<std::mutex> lock(mutex_);
    late_ = *late;
    ++numAnswers_;
    changed_.notify_all();
    return;
  }
  case MessageKind::launchQuery:
  case MessageKind::launchCount:
    return handleLaunchMessage(from, packet);
  case MessageKind::hello:
  case MessageKind::welcome:
  case MessageKind::challenge:
  case MessageKind::otherJob:
  case MessageKind::admitted:
    return fail(from, "it sent a rendezvous message after the rendezvous",
                noRank);
  }
}

void Bootstrap::handleEnd(uint32_t from) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (departed_[from])
      return;
  }
  fail(from, peers_[from].describe() + " exited or was killed", noRank,
       /*leaves=*/true);
}

/// Milliseconds until the call of callLater() is due; -1: there is none.
int Bootstrap::untilCall() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!laterCall_)
    return -1;
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      callAt_ - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<int64_t>(0, left.count() + 1));
}

void Bootstrap::holdState() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!states_ || isHeld_)
      return;
  }
  Status held = states_->hold();
  std::lock_guard<std::mutex> lock(mutex_);
  isHeld_ = held;
  changed_.notify_all();
}

bool Bootstrap::watchesStates() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return areStatesMapped_ && rank_ != 0 && isGone(0) && !hasFailed();
}

void Bootstrap::readStates() {
  for (uint32_t rank = 1; rank < numRanks_; ++rank) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (rank == rank_ || hasLeft(rank))
        continue;
    }
    if (std::optional<RankStates::End> end = states_->endOf(rank))
      fail(end->leaves ? rank : end->failure.rank, end->failure.reason, noRank,
           end->leaves);
  }
}

void Bootstrap::callIfDue() {
  std::function<void()> call;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!laterCall_ || std::chrono::steady_clock::now() < callAt_)
      return;
    call = std::exchange(laterCall_, nullptr);
  }
  call();
}

void Bootstrap::callLater(std::chrono::nanoseconds delay,
                          std::function<void()> function) {
  if (!listener_.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (laterCall_)
      return;
    callAt_ = std::chrono::steady_clock::now() + delay;
    laterCall_ = std::move(function);
  }
  wake();
}

uint64_t Bootstrap::ranksThatLeft() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return hasOnlyLeft_ ? left_ : 0;
}

/// Whether a report changes anything: failures do after reports that ranks
/// left, and each rank leaves once. The caller holds mutex_.
bool Bootstrap::isNews(uint32_t culprit, bool leaves) const {
  return !hasFailed() && (!leaves || !hasLeft(culprit));
}

/// Whether a round has no result, as all ranks know: a rank failed, or left
/// without its contribution. What rank 0 sent before it left is in the inbox.
/// The caller holds mutex_.
bool Bootstrap::lacksContribution(uint32_t sequence) const {
  if (hasFailed() || (rank_ != 0 && isGone(0)))
    return true;
  for (uint32_t rank = 1; rank < numRanks_; ++rank)
    if (hasLeft(rank) && lastRounds_[rank] < sequence)
      return true;
  return false;
}

/// The error of such a round: if there is no other, rank 0 has said goodbye.
Status Bootstrap::lackError(const char *collective) const {
  if (!failure_.ok())
    return failure_;
  return makeStatus(StatusCode::aborted,
                    "rank 0 left the world while rank %u is in %s", rank_,
                    collective);
}

/// Records a failure and wakes all waiting threads. Before that, rank 0
/// forwards it to all ranks except `tellExcept`: a rank that knows of the
/// failure may leave at once, and its goodbye must not arrive first.
void Bootstrap::fail(uint32_t culprit, const std::string &reason,
                     uint32_t tellExcept, bool leaves) {
  leaves = leaves && culprit < numRanks_ && letsRanksLeave_.load();
  FailureCallback callback;
  Status status = makeStatus(StatusCode::aborted, "rank %u failed: %s", culprit,
                             reason.c_str());
  {
    std::lock_guard<std::mutex> announcing(announceMutex_);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!isNews(culprit, leaves))
        return;
    }
    if (rank_ == 0 && !announced_)
      sendFailure({culprit, reason}, tellExcept, leaves);
    announced_ = announced_ || (rank_ == 0 && !leaves);
    std::lock_guard<std::mutex> lock(mutex_);
    if (failure_.ok() && leaves)
      firstLeaver_ = {culprit, reason};
    if (failure_.ok() || !leaves)
      failure_ = status;
    hasOnlyLeft_ = leaves;
    if (leaves)
      left_ |= uint64_t(1) << culprit;
    callback = callback_;
    changed_.notify_all();
  }
  if (callback)
    callback(status);
}

void Bootstrap::failHere(const Status &status) {
  announceFailure(status);
  FailureCallback callback;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (hasFailed())
      return;
    failure_ = status;
    hasOnlyLeft_ = false;
    callback = callback_;
    changed_.notify_all();
  }
  if (callback)
    callback(status);
}

void Bootstrap::endWaits(const Status &status) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (failure_.ok())
    failure_ = status;
  hasOnlyLeft_ = false;
  changed_.notify_all();
}

void Bootstrap::onFailure(FailureCallback callback) {
  Status earlier;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    callback_ = callback;
    earlier = failure_;
  }
  if (callback && !earlier.ok())
    callback(earlier);
}

Status Bootstrap::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

void Bootstrap::announceFailure(const Status &status, bool leaves) {
  announce({rank_, status.message()}, leaves);
}

void Bootstrap::announceLeaverFailed() {
  Failure failure;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    failure = firstLeaver_;
  }
  announce(failure, /*leaves=*/false);
}

void Bootstrap::announce(const Failure &failure, bool leaves) {
  std::lock_guard<std::mutex> announcing(announceMutex_);
  if (announced_ || numRanks_ == 1)
    return;
  announced_ = true;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (states_)
      states_->tell(failure, leaves);
  }
  sendFailure(failure, noRank, leaves);
}

void Bootstrap::sendFailure(const Failure &failure, uint32_t except,
                            bool leaves) {
  Bytes payload = encodeFailure(failure);
  uint32_t lastRound = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (failure.rank < numRanks_)
      lastRound = lastRounds_[failure.rank];
  }
  for (uint32_t peer = 0; peer < numRanks_; ++peer)
    if (peer != except && peers_[peer].fd.valid())
      send(peer,
           {MessageKind::failure, rank_, lastRound, leaves ? rankLeaves : 0},
           payload, {}, Deadline(failureSendLimit))
          .ignore("the listener notices that the rank has ended");
}

Status Bootstrap::send(uint32_t to, const MessageHeader &header,
                       const Bytes &payload, const std::vector<int> &fds,
                       Deadline deadline) {
  std::lock_guard<std::mutex> lock(sendLocks_[to]);
  Status status = sendPacket(
      peers_[to], encodeMessage(header, payload.data(), payload.size()),
      fds.data(), fds.size(), deadline);
  if (peers_[to].isRemote() && peers_[to].framing->hasUnsent())
    wake(); // the listener thread sends the rest
  return status;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

Status Bootstrap::barrier(CollectiveTag tag, std::chrono::nanoseconds limit) {
  Expected<FdResult> result = collective(tag, {}, -1, limit);
  return result.ok() ? Status::success() : result.status();
}

Expected<std::vector<Bootstrap::Bytes>>
Bootstrap::allGather(CollectiveTag tag, const Bytes &mine,
                     std::chrono::nanoseconds limit) {
  IRISRT_ASSIGN_OR_RETURN(FdResult result, collective(tag, mine, -1, limit));
  return std::move(result.contributions);
}

Expected<Bootstrap::FdResult>
Bootstrap::exchangeFds(CollectiveTag tag, const Bytes &mine, int fd,
                       std::chrono::nanoseconds limit) {
  for (const Peer &peer : peers_)
    if (peer.isRemote())
      return Status(StatusCode::internal,
                    "descriptors cannot be passed to another machine");
  return collective(tag, mine, fd, limit);
}

Expected<Bootstrap::FdResult>
Bootstrap::collective(CollectiveTag tag, const Bytes &mine, int fd,
                      std::chrono::nanoseconds limit) {
  if (mine.size() > maxContribution)
    return makeStatus(
        StatusCode::invalidArgument,
        "a contribution of %zu bytes to a collective; expected at "
        "most %zu",
        mine.size(), maxContribution);
  uint32_t sequence = ++sequence_;
  return rank_ == 0
             ? collectAtRoot(sequence, tag, mine, fd, Deadline(limit), limit)
             // Rank 0 reports the missing ranks; leave it time to do so.
             : collectFromRoot(sequence, tag, mine, fd,
                               Deadline(limit + std::chrono::seconds(2)),
                               limit);
}

/// A duplicate of `fd` that the caller owns; none for -1.
static Expected<UniqueFd> duplicate(int fd) {
  if (fd < 0)
    return UniqueFd();
  UniqueFd copy(::dup(fd));
  if (!copy.valid())
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot duplicate a descriptor");
  return copy;
}

Expected<Bootstrap::FdResult>
Bootstrap::collectAtRoot(uint32_t sequence, CollectiveTag tag,
                         const Bytes &mine, int fd, Deadline deadline,
                         std::chrono::nanoseconds limit) {
  FdResult result;
  result.contributions.resize(numRanks_);
  result.contributions[0] = mine;
  IRISRT_ASSIGN_OR_RETURN(UniqueFd own, duplicate(fd));
  result.fds.resize(numRanks_);
  result.fds[0] = std::move(own);

  auto abortCollective = [&](Status status) {
    announceFailure(status);
    return status;
  };
  const char *name = collectiveName(static_cast<uint32_t>(tag));
  {
    std::lock_guard<std::mutex> lock(mutex_);
    roundAtRoot_ = sequence;
    takenAtRoot_ = 0;
  }
  for (uint32_t peer = 1; peer < numRanks_; ++peer) {
    Packet packet;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait_until(lock, deadline.time(), [&] {
        return !inbox_[peer].empty() || lacksContribution(sequence) ||
               departed_[peer];
      });
      if (lacksContribution(sequence))
        return failure_;
      if (inbox_[peer].empty()) {
        Status status = departed_[peer]
                            ? makeStatus(StatusCode::aborted,
                                         "rank %u left the world while other "
                                         "ranks are in %s",
                                         peer, name)
                            : lateRanks(peer, name, limit);
        lock.unlock();
        return abortCollective(status);
      }
      packet = std::move(inbox_[peer].front());
      inbox_[peer].pop_front();
      takenAtRoot_ |= uint64_t(1) << peer;
    }
    const MessageHeader &header = packet.message.header;
    if (header.tag != static_cast<uint32_t>(tag) || header.sequence != sequence)
      return abortCollective(makeStatus(StatusCode::failedPrecondition,
                                        "the ranks' collectives differ: rank "
                                        "%u is in %s (its collective %u), "
                                        "rank 0 in %s (its collective %u)",
                                        peer, collectiveName(header.tag),
                                        header.sequence, name, sequence));
    if (packet.fds.size() != (fd >= 0 ? 1u : 0u))
      return abortCollective(makeStatus(StatusCode::internal,
                                        "rank %u sent %zu descriptors for %s",
                                        peer, packet.fds.size(), name));
    result.contributions[peer] = std::move(packet.message.payload);
    if (!packet.fds.empty())
      result.fds[peer] = std::move(packet.fds[0]);
  }

  Bytes payload = encodeContributions(result.contributions);
  std::vector<int> fds;
  for (const UniqueFd &each : result.fds)
    if (each.valid())
      fds.push_back(each.get());
  for (uint32_t peer = 1; peer < numRanks_; ++peer) {
    Status sent = send(
        peer, {MessageKind::result, 0, sequence, static_cast<uint32_t>(tag)},
        payload, fds, deadline);
    if (!sent.ok() && sent.code() != StatusCode::aborted)
      return abortCollective(sent.withContext(formatString("rank %u", peer)));
  }
  return result;
}

Expected<Bootstrap::FdResult>
Bootstrap::collectFromRoot(uint32_t sequence, CollectiveTag tag,
                           const Bytes &mine, int fd, Deadline deadline,
                           std::chrono::nanoseconds limit) {
  const char *name = collectiveName(static_cast<uint32_t>(tag));
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (lacksContribution(sequence))
      return lackError(name);
  }
  std::vector<int> fds;
  if (fd >= 0)
    fds.push_back(fd);
  Status sent = send(
      0,
      {MessageKind::contribution, rank_, sequence, static_cast<uint32_t>(tag)},
      mine, fds, deadline);

  Packet packet;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_until(lock, deadline.time(), [&] {
      return !inbox_[0].empty() || lacksContribution(sequence);
    });
    if (inbox_[0].empty()) {
      if (!sent.ok() && failure_.ok())
        return sent.withContext("rank 0");
      if (lacksContribution(sequence))
        return lackError(name);
      lock.unlock();
      return queryLateRanks(sequence, name, limit);
    }
    packet = std::move(inbox_[0].front());
    inbox_[0].pop_front();
  }
  if (packet.message.header.sequence != sequence)
    return makeStatus(StatusCode::internal,
                      "rank 0 answered collective %u while rank %u is in %u",
                      packet.message.header.sequence, rank_, sequence);
  FdResult result;
  IRISRT_ASSIGN_OR_RETURN(
      result.contributions,
      decodeContributions(packet.message.payload, numRanks_));
  if (packet.fds.size() != (fd >= 0 ? numRanks_ : 0))
    return makeStatus(StatusCode::internal,
                      "rank 0 sent %zu descriptors for %s", packet.fds.size(),
                      name);
  result.fds = std::move(packet.fds);
  result.fds.resize(numRanks_);
  return result;
}
