// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FusedWorkspace.h - Layout of a fused kernel's workspace --*- C++ -*-===//
//
// The workspace of one fused kernel on matrices of one shape: zero at first,
// never reset. Offsets are in bytes.
//
//   barrier lines   one per program and member: the state of iris.barrier
//   epochs          a word per program, all the same between kernels: launches
//                   so far
//   flags           a line each: the epoch in which something is there
//
// Of the variant copy_engine who calls the kernel sets the flags before every
// call, waits for some of them, and has more behind them: see beginCleared,
// countDown, and CopiedParts of the runtime's MatmulPlan.h.
//
// Matrices that are passed on have a buffer of their own, the staging.
//
// How many flags there are is known when a kernel runs: numbers are those of
// TileSchedule.h, so that host programs and kernels compute it by the same
// code.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_FUSEDWORKSPACE_H
#define IRIS_PLAN_FUSEDWORKSPACE_H

#include "iris/Plan/Workspace.h"

namespace irisplan {

struct FusedWorkspace {
  static constexpr int64_t line = Workspace::line;
  /// Most programs of a launch: a power of two.
  static constexpr int64_t maxPrograms = 512;
  static constexpr int64_t barrier = 0;
  static constexpr int64_t barrierBytes =
      line * maxPrograms * Workspace::maxMembers;
  static constexpr int64_t epochs = barrier + barrierBytes;
  static constexpr int64_t epochBytes = 4 * maxPrograms;
  static constexpr int64_t flags = epochs + epochBytes;

  template <typename Arithmetic>
  static typename Arithmetic::Number
  bytes(Arithmetic &n, typename Arithmetic::Number numFlags) {
    return n.add(n.index(flags), n.mul(numFlags, n.index(line)));
  }
};

} // namespace irisplan

#endif // IRIS_PLAN_FUSEDWORKSPACE_H
