// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LateRanks.cpp - Ranks missing from a collective --------------------===//
//
// Only rank 0 knows which ranks are missing from a collective; other ranks ask
// it.
#include "bootstrap/Bootstrap.h"

using namespace iris::rt;

static constexpr auto answerLimit = std::chrono::milliseconds(500);

static double toSeconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// The error that names every rank whose contribution is missing; `first` is
/// the first of them. The caller holds mutex_.
Status Bootstrap::lateRanks(uint32_t first, const char *collective,
                            std::chrono::nanoseconds limit) const {
  std::string missing = std::to_string(first);
  for (uint32_t peer = first + 1; peer < numRanks_; ++peer)
    if (inbox_[peer].empty())
      missing += ", " + std::to_string(peer);
  return makeStatus(StatusCode::timeout,
                    "rank %s did not reach %s within %.3g s", missing.c_str(),
                    collective, toSeconds(limit));
}

/// On rank 0's listener thread: reports the ranks, including this one, from
/// which no contribution has arrived for that round.
void Bootstrap::answerLateQuery(uint32_t asker, uint32_t sequence) {
  uint64_t late = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (roundAtRoot_ < sequence)
      late |= 1;
    for (uint32_t peer = 1; peer < numRanks_; ++peer) {
      bool taken = roundAtRoot_ > sequence || (roundAtRoot_ == sequence &&
                                               (takenAtRoot_ >> peer & 1) != 0);
      bool waits = !inbox_[peer].empty() &&
                   inbox_[peer].back().message.header.sequence >= sequence;
      if (!taken && !waits)
        late |= uint64_t(1) << peer;
    }
  }
  send(asker, {MessageKind::lateAnswer, 0, sequence, 0}, encodeLateRanks(late),
       {}, Deadline(answerLimit))
      .ignore("the listener notices that the rank has ended");
}

/// The error after this rank's time limit. Rank 0 may have entered the
/// collective later, so its own limit has not expired; it still knows the
/// missing ranks.
Status Bootstrap::queryLateRanks(uint32_t sequence, const char *collective,
                                 std::chrono::nanoseconds limit) {
  send(0, {MessageKind::lateQuery, rank_, sequence, 0}, {}, {},
       Deadline(answerLimit))
      .ignore("the wait for the answer times out");
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, std::chrono::seconds(2),
                    [&] { return late_ || lacksContribution(sequence); });
  if (lacksContribution(sequence))
    return lackError(collective);
  std::string missing;
  for (uint32_t peer = 0; peer < numRanks_; ++peer)
    if ((late_.value_or(0) >> peer & 1) != 0)
      missing += (missing.empty() ? "" : ", ") + std::to_string(peer);
  if (missing.empty())
    return makeStatus(StatusCode::timeout,
                      "rank 0 did not complete %s within %.3g s", collective,
                      toSeconds(limit));
  return makeStatus(StatusCode::timeout,
                    "rank %s did not reach %s within %.3g s", missing.c_str(),
                    collective, toSeconds(limit));
}
