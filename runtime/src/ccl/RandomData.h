// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RandomData.h - Data for measurements ---------------------*- C++ -*-===//
#ifndef IRIS_RT_CCL_RANDOMDATA_H
#define IRIS_RT_CCL_RANDOMDATA_H

#include "iris/ccl/Types.h"
#include "iris/rt/World.h"

namespace iris::ccl {

/// Fills device memory with elements whose bits vary, because the power that a
/// GPU needs, and with it the clock, depends on how many bits change. Floats
/// are between 1 and 2, with either sign, so that no sum overflows. Waits until
/// the first bytes are copied; the rest is stream-ordered.
rt::Status fillRandomly(rt::World &world, uint64_t address, uint64_t count,
                        DType type, rt::Stream stream = {});

} // namespace iris::ccl

#endif // IRIS_RT_CCL_RANDOMDATA_H
