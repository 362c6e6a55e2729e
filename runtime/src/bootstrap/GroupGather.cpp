// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives of some of the ranks.  A member's part goes to rank 0, which
// passes it on to all members, whatever it does itself; so every member sees
// who is missing.  Its own part comes back to a member as well: as long as it
// has not, nothing says that others are late.  Rank 0 may also stop after it
// has passed that part on: a member whose time is over asks whether it still
// runs.
#include "bootstrap/Bootstrap.h"

#include <algorithm>

using namespace iris::rt;

/// A member's time is over by then; rank 0 needs time on a busy machine.
static constexpr auto hubAnswerLimit = std::chrono::seconds(2);

static uint64_t bitOf(uint32_t rank) { return uint64_t(1) << rank; }

/// On the listening thread.
void Bootstrap::handleGroupPart(uint32_t from, Packet packet) {
  const MessageHeader &header = packet.message.header;
  Expected<GroupPart> part = decodeGroupPart(packet.message.payload);
  if (!part.ok())
    return fail(from, part.status().message(), ~0u);
  if (header.rank >= numRanks_ || (rank_ == 0 && header.rank != from))
    return fail(from, "it sent a group's part in another rank's name", ~0u);
  if (rank_ == 0)
    for (uint32_t member = 1; member < numRanks_; ++member)
      if ((part->members & bitOf(member)) != 0)
        forward(member, header, packet.message.payload);
  if ((part->members & bitOf(rank_)) == 0)
    return;
  std::lock_guard<std::mutex> lock(mutex_);
  const std::pair<uint32_t, uint32_t> key = {header.tag, header.sequence};
  if (header.rank != rank_) {
    groups_[key].parts[header.rank] = std::move(part->bytes);
  } else {
    // The round may be over.
    auto found = groups_.find(key);
    if (found != groups_.end())
      found->second.isPassedOn = true;
  }
  changed_.notify_all();
}

/// Does not wait for a rank that is paused: others are to get theirs.
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
  std::lock_guard<std::mutex> lock(unsentMutex_);
  return !unsent_[to].empty();
}

/// As much as the rank has room for now.
void Bootstrap::sendUnsent(uint32_t to) {
  // Whoever holds it waits for room as well.
  std::unique_lock<std::mutex> sending(sendLocks_[to], std::try_to_lock);
  if (!sending.owns_lock())
    return;
  std::lock_guard<std::mutex> lock(unsentMutex_);
  std::deque<Bytes> &unsent = unsent_[to];
  while (!unsent.empty()) {
    Status sent = sendPacket(peers_[to].fd.get(), unsent.front(), nullptr, 0,
                             Deadline(std::chrono::nanoseconds(0)));
    if (sent.code() == StatusCode::timeout)
      return;
    sent.ignore("a rank that is gone shows in its connection");
    unsent.pop_front();
  }
}

/// Whether rank 0 still passes parts on. `lock` holds mutex_, but not while
/// this waits.
bool Bootstrap::doesHubAnswer(std::unique_lock<std::mutex> &lock) {
  const uint32_t before = numAnswers_;
  lock.unlock();
  send(0, {MessageKind::whoIsLate, rank_, 0, 0}, {}, {},
       Deadline(hubAnswerLimit))
      .ignore("then there is no answer");
  lock.lock();
  changed_.wait_for(lock, hubAnswerLimit, [&] {
    return numAnswers_ != before || !failure_.ok() || departed_[0];
  });
  return numAnswers_ != before;
}

/// The error that names every member whose part is missing, or rank 0 if it
/// passes nothing on.
Status Bootstrap::lateMembers(const std::vector<uint32_t> &members,
                              const GroupRound &round,
                              std::chrono::nanoseconds limit) const {
  std::string group, missing;
  for (uint32_t member : members) {
    group += (group.empty() ? "" : ", ") + std::to_string(member);
    if (member != rank_ && round.parts.count(member) == 0)
      missing += (missing.empty() ? "" : ", ") + std::to_string(member);
  }
  double seconds = std::chrono::duration<double>(limit).count();
  if (rank_ != 0 && !round.isPassedOn)
    return makeStatus(StatusCode::timeout,
                      "rank 0, which passes on what the ranks of a group (%s) "
                      "tell each other, did not answer within %.3g s",
                      group.c_str(), seconds);
  return makeStatus(StatusCode::timeout,
                    "rank %s did not join the others of the group (%s) within "
                    "%.3g s",
                    missing.c_str(), group.c_str(), seconds);
}

Expected<std::vector<Bootstrap::Bytes>>
Bootstrap::gatherAmong(uint32_t channel, const std::vector<uint32_t> &members,
                       const Bytes &mine, std::chrono::nanoseconds limit) {
  if (mine.size() > maxContribution)
    return makeStatus(StatusCode::invalidArgument,
                      "%zu bytes in one collective; expected at most %zu",
                      mine.size(), maxContribution);
  Deadline deadline(limit);
  uint64_t mask = 0;
  for (uint32_t member : members)
    mask |= bitOf(member);
  uint32_t sequence;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    sequence = ++groupSequences_[channel];
    groups_[{channel, sequence}]; // before rank 0 passes anything on
  }
  Bytes payload = encodeGroupPart({mask, mine});
  MessageHeader header = {MessageKind::groupPart, rank_, sequence, channel};
  Status sent;
  if (rank_ != 0 && members.size() > 1)
    sent = send(0, header, payload, {}, deadline);
  bool wakesListener = false;
  for (uint32_t member : members)
    if (rank_ == 0 && member != 0) {
      forward(member, header, payload);
      wakesListener = wakesListener || hasUnsent(member);
    }
  if (wakesListener)
    wake();

  std::unique_lock<std::mutex> lock(mutex_);
  GroupRound &round = groups_[{channel, sequence}];
  std::map<uint32_t, Bytes> &parts = round.parts;
  auto isComplete = [&] { return parts.size() == members.size() - 1; };
  auto someoneLeft = [&] { // without its part
    if (rank_ != 0)
      return departed_[0] ? std::optional<uint32_t>(0) : std::nullopt;
    for (uint32_t member : members)
      if (member != 0 && departed_[member] && parts.count(member) == 0)
        return std::optional<uint32_t>(member);
    return std::optional<uint32_t>();
  };
  changed_.wait_until(lock, deadline.time(), [&] {
    return isComplete() || !failure_.ok() || someoneLeft();
  });
  if (!isComplete() && failure_.ok() && rank_ != 0 && round.isPassedOn &&
      !someoneLeft())
    round.isPassedOn = doesHubAnswer(lock);
  if (!isComplete()) {
    if (!failure_.ok())
      return failure_;
    if (!sent.ok())
      return sent;
    if (std::optional<uint32_t> gone = someoneLeft())
      return makeStatus(StatusCode::aborted,
                        "rank %u left the world while others of a group wait",
                        *gone);
    return lateMembers(members, round, limit);
  }
  std::vector<Bytes> result;
  for (uint32_t member : members)
    result.push_back(member == rank_ ? mine : std::move(parts[member]));
  groups_.erase({channel, sequence});
  return result;
}
