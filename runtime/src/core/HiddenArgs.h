// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HiddenArgs.h - Launch arguments that the runtime creates -----------===//
//
// See RuntimeABI.h, section 3.
#ifndef IRIS_RT_CORE_HIDDENARGS_H
#define IRIS_RT_CORE_HIDDENARGS_H

#include "backends/Backend.h"
#include "iris/rt/Kernel.h"

namespace iris::rt {

/// The tensor map of an argument; none if the argument does not qualify:
/// addresses and strides must be multiples of 16 bytes, and the dimension that
/// the kernel expects to be contiguous must be so.
std::optional<TensorMapSpec> describeTensorMap(const HiddenArgInfo &hidden,
                                               const IrisRtContext &context,
                                               const IrisRtArg &arg);

/// Fills in the hidden arguments of a packed block. `args` have been checked.
Status packHiddenArgs(const KernelInfo &kernel, const IrisRtContext &context,
                      const IrisRtArg *args, Backend &backend,
                      std::vector<uint8_t> &block);

} // namespace iris::rt

#endif // IRIS_RT_CORE_HIDDENARGS_H
