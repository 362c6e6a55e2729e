// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterNode.h - Messages between the nodes of a job --------*- C++ -*-===//
//
// Ranks of different nodes share no memory. An InterNode moves bytes between
// them, by a library that is opened at run time.
//
// On the host it is a library with the interface of iris-c/InterNode.h:
// libiris_ucx, on UCX. Transfers run when they are called:
//
//   auto engine = iris::rt::InterNode::connect(*job);
//   (*engine)->run({InterNode::send(peer, out, bytes),
//                   InterNode::recv(peer, in, bytes)});
//
// On GPUs it is NCCL or RCCL. Transfers of memory of the device are enqueued on
// streams, and can be captured:
//
//   auto engine = iris::rt::InterNode::connect(*job, *world);
//   (*engine)->enqueue({InterNode::send(peer, out, bytes),
//                       InterNode::recv(peer, in, bytes)}, stream);
//
// After an error the job fails, on all ranks, and so does every later call.
//
// \retval failedPrecondition messages of two ranks differ in size
// \retval timeout a peer did not come within the limit
// \retval aborted another rank failed or ended
// \retval deviceError the device of this rank failed
#ifndef IRIS_RT_INTERNODE_H
#define IRIS_RT_INTERNODE_H

#include "iris/rt/Job.h"
#include "iris/rt/World.h"

#pragma GCC visibility push(default)
namespace iris::rt {

/// Options of InterNode::connect; the same on all ranks.
struct InterNodeOptions {
  /// The path of the library. Default: IRIS_INTERNODE_LIBRARY; else, on the
  /// host, libiris_ucx.so beside libiris_rt; on GPUs IRIS_NCCL_LIBRARY, else
  /// the libnccl.so.2 or librccl.so.1 that the system finds.
  std::string library;
  /// The time limit of connect() and of transfers, in seconds. Default:
  /// IRIS_COLLECTIVE_LIMIT, else 300.
  std::optional<double> limit;
};

/// One rank's connections to the ranks of other nodes.
class InterNode {
public:
  /// A message. Those from one rank to another arrive in the order in which
  /// both ranks name them.
  struct Transfer {
    /// Whether this rank sends it.
    bool isSend = false;
    /// The other rank, of another node.
    uint32_t peer = 0;
    /// The memory of a receive; of the device, if transfers are on streams.
    void *to = nullptr;
    /// The memory of a send, likewise.
    const void *from = nullptr;
    /// The size of the message in bytes, the same on both ranks.
    uint64_t bytes = 0;
  };
  /// Makes a transfer to a rank.
  /// \param peer the rank that receives
  /// \param from the memory
  /// \param bytes the size in bytes
  /// \return the transfer
  static Transfer send(uint32_t peer, const void *from, uint64_t bytes);
  /// Makes a transfer from a rank.
  /// \param peer the rank that sends
  /// \param to the memory
  /// \param bytes the size in bytes
  /// \return the transfer
  static Transfer recv(uint32_t peer, void *to, uint64_t bytes);

  /// Opens the library and connects the ranks of different nodes. Collective
  /// over the job: an error on one rank is returned on all of them.
  /// \param job the job, which must outlive the result
  /// \param options the options
  /// \return the connections
  /// \retval unavailable there is no such library, or it cannot run here
  static Expected<std::unique_ptr<InterNode>>
  connect(Job &job, const InterNodeOptions &options = {});
  /// The same for ranks with a world, which may be on GPUs.
  /// \param job the job, which must outlive the result
  /// \param world the world of this rank's node, which must outlive it, too
  /// \param options the options
  /// \return the connections
  /// \retval unavailable there is no such library, or it cannot run here
  /// \retval failedPrecondition ranks have other libraries or versions, or the
  ///   library does not reach the memory of the world's device
  static Expected<std::unique_ptr<InterNode>>
  connect(Job &job, World &world, const InterNodeOptions &options = {});
  /// Ends the connections without waiting.
  ~InterNode();
  InterNode(const InterNode &) = delete;
  InterNode &operator=(const InterNode &) = delete;

  /// \return the name of the engine: "UCX", "NCCL 2.28.9"
  std::string name() const;
  /// \return whether transfers are enqueued on streams, by enqueue(); otherwise
  ///   they run when run() is called
  bool isOnStreams() const;
  /// Runs transfers at the same time, and returns when all are complete. Any
  /// thread may call; calls of several threads run one after another.
  /// \param transfers the transfers
  /// \retval invalidArgument a peer is on this rank's node, or no rank
  /// \retval failedPrecondition transfers are enqueued on streams
  Status run(const std::vector<Transfer> &transfers);
  /// Enqueues transfers that start together. Stream-ordered. The first transfer
  /// with a rank may wait for the rank's call.
  /// \param transfers the transfers, of the device's memory
  /// \param stream the stream; on the host one that was adopted
  /// \retval failedPrecondition transfers are not enqueued on streams
  Status enqueue(const std::vector<Transfer> &transfers, Stream stream);
  /// Waits for all ranks of the job and ends the connections. Collective.
  Status destroy();

private:
  friend struct InterNodeAccess;
  struct __attribute__((visibility("hidden"))) Impl;
  explicit InterNode(std::unique_ptr<Impl> impl);
  static __attribute__((visibility("hidden")))
  Expected<std::unique_ptr<InterNode>>
  connect(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_INTERNODE_H
