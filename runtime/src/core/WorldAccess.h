// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WorldAccess.h - A world's device, for the library itself -*- C++ -*-===//
//
// What other parts of the runtime need of a world's back end, and programs do
// not.
#ifndef IRIS_RT_CORE_WORLDACCESS_H
#define IRIS_RT_CORE_WORLDACCESS_H

#include "backends/Backend.h"
#include "iris/rt/World.h"

namespace iris::rt {

struct WorldAccess {
  static Backend &backend(World &world);
  static StreamHandle handleOf(const World &world, Stream stream);
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_WORLDACCESS_H
