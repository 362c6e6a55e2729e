// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Job.h - Ranks on several nodes ---------------------------*- C++ -*-===//
//
// A job is a set of ranks on one or several nodes. Ranks of one node share
// memory: they have a World. All ranks of a job exchange small values on the
// host and learn of each other's failures.
//
//   auto job = iris::rt::Job::create();
//   iris::rt::WorldOptions options;
//   options.launch = (*job)->nodeLaunch();          // the ranks of this node
//   auto world = iris::rt::World::create(options);
//
// "Collective" means that every rank of the job calls the function, in the same
// order, by one thread at a time. After a failure of any rank all later calls
// return it immediately, on every rank.
//
// Between machines, ranks connect by TCP, to the address of rank 0
// (LaunchInfo::address). Each side proves that it knows the job's token
// (LaunchInfo::token) without sending it. What follows is neither encrypted nor
// signed: the network between the nodes must be one that only trusted machines
// can write to.
//
// A job belongs to the process that created it, as a World does.
//
// \retval failedPrecondition the job was destroyed, or the call is made in a
//   forked child
// \retval timeout a rank did not come within the limit
// \retval aborted another rank failed or ended
// \retval internal the system failed
#ifndef IRIS_RT_JOB_H
#define IRIS_RT_JOB_H

#include "iris/rt/Env.h"
#include "iris/rt/Status.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::rt {

/// Options of Job::create. All ranks pass the same, except the rank and the
/// node in `launch`.
struct JobOptions {
  /// Rank, size, job, token, address and node; default: from the environment.
  std::optional<LaunchInfo> launch;
  /// Distinguishes jobs that the same ranks have at the same time. By default
  /// jobs are numbered in the order of creation, which must be equal on all
  /// ranks.
  std::string name;
  /// The time limit for all ranks to join, in seconds. Default:
  /// IRIS_JOIN_LIMIT, else 60.
  std::optional<double> joinLimit;
  /// The time limit of collective calls, in seconds. Default:
  /// IRIS_COLLECTIVE_LIMIT, else 300.
  std::optional<double> collectiveLimit;
  /// Ends create() with `aborted`, while it waits for other ranks, when another
  /// thread sets it; null: never. Must exist until create() returns.
  const std::atomic<bool> *cancelled = nullptr;
};

/// One rank's part of a job.
class Job {
public:
  /// Joins the other ranks and finds out which nodes they are on. Collective.
  /// \param options the options
  /// \return the job
  /// \retval invalidArgument the rank or the address is invalid
  /// \retval failedPrecondition there is an address but no token, or this
  ///   rank's token is another one
  static Expected<std::unique_ptr<Job>> create(const JobOptions &options = {});
  /// Leaves the job without waiting for other ranks.
  ~Job();
  Job(const Job &) = delete;
  Job &operator=(const Job &) = delete;

  /// \return the number of this rank in the job
  uint32_t rank() const;
  /// \return the number of ranks of the job
  uint32_t numRanks() const;
  /// \return the number of nodes. They are numbered in the order of their first
  ///   ranks
  uint32_t numNodes() const;
  /// \return this rank's node
  uint32_t node() const { return nodeOf(rank()); }
  /// Finds a rank's node.
  /// \param rank a rank of the job
  /// \return the number of its node; numNodes() if there is no such rank
  uint32_t nodeOf(uint32_t rank) const;
  /// Lists a node's ranks.
  /// \param node a node of the job
  /// \return its ranks in the job, in ascending order; the rank of each in the
  ///   node's world is its index. Empty if there is no such node
  const std::vector<uint32_t> &ranksOf(uint32_t node) const;
  /// \return this rank's index among the ranks of its node
  uint32_t localRank() const;
  /// \return the number of ranks of this rank's node
  uint32_t localSize() const;
  /// \return what World::create needs for the world of this rank's node
  LaunchInfo nodeLaunch() const;

  /// Waits until all ranks have arrived. Collective.
  Status barrier();
  /// Gathers a text of every rank, of any length that is at most 1 MiB.
  /// Collective.
  /// \param mine the text of this rank
  /// \return the texts, ordered by rank
  /// \retval invalidArgument the text is longer
  Expected<std::vector<std::string>> allGather(const std::string &mine);

  /// \return the failure of the job, or success
  Status failure() const;
  /// Makes the job fail on all ranks.
  /// \param status the error that all calls return from then on
  void fail(const Status &status);
  /// Registers a function that is called once, on a thread of the library, when
  /// another rank has failed or ended; immediately if one has. It must not
  /// destroy the job.
  /// \param callback gets the failure; null: none
  void onFailure(std::function<void(const Status &)> callback);

  /// Waits for all ranks, unless the job has failed, and leaves. Collective.
  /// No call may follow.
  Status destroy();

  /// Opens a port of this machine for a job that begins later with rank 0 in
  /// this process, so that other ranks can learn the address before.
  /// \param host a host name or an IP address of this machine
  /// \return LaunchInfo::address of that job
  /// \retval invalidArgument the address is not this machine's
  static Expected<std::string> reserveAddress(const std::string &host);
  /// The same at the address by which this machine reaches rank 0 of this job,
  /// for a job of some of its ranks.
  /// \return LaunchInfo::address of that job
  /// \retval failedPrecondition this job has no address
  Expected<std::string> reserveAddress() const;
  /// The same for any number of such jobs, one after the other, until
  /// releaseAddress(): the ranks can learn the address while all are alive, for
  /// jobs of those that are left.
  /// \return LaunchInfo::address of those jobs
  /// \retval failedPrecondition this job has no address
  Expected<std::string> reserveLastingAddress() const;
  /// Closes the port of reserveLastingAddress().
  /// \param address its address; another one has no effect
  static void releaseAddress(const std::string &address);

private:
  struct __attribute__((visibility("hidden"))) Impl;
  explicit Job(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_JOB_H
