// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WorldAccess.h - A world's device, for the library itself -*- C++ -*-===//
//
// What other parts of the runtime need of a world's back end and connections,
// and programs do not.
#ifndef IRIS_RT_CORE_WORLDACCESS_H
#define IRIS_RT_CORE_WORLDACCESS_H

#include "backends/Backend.h"
#include "core/UniqueFd.h"
#include "iris/rt/World.h"

#include <vector>

namespace iris::rt {

struct WorldAccess {
  static Backend &backend(World &world);
  static StreamHandle handleOf(const World &world, Stream stream);
  /// The descriptors that the ranks pass, by rank. Collective.
  static Expected<std::vector<UniqueFd>> exchangeFds(World &world, int fd);
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_WORLDACCESS_H
