// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matmul and a collective, one after the other, in place of a fused kernel.
//
//   all_gather_matmul      all-gather to the staging, matmul of what is there
//   matmul_all_gather      matmul to the own part of c, all-gather in place
//   matmul_reduce_scatter  matmul to the staging, reduce-scatter of it
//   matmul_all_reduce      matmul to the staging, all-reduce of it
//
// Results are those of the fused kernels: sums over ranks are taken apart only
// where shares of the fused kernel have the type of the result as well, and
// only without an epilogue, which applies to the whole sum.
#ifndef IRIS_RT_CCL_MATMULUNFUSED_H
#define IRIS_RT_CCL_MATMULUNFUSED_H

#include "iris/ccl/MatmulSelector.h"
#include "iris/ccl/Selector.h"

namespace iris::ccl {

struct UnfusedPlan {
  /// What a rank computes by itself, with a kernel of its own.
  MatmulProblem matmul;
  /// The collective: `count` elements of each member's chunk.
  Op op = Op::allGather;
  DType dtype = DType::f16;
  uint64_t count = 0;
  /// The collective brings what is multiplied.
  bool collectiveFirst = false;
  /// What lies between the two; 0: c itself.
  uint64_t stagingBytes = 0;
  /// How the collective is done, and what it is expected to take.
  Config collective;
  double collectiveUs = 0;
};

/// How `problem`, for the group and device of `key`, is taken apart; its tile
/// and programs go to the matmul.  An error that says why not where results
/// would differ.
rt::Expected<UnfusedPlan> planUnfused(const MatmulProblem &problem,
                                      const MatmulTuningKey &key);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MATMULUNFUSED_H
