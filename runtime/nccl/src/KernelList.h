// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelList.h - The kernels of NCCL's API -----------------*- C++ -*-===//
#ifndef IRIS_NCCL_KERNELLIST_H
#define IRIS_NCCL_KERNELLIST_H

#include "Types.h"
#include "iris/ccl/KernelList.h"

#include <cstdint>
#include <string>
#include <vector>

namespace iris::nccl {

/// What a program calls.
struct CallKinds {
  /// The sizes of its communicators.
  std::vector<uint32_t> groupSizes = {2, 4, 8};
  std::vector<ccl::Op> ops = allOps();
  /// Of reductions; data that is only moved has no type.
  std::vector<ccl::DType> types = allTypes();
  std::vector<ccl::ReduceOp> reductions = allReductions();
};

/// Lists every kernel that these calls may load on devices of a target.
/// \retval invalidArgument there is no such target
rt::Expected<ccl::KernelList> listKernels(const std::string &target,
                                          const CallKinds &calls);

} // namespace iris::nccl

#endif // IRIS_NCCL_KERNELLIST_H
