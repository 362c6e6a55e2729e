// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalingKernel.h - The kernels that apply factors ---------*- C++ -*-===//
#ifndef IRIS_NCCL_SCALINGKERNEL_H
#define IRIS_NCCL_SCALINGKERNEL_H

#include "iris-c/RuntimeABI.h"
#include "iris/ccl/Types.h"

#include <cstdint>
#include <string>

namespace iris::nccl {

/// The kernel out[i] = in[i] * factor of an element type. Its arguments are
/// (ctx, in, out, factor, value): the factor is `value` if the buffer `factor`
/// has no elements, otherwise its first one.
struct ScalingKernel {
  /// Elements that a program scales at once.
  static constexpr uint64_t tile = 2048;

  /// The symbol of the module and of the kernel. Types with the same arithmetic
  /// have one kernel.
  std::string name;
  /// The .mlir module.
  std::string source;
  /// The element type of the buffers.
  IrisRtElement element = IRISRT_ELT_F32;

  static ScalingKernel of(ccl::DType dtype);
};

} // namespace iris::nccl

#endif // IRIS_NCCL_SCALINGKERNEL_H
