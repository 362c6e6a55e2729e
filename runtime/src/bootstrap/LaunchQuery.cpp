// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaunchQuery.cpp - How many kernels a peer has launched -------------===//
//
// For the report of a hang: a wait for a rank that has launched no kernel ends
// otherwise than one for a rank whose kernel is late. Query and answer go
// through rank 0, like all messages.
#include "bootstrap/Bootstrap.h"

using namespace iris::rt;

static constexpr auto launchAnswerLimit = std::chrono::milliseconds(500);

void Bootstrap::onLaunchQuery(std::function<uint32_t()> countLaunches) {
  std::lock_guard<std::mutex> lock(mutex_);
  countLaunches_ = std::move(countLaunches);
}

std::optional<uint32_t> Bootstrap::launchesOf(uint32_t peer) {
  if (peer >= numRanks_ || peer == rank_)
    return std::nullopt;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    launchCounts_.erase(peer);
  }
  send(rank_ == 0 ? peer : 0, {MessageKind::launchQuery, rank_, 0, peer}, {},
       {}, Deadline(launchAnswerLimit))
      .ignore("the wait for the answer times out");
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, launchAnswerLimit, [&] {
    return launchCounts_.count(peer) != 0 || departed_[rank_ == 0 ? peer : 0];
  });
  auto found = launchCounts_.find(peer);
  if (found == launchCounts_.end())
    return std::nullopt;
  return found->second;
}

/// On the listener thread.
void Bootstrap::answerLaunchQuery(uint32_t asker) {
  uint32_t launches = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!countLaunches_)
      return;
    launches = countLaunches_();
  }
  send(rank_ == 0 ? asker : 0, {MessageKind::launchCount, rank_, 0, asker},
       encodeLaunchCount(launches), {}, Deadline(launchAnswerLimit))
      .ignore("the listener notices that the rank has ended");
}

/// Forwards a query or an answer for another rank, on rank 0; else handles it.
void Bootstrap::handleLaunchMessage(uint32_t from, const Packet &packet) {
  const MessageHeader &header = packet.message.header;
  const bool isSenderForged = rank_ == 0 && header.rank != from;
  const bool isReceiverWrong =
      header.tag >= numRanks_ || (rank_ != 0 && header.tag != rank_);
  if (header.rank >= numRanks_ || isSenderForged || isReceiverWrong)
    return fail(from, "it sent a launch query with wrong ranks", ~0u);
  if (header.tag != rank_)
    return forward(header.tag, header, packet.message.payload);
  if (header.kind == MessageKind::launchQuery)
    return answerLaunchQuery(header.rank);
  Expected<uint32_t> launches = decodeLaunchCount(packet.message.payload);
  if (!launches.ok())
    return fail(from, launches.status().message(), ~0u);
  std::lock_guard<std::mutex> lock(mutex_);
  launchCounts_[header.rank] = *launches;
  changed_.notify_all();
}
