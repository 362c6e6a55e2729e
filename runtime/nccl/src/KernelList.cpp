// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelList.cpp - The kernels of NCCL's API -------------------------===//
#include "KernelList.h"

#include "ScalingKernel.h"
#include "Session.h"
#include "ccl/CombineKernel.h"
#include "iris/ccl/Selector.h"

#include <algorithm>

using namespace iris::ccl;
using namespace iris::nccl;
using namespace iris::rt;

Expected<KernelList> iris::nccl::listKernels(const std::string &target,
                                             const CallKinds &calls) {
  IRISRT_ASSIGN_OR_RETURN(DeviceKind device, deviceKindOfTarget(target));
  KernelList kernels;
  auto add = [&](Op op, DType dtype, ReduceOp reduce) -> Status {
    for (uint32_t size : calls.groupSizes)
      IRISRT_RETURN_IF_ERROR(ccl::listKernels(
          target, op, dtype, reduce, size, kernels, Session::workspaceBytes));
    return Status::success();
  };
  for (Op op : calls.ops) {
    if (!reduces(op))
      IRISRT_RETURN_IF_ERROR(add(op, DType::i8, ReduceOp::sum));
    // A send loads the kernels of receives, too, and the reverse.
    if (getCollective(op).isPointToPoint())
      for (Op other : {Op::send, Op::recv})
        IRISRT_RETURN_IF_ERROR(add(other, DType::i8, ReduceOp::sum));
    if (!reduces(op))
      continue;
    for (DType type : calls.types) {
      if (!checkReduces(type, device).ok())
        continue;
      for (ReduceOp reduction : calls.reductions) {
        IRISRT_RETURN_IF_ERROR(add(op, type, reduction));
        // Of ranks on several nodes.
        const CombineKernel combine = CombineKernel::of(type, reduction);
        kernels[combine.name] = combine.source;
        // Sums may have factors, which the input is multiplied by before.
        if (reduction == ReduceOp::sum) {
          const ScalingKernel scaling = ScalingKernel::of(type);
          kernels[scaling.name] = scaling.source;
        }
      }
    }
  }
  return kernels;
}
