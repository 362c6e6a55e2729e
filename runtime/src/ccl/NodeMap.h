// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NodeMap.h - Which rank is on which node ------------------*- C++ -*-===//
#ifndef IRIS_RT_CCL_NODEMAP_H
#define IRIS_RT_CCL_NODEMAP_H

#include "iris/rt/Job.h"

#include <cstdint>
#include <vector>

namespace iris::ccl {

/// The ranks of a job, by node. The local index of a rank is its index among
/// the ranks of its node.
class NodeMap {
public:
  explicit NodeMap(const rt::Job &job);

  uint32_t numRanks() const { return static_cast<uint32_t>(local_.size()); }
  uint32_t numNodes() const { return static_cast<uint32_t>(ranks_.size()); }
  uint32_t nodeOf(uint32_t rank) const { return node_[rank]; }
  uint32_t localOf(uint32_t rank) const { return local_[rank]; }
  uint32_t sizeOf(uint32_t node) const {
    return static_cast<uint32_t>(ranks_[node].size());
  }
  uint32_t rankAt(uint32_t node, uint32_t local) const {
    return ranks_[node][local];
  }
  const std::vector<uint32_t> &ranksOf(uint32_t node) const {
    return ranks_[node];
  }
  /// The local index of the rank of `node` that sends what the node has for a
  /// rank of another node, and receives what comes from it.
  uint32_t holderOf(uint32_t rank, uint32_t node) const {
    return local_[rank] % sizeOf(node);
  }
  /// The rails: local indices that every node has.
  uint32_t numRails() const { return numRails_; }
  /// The ranks of the largest node.
  uint32_t mostRanks() const { return mostRanks_; }
  /// Whether all nodes have as many ranks.
  bool isUniform() const { return numRails_ == mostRanks_; }
  /// Whether the numbers of the node's ranks follow each other.
  bool isContiguous(uint32_t node) const;
  /// The most ranks of other nodes that one rank of `node` is the holder of.
  uint32_t mostHeld(uint32_t node) const;

private:
  std::vector<uint32_t> node_, local_;       ///< by rank
  std::vector<std::vector<uint32_t>> ranks_; ///< by node
  uint32_t numRails_ = 1, mostRanks_ = 1;
};

/// Elements, split in pieces that are as equal as possible.
struct Split {
  uint64_t count = 0;
  uint32_t numPieces = 1;

  uint64_t sizeOf(uint32_t piece) const {
    return count / numPieces + (piece < count % numPieces ? 1 : 0);
  }
  uint64_t offsetOf(uint32_t piece) const {
    const uint64_t numLonger = count % numPieces;
    return piece * (count / numPieces) +
           (piece < numLonger ? piece : numLonger);
  }
  bool isEven() const { return count % numPieces == 0; }
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_NODEMAP_H
