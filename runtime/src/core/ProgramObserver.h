// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramObserver.h - Sees the buffers of a program --------*- C++ -*-===//
#ifndef IRIS_RT_CORE_PROGRAMOBSERVER_H
#define IRIS_RT_CORE_PROGRAMOBSERVER_H

#include "iris/rt/Program.h"

#include <cstdint>
#include <string>
#include <vector>

// Of tools that are built with the library.
#pragma GCC visibility push(default)
namespace iris::rt {

/// A buffer of `iris.alloc` that the program has not freed.
struct ProgramBuffer {
  /// The number of the allocation on this rank, from 0, in program order.
  /// Memory that the compiler adds for collectives and matmuls has none.
  uint64_t number;
  uint64_t address;
  uint64_t bytes;
};

/// Sees the buffers of this rank at every `iris.sync` and at the end of
/// `@main`, while no rank's kernel runs.
class ProgramObserver {
public:
  virtual ~ProgramObserver() = default;
  /// \param buffers the live ones, by number
  virtual Status atSync(World &world,
                        const std::vector<ProgramBuffer> &buffers) = 0;
};

/// runProgram with an observer. Every rank has one, or none has.
/// \retval invalidArgument the package is of a compiler that does not number
///   allocations
Status runProgram(World &world, const Package &package,
                  ProgramObserver &observer);

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_CORE_PROGRAMOBSERVER_H
