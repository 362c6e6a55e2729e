// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobCommunicator.h - Collectives between nodes ------------*- C++ -*-===//
//
// Collective operations among all ranks of a job, which are on several nodes.
//
//   auto job = iris::rt::Job::create();
//   auto world = iris::rt::World::create(...);    // with (*job)->nodeLaunch()
//   auto node = iris::ccl::Communicator::create(**world);
//   auto engine = iris::rt::InterNode::connect(**job, **world);
//   auto all = iris::ccl::JobCommunicator::create(**job, **world, **node,
//                                                 **engine);
//   (*all)->run(call);
//
// The operations are hierarchical. A *rail* is a set of ranks, one of each
// node, with the same index in their nodes; there are as many as the smallest
// node has ranks. An all-reduce reduces inside of each node, so that each rail
// has its piece, then among the ranks of each rail, and gathers inside of each
// node. The data goes in slices: while the engine transfers one, kernels work
// on others.
//
// A call means what it means for a Communicator of all ranks, with their
// numbers in the job, and has the same rules: it is stream-ordered, all ranks
// call the same operations in the same order, and the calls are ordered on the
// device. The sums of nodes are rounded to the type of the elements before they
// are added.
//
// After an error other than that of an argument, the job and the world have
// failed, on all ranks.
//
// An engine on streams (InterNode.h) reduces among the ranks of rails by its
// own collectives where their results are those of the kernels: `sum` and
// `prod`, and `min` and `max` of integers, of types that NCCL has other than
// f8. Where each node has one rank, calls run by its collectives alone, on the
// caller's stream. The limit of its transfers is checked on a thread, but not
// in replays of graphs. Beside its kernels, collectives inside of a node have
// programs on at most half of the processors.
//
// \retval invalidArgument an argument is invalid, as in Communicator.h
// \retval failedPrecondition the communicator was destroyed, a kernel is
//   missing during a capture, or the ranks' calls differ
// \retval unavailable a kernel is in no package, and there is no compiler
// \retval timeout a time limit expired, on this rank or a peer
// \retval aborted another rank failed or ended
// \retval deviceError the device of this rank failed
#ifndef IRIS_CCL_JOBCOMMUNICATOR_H
#define IRIS_CCL_JOBCOMMUNICATOR_H

#include "iris/ccl/Communicator.h"
#include "iris/ccl/InterNodeModel.h"
#include "iris/rt/InterNode.h"

#pragma GCC visibility push(default)
namespace iris::ccl {

/// Options of JobCommunicator::create; the same on all ranks.
struct JobCommunicatorOptions {
  /// Bytes of the staging buffer on the heap of each rank's world: a multiple
  /// of 256, at least 64 KiB.
  uint64_t stagingBytes = 16 << 20;
  /// Chooses the slices, and how rails exchange data. None: create() measures
  /// the latency and the bandwidth of the engine, in some milliseconds (0.1 s
  /// on a network of 100 Mbit/s), and takes the other parameters from
  /// InterNodeModel() on the host and InterNodeModel::ofGpus() elsewhere. These
  /// alone choose the slices of reductions, whose results are bitwise equal in
  /// every run.
  std::optional<InterNodeModel> model;
  /// The source of the kernels that combine what nodes send; null:
  /// KernelCache::shared().
  std::shared_ptr<KernelCache> cache;
  /// Whether the ranks compare every call, the same on all ranks; default:
  /// IRIS_CHECK_COLLECTIVES.
  std::optional<bool> checkCalls;
};

/// Collective operations of one rank with the other ranks of a job.
class JobCommunicator {
public:
  /// Collective over the job.
  /// \param job the job
  /// \param world the world of this rank's node (Job::nodeLaunch)
  /// \param node a communicator of all ranks of that world
  /// \param engine the connections between the nodes
  /// \param options the options, the same on all ranks
  /// \return the communicator; the arguments must outlive it
  /// \retval invalidArgument the world or the communicator is not one of the
  ///   node's ranks, or an option is invalid
  /// \retval failedPrecondition the ranks run on GPUs, whose memory the engine
  ///   does not reach, or their options differ
  static rt::Expected<std::unique_ptr<JobCommunicator>>
  create(rt::Job &job, rt::World &world, Communicator &node,
         rt::InterNode &engine, const JobCommunicatorOptions &options = {});
  /// Ends the work that is left. Without destroy(), the staging buffer stays
  /// allocated until the world ends.
  ~JobCommunicator();
  JobCommunicator(const JobCommunicator &) = delete;
  JobCommunicator &operator=(const JobCommunicator &) = delete;

  /// Waits for the work and frees the staging buffer. Collective over the node.
  rt::Status destroy();

  /// Tells whether run() takes an operation.
  /// \param op the operation
  /// \return true of collectives
  static bool serves(Op op);
  /// Runs an operation; its config must be null. Of an operation with counts,
  /// the host reads them and the ranks compare them before anything is
  /// enqueued, so that the call waits for the stream's earlier work.
  /// \param call the operation and its arguments
  /// \retval invalidArgument counts of two ranks differ, or chunks are not in
  ///   their buffers: on all ranks, and without an effect
  /// \retval failedPrecondition the operation is no collective, or it has
  ///   counts and the stream is captured
  rt::Status run(const Call &call);

  /// Estimates the time of a call, by the cost models of the node and between
  /// nodes.
  /// \param call an operation of run() without counts, or a send or receive,
  ///   without a config
  /// \return the time in microseconds
  /// \retval invalidArgument it is another operation, run() would refuse the
  ///   arguments, or there is a config
  /// \retval unavailable the model of the node has no time
  rt::Expected<double> estimate(const Call &call);

  /// Runs sends and receives between nodes, which start together: a ring or an
  /// all-to-all of them does not deadlock. The ranks of each pair name their
  /// messages in the same order.
  /// \param calls of Op::send and Op::recv with ranks of other nodes; their
  ///   streams are unused
  /// \param streams they start after the work of these so far, and later work
  ///   of these starts after them
  /// \param beside enqueues work on the streams that runs at the same time;
  ///   empty: none
  /// \retval invalidArgument a peer is on this rank's node
  rt::Status transfer(const std::vector<Call> &calls,
                      const std::vector<rt::Stream> &streams,
                      const std::function<rt::Status()> &beside = {});

  /// \return the model, equal on all ranks: that of the options, or measured
  const InterNodeModel &model() const;

  /// \return the failure of the job, which names a rank of the job, or of the
  ///   world; or success. Looks for errors of kernels as World::poll does
  rt::Status poll();
  /// Makes the job and the world fail, on all ranks.
  /// \param status the error that all calls return from then on
  void fail(const rt::Status &status);

private:
  struct __attribute__((visibility("hidden"))) Impl;
  explicit JobCommunicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_JOBCOMMUNICATOR_H
