// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Bootstrap.h - Host-side communication between ranks ------*- C++ -*-===//
//
// Barrier, all-gather of small values, exchange of file descriptors, and
// failure reports. All messages go through rank 0, which is sufficient within a
// node.
#ifndef IRIS_RT_BOOTSTRAP_BOOTSTRAP_H
#define IRIS_RT_BOOTSTRAP_BOOTSTRAP_H

#include "bootstrap/Messages.h"
#include "bootstrap/RankStates.h"
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

/// The collective that a rank is in. If ranks are in different ones, the error
/// names both.
enum class CollectiveTag : uint32_t {
  create = 1,
  grow,
  sync,
  barrier,
  module,
  destroy,
  user,
  trace,
  import,
  share,
};
const char *collectiveName(uint32_t tag);

/// The connections of one rank, and the thread that receives from them.
class Bootstrap {
public:
  using Bytes = std::vector<uint8_t>;
  /// Called on the listener thread when another rank fails: once, and before
  /// that for each rank that leaves.
  using FailureCallback = std::function<void(const Status &)>;

  /// Connects to the other ranks within options.limit.
  static Expected<std::unique_ptr<Bootstrap>>
  create(const RendezvousOptions &options);
  ~Bootstrap() { leave(); }

  /// Sends a goodbye to the connected ranks and ends the listener thread: no
  /// callback is made after this.
  void leave();

  uint32_t rank() const { return rank_; }
  uint32_t numRanks() const { return numRanks_; }

  /// Registers the callback for failures; called immediately if one has
  /// occurred.
  void onFailure(FailureCallback callback);

  /// Registers the function that counts the kernels that this rank has
  /// launched. Peers ask for it; it is called on the listener thread.
  void onLaunchQuery(std::function<uint32_t()> countLaunches);
  /// The number of kernels that `peer` has launched; none without an answer
  /// within a fraction of a second.
  std::optional<uint32_t> launchesOf(uint32_t peer);

  /// Every collective below must be called by all ranks in the same order, by
  /// one thread at a time. It ends within `limit`.
  Status barrier(CollectiveTag tag, std::chrono::nanoseconds limit);
  /// Gathers the values of all ranks, each at most maxContribution bytes.
  Expected<std::vector<Bytes>> allGather(CollectiveTag tag, const Bytes &mine,
                                         std::chrono::nanoseconds limit);
  /// Like allGather, and each rank also passes a descriptor.
  struct FdResult {
    std::vector<Bytes> contributions;
    std::vector<UniqueFd> fds;
  };
  Expected<FdResult> exchangeFds(CollectiveTag tag, const Bytes &mine, int fd,
                                 std::chrono::nanoseconds limit);

  /// Gathers the values of the ranks in `members`, in that order, each at most
  /// maxContribution bytes. Called by these ranks only, in the same order for
  /// each `channel`, by one thread at a time per channel.
  Expected<std::vector<Bytes>> gatherAmong(uint32_t channel,
                                           const std::vector<uint32_t> &members,
                                           const Bytes &mine,
                                           std::chrono::nanoseconds limit);

  /// Reports a failure of this rank to all ranks. Does not wait.
  /// \param leaves the rank leaves: work that needs nothing of it can end
  void announceFailure(const Status &status, bool leaves = false);
  /// Reports to all ranks that this one has work that a rank that left may have
  /// ended: that one has failed, then. Does not wait.
  void announceLeaverFailed();
  /// Makes a rank that leaves no failure of this one: ranksThatLeft() tells it.
  /// Otherwise it is as any failure. Collective; all ranks are on one machine.
  Status letRanksLeave(std::chrono::nanoseconds limit);
  /// Whether the failure is only that ranks have left, by themselves or because
  /// their processes ended; one bit for each. 0: none has, or a rank failed.
  uint64_t ranksThatLeft() const;
  /// Calls `function` on the listener thread after `delay`, unless an earlier
  /// one waits for its time.
  void callLater(std::chrono::nanoseconds delay,
                 std::function<void()> function);
  /// Ends the waits of this rank's threads for other ranks, now and later, with
  /// `status`, unless a failure has ended them already. Does not tell peers.
  void endWaits(const Status &status);

  /// The failure that another rank reported or caused, or success.
  Status failure() const;

private:
  /// The state of one call of gatherAmong().
  struct GroupRound {
    std::map<uint32_t, Bytes> contributions; ///< by rank, except this one's
    /// Rank 0 has forwarded this rank's contribution.
    bool isForwarded = false;
  };

  Bootstrap(uint32_t rank, uint32_t numRanks, std::vector<Peer> peers);

