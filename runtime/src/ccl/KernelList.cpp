// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelList.cpp - Kernels to compile ahead of time ------------------===//
#include "iris/ccl/KernelList.h"

#include "ccl/Spec.h"
#include "iris/ccl/Selector.h"

using namespace iris::ccl;
using namespace iris::rt;

Status iris::ccl::listKernels(const std::string &target, Op op, DType dtype,
                              ReduceOp reduce, uint32_t groupSize,
                              KernelList &kernels, uint64_t workspaceBytes) {
  auto add = [&](const Config &config) {
    Spec spec = kernelSpec(makeSpec(op, dtype, reduce, groupSize, config));
    kernels[requestName(spec, workspaceBytes)] =
        requestText(spec, workspaceBytes);
  };
  for (bool onHeap : {true, false}) {
    IRISRT_ASSIGN_OR_RETURN(
        std::vector<Config> configs,
        candidatesOfTarget(op, dtype, target, groupSize, onHeap));
    for (Config config : configs) {
      add(config);
      // Calls in place take the staged form of kernels that cannot be.
      const plan::Variant *variant = getCollective(op).find(config.variant);
      if (onHeap && !variant->has(plan::inPlace) && variant->hasStagedForm()) {
        config.staged = true;
        add(config);
      }
    }
  }
  if (!getCollective(op).isPointToPoint())
    return Status::success();
  // The kernel of groups has the config of slots, which every target has.
  IRISRT_ASSIGN_OR_RETURN(
      std::vector<Config> configs,
      candidatesOfTarget(Op::send, dtype, target, groupSize, /*onHeap=*/true));
  for (const Config &config : configs)
    if (config.variant == variantsOf(Op::send).front())
      add(configOfGroups(config));
  return Status::success();
}
