// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NodeMap.cpp - Which rank is on which node --------------------------===//
#include "ccl/NodeMap.h"

#include <algorithm>

using namespace iris::ccl;

NodeMap::NodeMap(const rt::Job &job)
    : node_(job.numRanks()), local_(job.numRanks()) {
  for (uint32_t node = 0; node < job.numNodes(); ++node) {
    ranks_.push_back(job.ranksOf(node));
    for (uint32_t local = 0; local < sizeOf(node); ++local) {
      node_[ranks_[node][local]] = node;
      local_[ranks_[node][local]] = local;
    }
    numRails_ = node == 0 ? sizeOf(0) : std::min(numRails_, sizeOf(node));
    mostRanks_ = std::max(mostRanks_, sizeOf(node));
  }
}

bool NodeMap::isContiguous(uint32_t node) const {
  return ranks_[node].back() - ranks_[node].front() + 1 == sizeOf(node);
}

uint32_t NodeMap::mostHeld(uint32_t node) const {
  std::vector<uint32_t> held(sizeOf(node));
  for (uint32_t rank = 0; rank < numRanks(); ++rank)
    if (node_[rank] != node)
      ++held[holderOf(rank, node)];
  return *std::max_element(held.begin(), held.end());
}
