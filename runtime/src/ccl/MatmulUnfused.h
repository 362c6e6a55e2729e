// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulUnfused.h - A matmul and a separate collective -----*- C++ -*-===//
//
// A matmul and a collective, one after the other, in place of a fused kernel.
//
//   all_gather_matmul      all-gather to the staging buffer, matmul of it
//   matmul_all_gather      matmul to this rank's chunk of c, all-gather in
//   place matmul_reduce_scatter  matmul to the staging buffer, reduce-scatter
//   of it matmul_all_reduce      matmul to the staging buffer, all-reduce of it
//
// The results equal those of the fused kernels. A reduction is unfused only if
// the fused kernel's partial sums also have the type of the result, and only
// without an epilogue, which applies to the final sum.
#ifndef IRIS_RT_CCL_MATMULUNFUSED_H
#define IRIS_RT_CCL_MATMULUNFUSED_H

#include "iris/ccl/MatmulSelector.h"
#include "iris/ccl/Selector.h"

namespace iris::ccl {

struct UnfusedPlan {
  /// The local matmul, which has a kernel without communication.
  MatmulProblem matmul;
  /// The collective, with `count` elements in each rank's chunk.
  Op op = Op::allGather;
  DType dtype = DType::f16;
  uint64_t count = 0;
  /// The collective runs before the matmul and gathers its operand.
  bool collectiveFirst = false;
  /// The size of the buffer between the two; 0: c itself.
  uint64_t stagingBytes = 0;
  /// The collective's config and its estimated time.
  Config collective;
  double collectiveUs = 0;
};

/// Splits `problem` for the group and device of `key`; its tile and programs
/// apply to the matmul. Fails if the results would differ from the fused
/// kernel's.
rt::Expected<UnfusedPlan> planUnfused(const MatmulProblem &problem,
                                      const MatmulTuningKey &key);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MATMULUNFUSED_H
