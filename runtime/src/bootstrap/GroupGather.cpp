// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GroupGather.cpp - All-gather among some of the ranks ---------------===//
//
// Each rank of the group sends its contribution to rank 0, which forwards it to
// every rank of the group, whatever rank 0 itself is doing. Thus every rank of
// the group knows which contributions are missing.
//
// Rank 0 also returns a rank's own contribution. Until that arrives, missing
// contributions may be rank 0's fault, and no peer can be called late. Rank 0
// may also stop later: a rank whose time limit has expired asks whether rank 0
// still runs.
#include "bootstrap/Bootstrap.h"

#include <algorithm>

using namespace iris::rt;

/// How long a rank waits for rank 0's answer after its time limit has expired.
/// Long enough for a rank 0 on a busy machine.
static constexpr auto rootAnswerLimit = std::chrono::seconds(2);

static uint64_t bitOf(uint32_t rank) { return uint64_t(1) << rank; }

/// On the listener thread: rank 0 forwards the contribution, and a rank of the
/// group keeps it.
void Bootstrap::handleGroupContribution(uint32_t from, Packet packet) {
  const MessageHeader &header = packet.message.header;
  Expected<GroupContribution> contribution =
      decodeGroupContribution(packet.message.payload);
  if (!contribution.ok())
    return fail(from, contribution.status().message(), ~0u);
  if (header.rank >= numRanks_ || (rank_ == 0 && header.rank != from))
    return fail(from, "it sent a contribution in another rank's name", ~0u);
  if (rank_ == 0)
    for (uint32_t rank = 1; rank < numRanks_; ++rank)
      if ((contribution->ranks & bitOf(rank)) != 0)
        forward(rank, header, packet.message.payload);
  if ((contribution->ranks & bitOf(rank_)) == 0)
    return;
  std::lock_guard<std::mutex> lock(mutex_);
  const std::pair<uint32_t, uint32_t> key = {header.tag, header.sequence};
  if (header.rank != rank_) {
    groups_[key].contributions[header.rank] = std::move(contribution->bytes);
  } else {
    // The round may already be complete.
    auto found = groups_.find(key);
    if (found != groups_.end())
      found->second.isForwarded = true;
  }
  changed_.notify_all();
}

/// Queues a message for a rank. Does not block if the rank is paused and its
/// socket buffer full, because the other ranks wait for their messages.
void Bootstrap::forward(uint32_t to, const MessageHeader &header,
                        const Bytes &payload) {
  if (!peers_[to].fd.valid())
    return;
  {
    std::lock_guard<std::mutex> lock(unsentMutex_);
    unsent_[to].push_back(
        encodeMessage(header, payload.data(), payload.size()));
  }
  sendUnsent(to);
}

bool Bootstrap::hasUnsent(uint32_t to) {
  if (peers_[to].isRemote() && peers_[to].framing->hasUnsent())
    return true;
  std::lock_guard<std::mutex> lock(unsentMutex_);
  return !unsent_[to].empty();
}

/// Sends the queued messages that fit into the rank's socket buffer.
void Bootstrap::sendUnsent(uint32_t to) {
  // A thread that holds the lock waits for buffer space, too.
  std::unique_lock<std::mutex> sending(sendLocks_[to], std::try_to_lock);
  if (!sending.owns_lock())
    return;
  const Deadline now(std::chrono::nanoseconds(0));
  if (peers_[to].isRemote())
    peers_[to]
        .framing->flush(peers_[to].fd.get(), now)
        .ignore("the listener notices that the rank has ended");
  std::lock_guard<std::mutex> lock(unsentMutex_);
  std::deque<Bytes> &unsent = unsent_[to];
  while (!unsent.empty()) {
    Status sent = sendPacket(peers_[to], unsent.front(), nullptr, 0, now);
    if (sent.code() == StatusCode::timeout)
      return;
    sent.ignore("the listener notices that the rank has ended");
    unsent.pop_front();
  }
}

/// Whether rank 0 still forwards contributions. `lock` holds mutex_ and is
/// released during the wait.
bool Bootstrap::isRootAlive(std::unique_lock<std::mutex> &lock) {
  const uint32_t before = numAnswers_;
  lock.unlock();
  send(0, {MessageKind::lateQuery, rank_, 0, 0}, {}, {},
       Deadline(rootAnswerLimit))
      .ignore("the wait for the answer times out");
  lock.lock();
  changed_.wait_for(lock, rootAnswerLimit, [&] {
    return numAnswers_ != before || hasFailed() || isGone(0);
  });
  return numAnswers_ != before;
}

