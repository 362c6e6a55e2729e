// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of a launch that the runtime makes (RuntimeABI.h, section 3).
#ifndef IRIS_RT_CORE_HIDDENARGS_H
#define IRIS_RT_CORE_HIDDENARGS_H

#include "backends/Backend.h"
#include "iris/rt/Kernel.h"

namespace iris::rt {

/// What a copy engine is told of a launch's argument; nothing where it does not
/// suit the engine: addresses and strides must be multiples of 16 bytes, and
/// the dimension that the kernel takes to be contiguous must be so.
std::optional<TensorMapSpec> describeTensorMap(const HiddenArgInfo &hidden,
                                               const IrisRtContext &context,
                                               const IrisRtArg &arg);

/// Fills the hidden arguments of a packed block.  `args` were checked.
Status packHiddenArgs(const KernelInfo &kernel, const IrisRtContext &context,
                      const IrisRtArg *args, Backend &backend,
                      std::vector<uint8_t> &block);

} // namespace iris::rt

#endif // IRIS_RT_CORE_HIDDENARGS_H
