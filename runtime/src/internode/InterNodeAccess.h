// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterNodeAccess.h - An engine, for the library itself ----*- C++ -*-===//
//
// What the collectives between nodes need of an engine, and programs do not.
#ifndef IRIS_RT_INTERNODE_INTERNODEACCESS_H
#define IRIS_RT_INTERNODE_INTERNODEACCESS_H

#include "internode/NcclEngine.h"

#include <chrono>

namespace iris::rt {

struct InterNodeAccess {
  /// The engine, if its transfers are enqueued on streams; else null.
  static std::shared_ptr<NcclEngine> onStreams(InterNode &engine);
  /// The time limit of transfers.
  static std::chrono::nanoseconds limitOf(InterNode &engine);
};

} // namespace iris::rt

#endif // IRIS_RT_INTERNODE_INTERNODEACCESS_H
