// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterNodeModel.h - Cost of transfers between nodes -------*- C++ -*-===//
#ifndef IRIS_CCL_INTERNODEMODEL_H
#define IRIS_CCL_INTERNODEMODEL_H

#include <cstdint>

#pragma GCC visibility push(default)
namespace iris::ccl {

/// How the ranks of one rail, one of each node, exchange data.
enum class Exchange {
  /// Every rank sends all of its data to each of the other ranks.
  direct,
  /// Reductions: every rank reduces one chunk and sends the result to the other
  /// ranks. Broadcasts: every rank forwards the data to the next one.
  relayed,
};

/// The cost model of transfers between nodes: a message of n bytes takes
/// latencyUs + n / bandwidth, and the messages that one rank sends at the same
/// time share its bandwidth. The defaults are those of TCP on 25 GbE.
struct InterNodeModel {
  /// The time of an empty message, with that of the call that sends it.
  double latencyUs = 30;
  /// Of one rank, in each direction, in 10^9 bytes per second.
  double bandwidthGBs = 2.5;
  /// Of the collectives inside of a node, in bytes of the result.
  double nodeBandwidthGBs = 5;
  /// The time of launching the kernels of one slice.
  double sliceUs = 20;
  /// The smallest slice that is worth a launch.
  uint64_t minSliceBytes = 16 << 10;

  /// \return a model of GPUs with a network card of 400 Gbit/s each
  static InterNodeModel ofGpus();
  /// Replaces latency and bandwidth by those of two measured messages.
  /// \param emptyUs the microseconds of an empty message
  /// \param bytes the size of the other one, more than 0
  /// \param us its microseconds. Of measurements that contradict each other,
  ///   at least a tenth is taken for the time of the bytes
  /// \return the model
  InterNodeModel fitted(double emptyUs, uint64_t bytes, double us) const;

  /// Estimates messages that one rank sends at the same time.
  /// \param bytes the size of each
  /// \param messages their number
  /// \return the time in microseconds
  double sendUs(uint64_t bytes, uint32_t messages) const;
  /// Estimates a reduction among the ranks of a rail.
  /// \param exchange how it is done
  /// \param bytes the data of each rank
  /// \param numNodes the ranks of the rail
  /// \return the time in microseconds
  double reduceUs(Exchange exchange, uint64_t bytes, uint32_t numNodes) const;
  /// Estimates a broadcast among the ranks of a rail.
  /// \param exchange how it is done
  /// \param bytes the data
  /// \param numNodes the ranks of the rail
  /// \return the time in microseconds
  double broadcastUs(Exchange exchange, uint64_t bytes,
                     uint32_t numNodes) const;
  /// Chooses how the ranks of a rail reduce.
  /// \param bytes the data of each rank
  /// \param numNodes the ranks of the rail
  /// \return the faster way
  Exchange chooseReduce(uint64_t bytes, uint32_t numNodes) const;
  /// Chooses how the ranks of a rail broadcast, in many slices.
  /// \param bytes the data of a slice
  /// \param numNodes the ranks of the rail
  /// \return the faster way
  Exchange chooseBroadcast(uint64_t bytes, uint32_t numNodes) const;

  /// Chooses the slices of a pipelined collective. Transfers and the work
  /// inside of nodes overlap but for the first and the last slice: smaller
  /// slices cost more launches, larger ones more of that time.
  /// \param bytes the data inside of a node
  /// \param mostBytes the largest slice
  /// \return the bytes of a slice, at most that
  uint64_t sliceBytes(uint64_t bytes, uint64_t mostBytes) const;
};

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_INTERNODEMODEL_H
