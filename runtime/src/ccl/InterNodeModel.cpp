// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterNodeModel.cpp - Cost of transfers between nodes ---------------===//
#include "iris/ccl/InterNodeModel.h"

#include <algorithm>
#include <cmath>

using namespace iris::ccl;

/// 10^9 bytes per second are 10^3 bytes per microsecond.
static double transferUs(double bytes, double bandwidthGBs) {
  return bytes / (bandwidthGBs * 1e3);
}

InterNodeModel InterNodeModel::ofGpus() {
  InterNodeModel model;
  model.latencyUs = 15;
  model.bandwidthGBs = 45;
  model.nodeBandwidthGBs = 150;
  model.sliceUs = 15;
  model.minSliceBytes = 1 << 20;
  return model;
}

InterNodeModel InterNodeModel::fitted(double emptyUs, uint64_t bytes,
                                      double us) const {
  // A clock may be too coarse for either.
  constexpr double leastUs = 1e-3;
  InterNodeModel model = *this;
  model.latencyUs = std::max(emptyUs, leastUs);
  const double ofBytes = std::max({us - emptyUs, us / 10, leastUs});
  model.bandwidthGBs = double(bytes) / ofBytes / 1e3;
  return model;
}

double InterNodeModel::sendUs(uint64_t bytes, uint32_t messages) const {
  return latencyUs + messages * transferUs(double(bytes), bandwidthGBs);
}

double InterNodeModel::reduceUs(Exchange exchange, uint64_t bytes,
                                uint32_t numNodes) const {
  if (numNodes < 2)
    return 0;
  if (exchange == Exchange::direct)
    return sendUs(bytes, numNodes - 1);
  return 2 * sendUs(bytes / numNodes, numNodes - 1);
}

double InterNodeModel::broadcastUs(Exchange exchange, uint64_t bytes,
                                   uint32_t numNodes) const {
  if (numNodes < 2)
    return 0;
  if (exchange == Exchange::direct)
    return sendUs(bytes, numNodes - 1);
  return (numNodes - 1) * sendUs(bytes, 1);
}

Exchange InterNodeModel::chooseReduce(uint64_t bytes, uint32_t numNodes) const {
  return reduceUs(Exchange::direct, bytes, numNodes) <=
                 reduceUs(Exchange::relayed, bytes, numNodes)
             ? Exchange::direct
             : Exchange::relayed;
}

/// Slices follow each other along the chain: of a slice in the middle only the
/// time counts in which a rank forwards it.
Exchange InterNodeModel::chooseBroadcast(uint64_t bytes,
                                         uint32_t numNodes) const {
  if (numNodes < 3)
    return Exchange::direct;
  const double chain = sendUs(bytes, 1) + (numNodes - 2) * latencyUs;
  return broadcastUs(Exchange::direct, bytes, numNodes) <= chain
             ? Exchange::direct
             : Exchange::relayed;
}

uint64_t InterNodeModel::sliceBytes(uint64_t bytes, uint64_t mostBytes) const {
  // The time of n slices is n * overhead + edges / n.
  const double overhead = latencyUs + sliceUs;
  const double edges = transferUs(double(bytes), nodeBandwidthGBs);
  const double count = std::max(1.0, std::sqrt(edges / overhead));
  const auto best = static_cast<uint64_t>(std::ceil(double(bytes) / count));
  return std::min(std::max(best, minSliceBytes), mostBytes);
}
