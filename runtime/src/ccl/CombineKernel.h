// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CombineKernel.h - Kernels that combine nodes' results ----*- C++ -*-===//
#ifndef IRIS_RT_CCL_COMBINEKERNEL_H
#define IRIS_RT_CCL_COMBINEKERNEL_H

#include "iris-c/RuntimeABI.h"
#include "iris/ccl/Types.h"

#include <cstdint>
#include <string>

namespace iris::ccl {

/// The kernel out[i] = the reduction of in[p * size(out) + i] over all parts p,
/// of an element type. Its arguments are (ctx, in, out, parts, divisor); an
/// average is the sum, divided by the divisor. f16, bf16 and fp8 are combined
/// in f32 and rounded once.
struct CombineKernel {
  /// Elements that a program combines at once.
  static constexpr uint64_t tile = 2048;

  /// The symbol of the module and of the kernel. Calls with the same arithmetic
  /// have one kernel.
  std::string name;
  /// The .mlir module.
  std::string source;
  /// The element type of the buffers.
  IrisRtElement element = IRISRT_ELT_F32;

  static CombineKernel of(DType dtype, ReduceOp reduce);
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_COMBINEKERNEL_H
