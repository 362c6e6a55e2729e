// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterNode.h - Messages between the nodes of a job --------*- C++ -*-===//
//
// Ranks of different nodes share no memory. An InterNode moves bytes of host
// memory between them, by a library that is opened at run time
// (iris-c/InterNode.h): libiris_ucx, on UCX.
//
//   auto engine = iris::rt::InterNode::connect(*job);
//   (*engine)->run({InterNode::send(peer, out, bytes),
//                   InterNode::recv(peer, in, bytes)});
//
// After an error the job fails, on all ranks, and so does every later call.
//
// \retval failedPrecondition messages of two ranks differ in size
// \retval timeout a peer did not come within the limit
// \retval aborted another rank failed or ended
#ifndef IRIS_RT_INTERNODE_H
#define IRIS_RT_INTERNODE_H

#include "iris/rt/Job.h"

#pragma GCC visibility push(default)
namespace iris::rt {

/// Options of InterNode::connect; the same on all ranks.
struct InterNodeOptions {
  /// The path of the library. Default: IRIS_INTERNODE_LIBRARY, else
  /// libiris_ucx.so beside libiris_rt.
  std::string library;
  /// The time limit of connect() and run(), in seconds. Default:
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
    /// The memory of a receive.
    void *to = nullptr;
    /// The memory of a send.
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
  /// Ends the connections without waiting.
  ~InterNode();
  InterNode(const InterNode &) = delete;
  InterNode &operator=(const InterNode &) = delete;

  /// \return the name of the engine
  std::string name() const;
  /// Runs transfers at the same time, and returns when all are complete. Any
  /// thread may call; calls of several threads run one after another.
  /// \param transfers the transfers
  /// \retval invalidArgument a peer is on this rank's node, or no rank
  Status run(const std::vector<Transfer> &transfers);
  /// Waits for all ranks of the job and ends the connections. Collective.
  Status destroy();

private:
  struct __attribute__((visibility("hidden"))) Impl;
  explicit InterNode(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_INTERNODE_H
