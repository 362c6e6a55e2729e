// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NcclEngine.h - NCCL or RCCL between nodes ----------------*- C++ -*-===//
//
// The engine between nodes whose transfers are enqueued on streams. It has a
// communicator of all ranks, for transfers between any two of them, and one of
// each rail, for collectives among one rank of each node.
#ifndef IRIS_RT_INTERNODE_NCCLENGINE_H
#define IRIS_RT_INTERNODE_NCCLENGINE_H

#include "core/ForkGuard.h"
#include "internode/NcclLibrary.h"
#include "iris/rt/InterNode.h"
#include "iris/rt/World.h"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

namespace iris::rt {

class NcclEngine {
public:
  /// The ranks of a communicator: all, with their numbers in the job, or those
  /// of this rank's rail, numbered by node.
  enum class Ranks { all, rail };
  using Transfers = std::vector<InterNode::Transfer>;
  using Function =
      std::function<ncclResult_t(const NcclLibrary &library, ncclComm_t comm)>;

  /// Opens the library.
  /// \param path of IRIS_INTERNODE_LIBRARY; empty: IRIS_NCCL_LIBRARY, else the
  ///   one that the system finds
  /// \retval unavailable the system cannot open it
  /// \retval failedPrecondition it is no NCCL or RCCL, or, for ranks on GPUs,
  ///   libiris_nccl
  static Expected<std::shared_ptr<NcclEngine>> open(const std::string &path,
                                                    World &world);
  /// Aborts the communicators.
  ~NcclEngine();

  /// "NCCL 2.28.9".
  const std::string &name() const { return name_; }
  /// Creates the communicators. Collective over the job.
  /// \retval timeout a rank did not come within the limit
  Status connect(Job &job, std::chrono::nanoseconds limit);

  /// Enqueues messages that start together on a stream of the device's API.
  Status transfer(const Transfers &transfers, void *stream);
  /// Calls a function of the library, with the device current.
  /// \param what the function, for messages
  Status call(const char *what, Ranks ranks, const Function &function);
  /// An error that the library found after a call had returned.
  Status poll();

  /// Ends the communicators' work, and every later call, with an error. Any
  /// thread may call it; the work ends on another one.
  static void abort(const std::shared_ptr<NcclEngine> &engine);
  /// Ends the communicators without an error. All ranks call it, when their
  /// work is done.
  Status close();

private:
  struct Joining;
  /// Both are null after the end. The second is the first where each node has
  /// one rank.
  using Comms = std::array<ncclComm_t, 2>;

  NcclEngine(const NcclLibrary &library, World &world)
      : library_(library), world_(world) {}
  Status check(const char *what, ncclResult_t result) const;
  /// The ids of the communicators of all ranks, and of this rank's rail.
  using Ids = std::array<ncclUniqueId, 2>;
  Expected<ncclUniqueId> makeId() const;
  Expected<Ids> exchangeIds(Job &job) const;
  Status join(Job &job, const Ids &ids, std::chrono::nanoseconds limit);
  Status checkUsable() const;
  void abortNow();

  const ProcessOwner owner_;
  const NcclLibrary library_;
  World &world_;
  std::string name_;
  /// Whether this rank is on a rail that is not all ranks.
  bool isOnRail_ = false;

  std::atomic<bool> isAborted_{false};
  /// Held during calls of the library.
  std::timed_mutex mutex_;
  Comms comms_{};
};

} // namespace iris::rt

#endif // IRIS_RT_INTERNODE_NCCLENGINE_H