  Status start();
  void wake();
  void disconnect();
  void listen();
  void handle(uint32_t from, Packet packet);
  void handleEnd(uint32_t from);
  void fail(uint32_t culprit, const std::string &reason, uint32_t tellExcept,
            bool leaves = false);
  bool isNews(uint32_t culprit, bool leaves) const;
  /// The caller of these holds mutex_.
  bool hasFailed() const { return !failure_.ok() && !hasOnlyLeft_; }
  bool hasLeft(uint32_t rank) const { return (left_ >> rank & 1) != 0; }
  bool isGone(uint32_t rank) const { return departed_[rank] || hasLeft(rank); }
  bool lacksContribution(uint32_t sequence) const;
  Status lackError(const char *collective) const;
  int untilCall() const;
  void callIfDue();
  void holdState();
  /// Whether rank 0, which tells how other ranks end, is gone.
  bool watchesStates() const;
  void readStates();
  /// Like fail(), for an error in this process.
  void failHere(const Status &status);
  void handleGroupContribution(uint32_t from, Packet packet);
  void forward(uint32_t to, const MessageHeader &header, const Bytes &payload);
  void sendUnsent(uint32_t to);
  bool hasUnsent(uint32_t to);
  Status sendContribution(const std::vector<uint32_t> &members,
                          const MessageHeader &header, const Bytes &payload,
                          Deadline deadline);
  std::optional<uint32_t> departedMember(const std::vector<uint32_t> &members,
                                         const GroupRound &round) const;
  Status waitForGroup(std::unique_lock<std::mutex> &lock,
                      const std::vector<uint32_t> &members, GroupRound &round,
                      const Status &sent, Deadline deadline,
                      std::chrono::nanoseconds limit);
  Status lateMembers(const std::vector<uint32_t> &members,
                     const GroupRound &round,
                     std::chrono::nanoseconds limit) const;
  bool isRootAlive(std::unique_lock<std::mutex> &lock);
  void answerLateQuery(uint32_t asker, uint32_t sequence);
  Status queryLateRanks(uint32_t sequence, const char *collective,
                        std::chrono::nanoseconds limit);
  Status lateRanks(uint32_t first, const char *collective,
                   std::chrono::nanoseconds limit) const;
  void handleLaunchMessage(uint32_t from, const Packet &packet);
  void answerLaunchQuery(uint32_t asker);
  void announce(const Failure &failure, bool leaves);
  void sendFailure(const Failure &failure, uint32_t except, bool leaves);
  Expected<FdResult> collective(CollectiveTag tag, const Bytes &mine, int fd,
                                std::chrono::nanoseconds limit);
  Expected<FdResult> collectAtRoot(uint32_t sequence, CollectiveTag tag,
                                   const Bytes &mine, int fd, Deadline deadline,
                                   std::chrono::nanoseconds limit);
  Expected<FdResult> collectFromRoot(uint32_t sequence, CollectiveTag tag,
                                     const Bytes &mine, int fd,
                                     Deadline deadline,
                                     std::chrono::nanoseconds limit);
  Status send(uint32_t to, const MessageHeader &header, const Bytes &payload,
              const std::vector<int> &fds, Deadline deadline);

  const uint32_t rank_;
  const uint32_t numRanks_;
  std::vector<Peer> peers_;
  /// One lock per connection, because failures are sent from any thread.
  std::unique_ptr<std::mutex[]> sendLocks_;
  UniqueFd wake_;
  OsThread listener_;
  /// Guards unsent_; taken after sendLocks_.
  std::mutex unsentMutex_;
  /// Messages that rank 0 holds for a rank whose socket buffer is full, because
  /// the rank is paused.
  std::vector<std::deque<Bytes>> unsent_;

  /// Held while a failure is sent to the other ranks, so that no thread that
  /// learns of it here leaves before. Taken before mutex_.
  std::mutex announceMutex_;
  bool announced_ = false;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::deque<Packet>>
      inbox_;                  // contributions and results, per sender
  std::vector<bool> departed_; // has sent a goodbye
  /// By rank: the last round for which rank 0 has its contribution. Other ranks
  /// know that of ranks that left.
  std::vector<uint32_t> lastRounds_;
  /// On rank 0: the current or last round, and the ranks whose contributions
  /// have been taken from their inboxes.
  uint32_t roundAtRoot_ = 0;
  uint64_t takenAtRoot_ = 0;
  /// On other ranks: rank 0's last answer to a late query, and the number of
  /// answers, each of which shows that rank 0's listener thread runs.
  std::optional<uint64_t> late_;
  uint32_t numAnswers_ = 0;
  /// Rounds of groups, by channel and sequence.
  std::map<std::pair<uint32_t, uint32_t>, GroupRound> groups_;
  std::map<uint32_t, uint32_t> groupSequences_; // by channel
  Status failure_;
  std::atomic<bool> letsRanksLeave_{false};
  /// Null where a rank needs to know of rank 0 only.
  std::unique_ptr<RankStates> states_;
  std::optional<Status> isHeld_; ///< this rank's state, by the listener thread
  bool areStatesMapped_ = false;
  uint64_t left_ = 0; ///< ranks whose leaving was reported, one bit for each
  bool hasOnlyLeft_ = false; ///< failure_ is only that a rank left
  Failure firstLeaver_;      ///< that rank, and why
  bool stopping_ = false;
  std::chrono::steady_clock::time_point callAt_;
  std::function<void()> laterCall_;
  FailureCallback callback_;
  std::function<uint32_t()> countLaunches_;
  std::map<uint32_t, uint32_t> launchCounts_; // answers, by rank
  uint32_t sequence_ = 0;
};

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_BOOTSTRAP_H
