// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives of some of the ranks.  A member's part goes to rank 0, which
// passes it on to the other members, whatever it does itself; so every member
// sees who is missing.
#include "bootstrap/Bootstrap.h"

#include <algorithm>

using namespace iris::rt;

static constexpr auto forwardLimit = std::chrono::milliseconds(500);

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
      if ((part->members & bitOf(member)) != 0 && member != from)
        send(member, header, packet.message.payload, {}, Deadline(forwardLimit))
            .ignore("a rank that is gone shows in its connection");
  if ((part->members & bitOf(rank_)) == 0)
    return;
  std::lock_guard<std::mutex> lock(mutex_);
  groups_[{header.tag, header.sequence}][header.rank] = std::move(part->bytes);
  changed_.notify_all();
}

/// The error that names every member whose part is missing.
Status Bootstrap::lateMembers(const std::vector<uint32_t> &members,
                              const std::map<uint32_t, Bytes> &parts,
                              std::chrono::nanoseconds limit) const {
  std::string group, missing;
  for (uint32_t member : members) {
    group += (group.empty() ? "" : ", ") + std::to_string(member);
    if (member != rank_ && parts.count(member) == 0)
      missing += (missing.empty() ? "" : ", ") + std::to_string(member);
  }
  return makeStatus(StatusCode::timeout,
                    "rank %s did not join the others of the group (%s) within "
                    "%.3g s",
                    missing.c_str(), group.c_str(),
                    std::chrono::duration<double>(limit).count());
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
  }
  Bytes payload = encodeGroupPart({mask, mine});
  MessageHeader header = {MessageKind::groupPart, rank_, sequence, channel};
  Status sent;
  if (rank_ != 0 && members.size() > 1)
    sent = send(0, header, payload, {}, deadline);
  for (uint32_t member : members)
    if (rank_ == 0 && member != 0 && sent.ok())
      sent = send(member, header, payload, {}, deadline);

  std::unique_lock<std::mutex> lock(mutex_);
  std::map<uint32_t, Bytes> &parts = groups_[{channel, sequence}];
  auto someoneLeft = [&] { // without its part
    if (rank_ != 0)
      return departed_[0] ? std::optional<uint32_t>(0) : std::nullopt;
    for (uint32_t member : members)
      if (member != 0 && departed_[member] && parts.count(member) == 0)
        return std::optional<uint32_t>(member);
    return std::optional<uint32_t>();
  };
  changed_.wait_until(lock, deadline.time(), [&] {
    return parts.size() == members.size() - 1 || !failure_.ok() ||
           someoneLeft();
  });
  if (parts.size() != members.size() - 1) {
    if (!failure_.ok())
      return failure_;
    if (!sent.ok())
      return sent;
    if (std::optional<uint32_t> gone = someoneLeft())
      return makeStatus(StatusCode::aborted,
                        "rank %u left the world while others of a group wait",
                        *gone);
    return lateMembers(members, parts, limit);
  }
  std::vector<Bytes> result;
  for (uint32_t member : members)
    result.push_back(member == rank_ ? mine : std::move(parts[member]));
  groups_.erase({channel, sequence});
  return result;
}
