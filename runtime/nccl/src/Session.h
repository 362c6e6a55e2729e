// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Session.h - A communicator's rank in its world -----------*- C++ -*-===//
#ifndef IRIS_NCCL_SESSION_H
#define IRIS_NCCL_SESSION_H

#include "Config.h"
#include "PointToPoint.h"

#include "iris/ccl/Communicator.h"
#include "iris/ccl/JobCommunicator.h"
#include "iris/rt/InterNode.h"
#include "iris/rt/Job.h"
#include "iris/rt/World.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iris::nccl {

/// The world of a communicator, which has no other ranks than those of the
/// communicator on this node.
struct Session {
  /// 16 MiB of it are FIFO slots, in place of 8 in the default workspace: large
  /// sends and receives need them to keep the links busy.
  static constexpr uint64_t workspaceBytes = uint64_t(73) << 20;

  std::unique_ptr<rt::World> world;
  std::unique_ptr<ccl::Communicator> collectives;
  /// The source of their kernels.
  std::shared_ptr<ccl::KernelCache> cache;
  /// For exchanges of the host threads of the world's ranks.
  rt::Group all;
  uint32_t channel = 0;
  /// Of a communicator on several nodes: all of its ranks, and the collectives
  /// among them. Otherwise null.
  std::unique_ptr<rt::Job> job;
  std::unique_ptr<rt::InterNode> engine;
  std::unique_ptr<ccl::JobCommunicator> between;
  /// Where each rank listens for communicators without some of the others,
  /// which may be dead then; empty of a rank that cannot.
  std::vector<std::string> addresses;
  /// Whether copy engines do what they can, however fast kernels are.
  bool prefersCopies = false;
  /// The most programs of operations that programs overlap with computation; 0:
  /// no limit, or one of the communicator for all operations.
  int64_t overlapPrograms = 0;

  /// Joins the other ranks. Collective.
  /// \param job the ranks of several nodes; null: all are in the world
  static rt::Expected<Session> open(const rt::WorldOptions &options,
                                    const Config &config,
                                    std::unique_ptr<rt::Job> job = nullptr);
  /// Leaves the world and the job. Collective unless they have failed.
  rt::Status end();
  /// Frees what the rank has, after end().
  void free();

  bool spansNodes() const { return job != nullptr; }
  /// A collective of all ranks with what bounds it.
  ccl::Call bounded(const ccl::Call &call) const;
  /// Enqueues a collective of all ranks.
  rt::Status run(const ccl::Call &call);
  /// The time that run(), or a send or receive, is expected to take, in
  /// microseconds.
  rt::Expected<double> estimate(const ccl::Call &call);
  /// Enqueues sends and receives that start together; see PointToPoint::run.
  rt::Status runPointToPoint(PointToPoint &pointToPoint,
                             const std::vector<ccl::Call> &calls,
                             const std::vector<rt::Stream> &streams);
  /// Gathers a text of every rank. Collective.
  rt::Expected<std::vector<std::string>> exchange(const std::string &mine);
  /// The failure of a rank, or success; see World::poll.
  rt::Status poll();
  /// poll() before an operation that may wait for `peers`, one bit for each:
  /// ranks that left may have done their part. Where streams cannot end with an
  /// error, it fails if one of them is a peer.
  rt::Status pollFor(uint64_t peers);
  /// Makes all ranks fail.
  void fail(const rt::Status &status);
  /// Ends this rank's work. Others go on as far as they need nothing of it.
  void leave(const rt::Status &status);

private:
  rt::Status join(const rt::WorldOptions &options, const Config &config);
  void loadForRanksOfDevice();
  rt::Status exchangeAddresses();
  /// What holds for all ranks.
  struct Agreed {
    /// The smallest limit that a rank has; 0: none has one.
    int64_t maxPrograms = 0;
    /// Session::overlapPrograms
    int64_t overlapPrograms = 0;
    /// Whether a rank has IRIS_CHECK_COLLECTIVES=1.
    bool checkCalls = false;
    /// Whether a rank has NCCL_CTA_POLICY_ZERO.
    bool prefersCopies = false;
  };
  /// \retval failedPrecondition ranks are on one GPU, and none allows it
  rt::Expected<Agreed> agree(int deviceIndex, const Config &config);
  bool canCopyAllGather(const ccl::Call &call) const;
};

/// A WorldOperation of a session's world. Between nodes it is none: there,
/// communicators fail as soon as a rank leaves.
class SessionOperation {
public:
  /// \param peers see WorldOperation
  SessionOperation(Session &session, uint64_t peers) {
    if (!session.spansNodes())
      operation_.emplace(*session.world, peers);
  }

private:
  std::optional<rt::WorldOperation> operation_;
};

} // namespace iris::nccl

#endif // IRIS_NCCL_SESSION_H
