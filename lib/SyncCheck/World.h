// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- World.h - All programs of all ranks ----------------------*- C++ -*-===//
#ifndef IRIS_LIB_SYNCCHECK_WORLD_H
#define IRIS_LIB_SYNCCHECK_WORLD_H

#include "HostTrace.h"

namespace mlir::iris::sync {

/// What a rank's stream executes: the programs of a launch, a collective, or a
/// sync, which the host waits for.
struct StreamItem {
  HostEvent::Kind kind;
  Operation *op;
  std::vector<Trace> programs = {};
  /// Whether the launch has more programs than `programs`.
  bool isPartial = false;
  /// The ranks that take part.
  SmallVector<unsigned> members = {};
  SmallVector<Buffer> buffers = {};
};

/// A number of ranks, and what they execute.
struct World {
  unsigned numRanks = 0;
  /// By rank.
  std::vector<std::vector<StreamItem>> streams;
  /// Whether flags are 0 at first, and nothing else accesses them: buffers are
  /// those of `@main`.
  bool isWhole = false;
  /// Whether all programs are followed to their end.
  bool isComplete = true;
  /// Whether the program is for other numbers of ranks.
  bool isUnsupported = false;
  SmallVector<std::pair<Operation *, std::string>> limits;
};

/// What `main` executes on each of `numRanks` ranks, in at most `maxOps` ops of
/// each rank.
World buildWorld(func::FuncOp main, unsigned numRanks, uint64_t maxOps,
                 SymbolTableCollection &symbols);

/// One launch, by all ranks, of a kernel whose launches are not known: its
/// first program.
World buildWorld(gpu::GPUFuncOp kernel, unsigned numRanks, uint64_t maxOps,
                 SymbolTableCollection &symbols);

} // namespace mlir::iris::sync

#endif // IRIS_LIB_SYNCCHECK_WORLD_H
