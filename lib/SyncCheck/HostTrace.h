// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostTrace.h - What each rank launches --------------------*- C++ -*-===//
#ifndef IRIS_LIB_SYNCCHECK_HOSTTRACE_H
#define IRIS_LIB_SYNCCHECK_HOSTTRACE_H

#include "Trace.h"

namespace mlir::iris::sync {

/// One op of `@main`, on one rank.
struct HostEvent {
  enum class Kind { Launch, Collective, Sync };

  Kind kind;
  Operation *op;
  /// Of a launch.
  gpu::GPUFuncOp kernel = {};
  SmallVector<std::pair<Scalar, Buffer>> arguments = {};
  std::optional<SmallVector<int64_t, 3>> grid = std::nullopt;
  /// Of a launch or collective; empty: all ranks.
  SmallVector<unsigned> group = {};
  /// Of a collective: what it may write to.
  SmallVector<Buffer> buffers = {};
};

/// What one rank enqueues.
struct HostTrace {
  std::vector<HostEvent> events;
  /// Beyond which op the rank is not followed; null: none.
  Operation *limit = nullptr;
  std::string reason;
  /// Whether a group has a rank outside of the world.
  bool isOutside = false;
};

/// Follows `@main` on the rank of `position`.
HostTrace traceMain(func::FuncOp main, const Position &position, Budget &budget,
                    SymbolTableCollection &symbols);

} // namespace mlir::iris::sync

#endif // IRIS_LIB_SYNCCHECK_HOSTTRACE_H
