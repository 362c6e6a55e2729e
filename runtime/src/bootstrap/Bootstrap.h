// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the host sides of the ranks do together: barrier, all-gather of small
// values, exchange of file descriptors, and telling each other about failures.
// All traffic goes through rank 0, which is enough for a node.
#ifndef IRIS_RT_BOOTSTRAP_BOOTSTRAP_H
#define IRIS_RT_BOOTSTRAP_BOOTSTRAP_H

#include "bootstrap/Rendezvous.h"
#include "bootstrap/Socket.h"
#include "core/OsThread.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace iris::rt {

/// Which collective a rank is in; ranks that differ get an error that names
/// both.
enum class CollectiveTag : uint32_t {
  create = 1,
  grow,
  sync,
  barrier,
  module,
  destroy,
  user,
  trace,
};
const char *collectiveName(uint32_t tag);

/// The connections of one rank, and the thread that listens to them.
class Bootstrap {
public:
  using Bytes = std::vector<uint8_t>;
  /// Called once, from the listening thread, when another rank failed or went
  /// away.
  using FailureCallback = std::function<void(const Status &)>;

  /// Meets the other ranks; bounded by options.limit.
  static Expected<std::unique_ptr<Bootstrap>>
  create(const RendezvousOptions &options);
  ~Bootstrap() { leave(); }

  /// Says goodbye to whoever is still there and stops listening: no callback
  /// comes after this.
  void leave();

  uint32_t rank() const { return rank_; }
  uint32_t numRanks() const { return numRanks_; }

  /// From now on `callback` hears of failures; at once, if there was one.
  void onFailure(FailureCallback callback);

  /// Every collective below must be called by all ranks in the same order, by
  /// one thread at a time, and ends within `limit`.
  Status barrier(CollectiveTag tag, std::chrono::nanoseconds limit);
  /// The values of all ranks, each at most maxContribution bytes.
  Expected<std::vector<Bytes>> allGather(CollectiveTag tag, const Bytes &mine,
                                         std::chrono::nanoseconds limit);
  /// As allGather, and each rank also hands out one descriptor.
  struct FdResult {
    std::vector<Bytes> parts;
    std::vector<UniqueFd> fds;
  };
  Expected<FdResult> exchangeFds(CollectiveTag tag, const Bytes &mine, int fd,
                                 std::chrono::nanoseconds limit);

  /// The values of the ranks in `members`, in that order, each at most
  /// maxContribution bytes.  Called by these ranks only, in the same order for
  /// each `channel`; other ranks take no part.  One thread at a time per
  /// channel.
  Expected<std::vector<Bytes>> gatherAmong(uint32_t channel,
                                           const std::vector<uint32_t> &members,
                                           const Bytes &mine,
                                           std::chrono::nanoseconds limit);

  /// Tells all other ranks that this one has failed.  Does not wait.
  void announceFailure(const Status &status);

  /// The failure that other ranks reported or caused, or success.
  Status failure() const;

private:
  /// One call of gatherAmong(), as far as it has come.
  struct GroupRound {
    std::map<uint32_t, Bytes> parts; ///< by rank, without this one's
    /// Rank 0 has passed this rank's part on.
    bool isPassedOn = false;
  };

  Bootstrap(uint32_t rank, uint32_t numRanks, std::vector<Peer> peers);

  Status start();
  void wake();
  void disconnect();
  void listen();
  void handle(uint32_t from, Packet packet);
  void handleEnd(uint32_t from);
  void fail(uint32_t culprit, const std::string &reason, uint32_t tellExcept);
  /// The same for what went wrong in this process.
  void failHere(const Status &status);
  void handleGroupPart(uint32_t from, Packet packet);
  void forward(uint32_t to, const MessageHeader &header, const Bytes &payload);
  void sendUnsent(uint32_t to);
  bool hasUnsent(uint32_t to);
  Status lateMembers(const std::vector<uint32_t> &members,
                     const GroupRound &round,
                     std::chrono::nanoseconds limit) const;
  bool doesHubAnswer(std::unique_lock<std::mutex> &lock);
  void tellWhoIsLate(uint32_t asker, uint32_t sequence);
  Status askWhoIsLate(uint32_t sequence, const char *collective,
                      std::chrono::nanoseconds limit);
  Status lateRanks(uint32_t first, const char *collective,
                   std::chrono::nanoseconds limit) const;
  void sendFailure(uint32_t culprit, const std::string &reason,
                   uint32_t except);
  Expected<FdResult> collective(CollectiveTag tag, const Bytes &mine, int fd,
                                std::chrono::nanoseconds limit);
  Expected<FdResult> collectAtHub(uint32_t sequence, CollectiveTag tag,
                                  const Bytes &mine, int fd, Deadline deadline,
                                  std::chrono::nanoseconds limit);
  Expected<FdResult> collectFromHub(uint32_t sequence, CollectiveTag tag,
                                    const Bytes &mine, int fd,
                                    Deadline deadline,
                                    std::chrono::nanoseconds limit);
  Status send(uint32_t to, const MessageHeader &header, const Bytes &payload,
              const std::vector<int> &fds, Deadline deadline);

  const uint32_t rank_;
  const uint32_t numRanks_;
  std::vector<Peer> peers_;
  /// One lock per connection: the failure path sends from any thread.
  std::unique_ptr<std::mutex[]> sendLocks_;
  UniqueFd wake_;
  OsThread listener_;
  /// Guards unsent_; taken after sendLocks_.
  std::mutex unsentMutex_;
  /// Parts of groups that rank 0 has for a rank that has no room for them now,
  /// because it is paused.
  std::vector<std::deque<Bytes>> unsent_;

  /// Held while others are told of a failure, so that nobody who learns of it
  /// here can leave before.  Taken before mutex_.
  std::mutex announceMutex_;
  bool announced_ = false;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::deque<Packet>> inbox_; // per sender, contributions/results
  std::vector<bool> departed_;            // said goodbye
  /// On rank 0: the round it is in, or was in last, and whose parts it has
  /// taken from their inboxes.
  uint32_t roundAtHub_ = 0;
  uint64_t takenAtHub_ = 0;
  /// Elsewhere: rank 0's last answer to the question who is late, and how many
  /// have come: each shows that rank 0's listening thread runs.
  std::optional<uint64_t> late_;
  uint32_t numAnswers_ = 0;
  /// Rounds of groups, by channel and sequence.
  std::map<std::pair<uint32_t, uint32_t>, GroupRound> groups_;
  std::map<uint32_t, uint32_t> groupSequences_; // by channel
  Status failure_;
  bool stopping_ = false;
  FailureCallback callback_;
  uint32_t sequence_ = 0;
};

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_BOOTSTRAP_H
