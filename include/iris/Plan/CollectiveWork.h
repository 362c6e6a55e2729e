// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveWork.h - Cost terms of a collective ------------*- C++ -*-===//
//
// The terms of the cost model that follow from the variant alone. A row of
// Collectives.def names the function that returns them. The runtime's
// selector multiplies them by a device's constants;
// benchmarks/fit-cost-model.py finds those constants, and takes the terms from
// `iris-compile --list-collectives`.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_COLLECTIVEWORK_H
#define IRIS_PLAN_COLLECTIVEWORK_H

#include "iris/Plan/CollectiveForm.h"

namespace irisplan {

/// The terms of one rank.
struct CollectiveWork {
  /// The number of ranks over which the tiles of a chunk are distributed.
  double ways = 1;
  /// Bytes that cross the busiest rank's links, in units of a chunk.
  double linkChunks = 0;
  /// Copies in a rank's own memory, in units of a chunk.
  double localChunks = 0;
  /// Barriers and one-way packets of a call, and barriers of each iteration.
  double barriers = 2, packets = 0, barriersPerIteration = 0;
  /// Data are loaded from peers, not stored to them.
  bool pulls = false;
  /// All bytes cross the link to one peer.
  bool isStream = false;

  /// Tiles of the busiest program, one after another, if a chunk has `tiles`
  /// and a launch has `programs`.
  double countIterations(double tiles, double programs) const;
};

/// For a group of `size` members; `variant` is one of `variants`.
CollectiveWork getWork(const Variant &variant, int64_t size);

/// Bytes of a chunk that a variant processes at once, up to a tile; INT64_MAX
/// if it does not depend on the workspace. Larger chunks take several rounds.
/// Slots count as for the largest group whose kernels serve any size, unless
/// the group is larger.
int64_t getRoundBytes(const Collective &collective, const Variant &variant,
                      int64_t size, const Workspace &workspace = Workspace());

} // namespace irisplan

#endif // IRIS_PLAN_COLLECTIVEWORK_H
