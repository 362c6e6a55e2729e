// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveConfig.h - How a collective is done ------------*- C++ -*-===//

#ifndef IRIS_KERNELS_COLLECTIVECONFIG_H
#define IRIS_KERNELS_COLLECTIVECONFIG_H

#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Plan/Collectives.h"
#include "iris/Plan/Workspace.h"

namespace mlir::iris {

using plan::Workspace;

/// What a kernel generator is told: the operation and its config, checked and
/// with all defaults filled in.
struct CollectiveConfig {
  CollectiveKind kind;
  std::optional<Reduction> reduction;
  /// The elements' type, and that of the buffers that hold them.
  Type element;
  Type storage;
  /// Ranks of the group; 0: any number up to 8.
  int64_t size = 0;
  /// Which way; a name from the table of collectives.
  std::string variant;
  /// Elements that a program moves at once.
  int64_t tile = 0;
  int64_t warps = 4;
  /// Most programs of a launch.
  int64_t programs = 32;
  /// Chiplets that programs go to in round-robin order; neighbouring tiles go
  /// to one chiplet.
  int64_t xcds = 1;
  /// Input and output may be anywhere, and be the same.
  bool staged = false;
  /// What the kernel shares with others of its communicator.
  Workspace workspace;
  /// Elements of a chunk that packets carry in one round.
  int64_t packetRound = 0;
  /// The output may be where the input is (the operation's in-place form).
  bool inPlace = true;

  /// What is known of the operation, and of the variant.
  const plan::Collective &collective() const;
  const plan::Variant &variantInfo() const;
  bool usesPackets() const;
  /// Whether plain tiles go to slots in the receivers' workspaces.
  bool usesBuffers() const;
  /// Whether sums go back to the members through slots as well: staged
  /// all-reduces in two shots.
  bool sendsResults() const;
  int64_t elementBytes() const;
  RankedTensorType tileType() const;
};

/// What the root adds to its number in the last argument of its launch if peers
/// cannot reach the buffer that only it has.
constexpr int64_t kRootIsElsewhere = 256;

/// Checks the config of `op` and fills in the defaults; reports what is wrong
/// at `op`.
FailureOr<CollectiveConfig> getConfig(CollectiveOp op);

} // namespace mlir::iris

#endif // IRIS_KERNELS_COLLECTIVECONFIG_H
