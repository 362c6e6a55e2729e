// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileAhead.h - Kernels are compiled before they are used *- C++ -*-==//
#ifndef IRIS_RT_CCL_COMPILEAHEAD_H
#define IRIS_RT_CCL_COMPILEAHEAD_H

#include "iris/ccl/KernelCache.h"

#include <vector>

namespace iris::ccl {

/// Compiles kernels that the cache does not have, several at once. Errors are
/// found again, and reported, when a kernel is loaded.
void compileAhead(KernelCache &cache,
                  const std::vector<KernelRequest> &requests);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_COMPILEAHEAD_H
