// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulLibrary.h - Matmuls of a vendor's library ----------*- C++ -*-===//
#ifndef IRIS_RT_CCL_MATMULLIBRARY_H
#define IRIS_RT_CCL_MATMULLIBRARY_H

#include "ccl/MatmulPlan.h"
#include "core/WorldAccess.h"

#include <memory>

namespace iris::ccl {

/// Prepares the library's matmul for a problem without communication.
/// `unavailable` if there is no library, or if it cannot compute the problem as
/// Iris defines it.
rt::Expected<std::unique_ptr<rt::LibraryMatmul>>
createLibraryMatmul(rt::World &world, const MatmulProblem &kernelProblem,
                    const MatmulPlan &plan);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MATMULLIBRARY_H