/// The error that names every rank whose contribution is missing, or rank 0 if
/// it does not forward any.
Status Bootstrap::lateMembers(const std::vector<uint32_t> &members,
                              const GroupRound &round,
                              std::chrono::nanoseconds limit) const {
  std::string group, missing;
  for (uint32_t member : members) {
    group += (group.empty() ? "" : ", ") + std::to_string(member);
    if (member != rank_ && round.contributions.count(member) == 0)
      missing += (missing.empty() ? "" : ", ") + std::to_string(member);
  }
  double seconds = std::chrono::duration<double>(limit).count();
  if (rank_ != 0 && !round.isForwarded)
    return makeStatus(StatusCode::timeout,
                      "rank 0, which forwards the messages of a group (ranks "
                      "%s), did not answer within %.3g s",
                      group.c_str(), seconds);
  return makeStatus(StatusCode::timeout,
                    "rank %s did not join the collective of a group (ranks %s) "
                    "within %.3g s",
                    missing.c_str(), group.c_str(), seconds);
}

/// Sends this rank's contribution: to rank 0, or on rank 0, to the group.
Status Bootstrap::sendContribution(const std::vector<uint32_t> &members,
                                   const MessageHeader &header,
                                   const Bytes &payload, Deadline deadline) {
  if (rank_ != 0)
    return members.size() > 1 ? send(0, header, payload, {}, deadline)
                              : Status::success();
  bool wakesListener = false;
  for (uint32_t member : members)
    if (member != 0) {
      forward(member, header, payload);
      wakesListener = wakesListener || hasUnsent(member);
    }
  if (wakesListener)
    wake();
  return Status::success();
}

/// A rank that is gone without its contribution, or rank 0 if this rank depends
/// on it. Contributions arrive before the news that their rank has left. The
/// caller holds mutex_.
std::optional<uint32_t>
Bootstrap::departedMember(const std::vector<uint32_t> &members,
                          const GroupRound &round) const {
  if (rank_ != 0 && isGone(0))
    return 0;
  for (uint32_t member : members)
    if (member != rank_ && isGone(member) &&
        round.contributions.count(member) == 0)
      return member;
  return std::nullopt;
}

/// Waits until the round is complete; else the error. `lock` holds mutex_.
Status Bootstrap::waitForGroup(std::unique_lock<std::mutex> &lock,
                               const std::vector<uint32_t> &members,
                               GroupRound &round, const Status &sent,
                               Deadline deadline,
                               std::chrono::nanoseconds limit) {
  auto isComplete = [&] {
    return round.contributions.size() == members.size() - 1;
  };
  changed_.wait_until(lock, deadline.time(), [&] {
    return isComplete() || hasFailed() || departedMember(members, round);
  });
  if (!isComplete() && !hasFailed() && rank_ != 0 && round.isForwarded &&
      !departedMember(members, round))
    round.isForwarded = isRootAlive(lock);
  if (isComplete())
    return Status::success();
  if (hasFailed())
    return failure_;
  if (!sent.ok() && failure_.ok())
    return sent;
  if (std::optional<uint32_t> departed = departedMember(members, round))
    return !failure_.ok()
               ? failure_
               : makeStatus(StatusCode::aborted,
                            "rank %u left the world during a collective of a "
                            "group",
                            *departed);
  return lateMembers(members, round, limit);
}

Expected<std::vector<Bootstrap::Bytes>>
Bootstrap::gatherAmong(uint32_t channel, const std::vector<uint32_t> &members,
                       const Bytes &mine, std::chrono::nanoseconds limit) {
  if (mine.size() > maxContribution)
    return makeStatus(StatusCode::invalidArgument,
                      "%zu bytes in one collective; expected at most %zu",
                      mine.size(), maxContribution);
  Deadline deadline(limit);
  uint64_t ranks = 0;
  for (uint32_t member : members)
    ranks |= bitOf(member);
  uint32_t sequence;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    sequence = ++groupSequences_[channel];
    groups_[{channel, sequence}]; // before contributions arrive
  }
  Status sent = sendContribution(
      members, {MessageKind::groupContribution, rank_, sequence, channel},
      encodeGroupContribution({ranks, mine}), deadline);

  std::unique_lock<std::mutex> lock(mutex_);
  GroupRound &round = groups_[{channel, sequence}];
  IRISRT_RETURN_IF_ERROR(
      waitForGroup(lock, members, round, sent, deadline, limit));
  std::vector<Bytes> result;
  for (uint32_t member : members)
    result.push_back(member == rank_ ? mine
                                     : std::move(round.contributions[member]));
  groups_.erase({channel, sequence});
  return result;
}
