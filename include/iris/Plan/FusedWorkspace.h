// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FusedWorkspace.h - Layout of a fused kernel's workspace --*- C++ -*-===//
//
// The workspace of one fused kernel on matrices of one shape. It is zeroed once
// and never reset. Offsets are in bytes.
//
//   barrier lines   one per program and member: the state of iris.barrier
//   epochs          a word per program, all equal between kernels: the number
//                   of launches so far
//   flags           one line each: the epoch in which the data is ready
//
// In the variant copy_engine, the caller of the kernel resets the flags before
// every call, waits for some of them, and places further flags after them: see
// beginCleared, countDown, and CopiedLayout in the runtime's MatmulPlan.h.
//
// Staged matrices are in a separate buffer, the staging buffer.
//
// The number of flags is known only at run time. FusedSizes.h computes it over
// an arithmetic (Arithmetic.h), so that the runtime, host programs and kernels
// share the code.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_FUSEDWORKSPACE_H
#define IRIS_PLAN_FUSEDWORKSPACE_H

#include "iris/Plan/Workspace.h"

namespace irisplan {

struct FusedWorkspace {
  static constexpr int64_t line = Workspace::line;
  /// Maximum number of programs in a launch; a power of two.
  static constexpr int64_t maxPrograms = 512;
  static constexpr int64_t barrier = 0;
  static constexpr int64_t barrierBytes =
      line * maxPrograms * Workspace::maxAnyMembers;
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
