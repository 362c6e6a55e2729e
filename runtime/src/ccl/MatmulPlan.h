// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows from a problem: shapes, the request to the compiler, and how
// much memory the ranks share.
#ifndef IRIS_RT_CCL_MATMULPLAN_H
#define IRIS_RT_CCL_MATMULPLAN_H

#include "iris/ccl/Matmul.h"

namespace iris::ccl {

struct Extents {
  uint64_t rows = 0, columns = 0;
};

/// Sizes of everything that a kernel gets.
struct MatmulPlan {
  Extents a, b, c, staging;
  uint64_t stagingBytes = 0;
  uint64_t workspaceBytes = 0;
  /// Programs that have something to do, whatever the launch asks for.
  uint64_t tiles = 1;
  bool hasMovers = false;
};

/// "all_gather_matmul"; "unknown" for a value that is no kind.
const char *kindName(MatmulKind kind);

/// Checks the problem, fills in what sizes depend on, and says what follows.
rt::Expected<MatmulPlan> makePlan(MatmulProblem &problem, uint32_t groupSize);

/// The workspace, as include/iris/Kernels/FusedWorkspace.h lays it out: barrier
/// state for so many programs of 8 ranks, their epochs, flags.
constexpr uint64_t matmulFlagBytes = 128;
constexpr uint64_t matmulMaxPrograms = 512;
constexpr uint64_t matmulWorkspaceBase =
    matmulFlagBytes * matmulMaxPrograms * 8 + 4 * matmulMaxPrograms;

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MATMULPLAN_H
