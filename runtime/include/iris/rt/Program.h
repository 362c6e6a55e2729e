// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Program.h - Runs the @main of a package ------------------*- C++ -*-===//
#ifndef IRIS_RT_PROGRAM_H
#define IRIS_RT_PROGRAM_H

#include "iris/rt/Package.h"
#include "iris/rt/Status.h"
#include "iris/rt/World.h"

#pragma GCC visibility push(default)
namespace iris::rt {

/// Loads the package on the world's device, runs its `@main` on this rank, then
/// syncs. Returns the first error that occurred in `@main`. Collective.
Status runProgram(World &world, const Package &package);

/// Removes files of killed ranks from the rendezvous directory. For launchers,
/// after their ranks have ended; worlds also do it.
void cleanUpRendezvous();

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_PROGRAM_H
