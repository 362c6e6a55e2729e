// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the `@main` of a package: the host side of a self-checking program.
#ifndef IRIS_RT_PROGRAM_H
#define IRIS_RT_PROGRAM_H

#include "iris/rt/Package.h"
#include "iris/rt/Status.h"
#include "iris/rt/World.h"

#pragma GCC visibility push(default)
namespace iris::rt {

/// Loads the package on the world's device, runs its `@main` on this rank, then
/// syncs.  The status is the first error that `@main` met.  Collective.
Status runProgram(World &world, const Package &package);

/// Removes what ranks that were killed while they met left in the rendezvous
/// directory.  For launchers, after their ranks are gone; worlds do it, too.
void cleanUpRendezvous();

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_PROGRAM_H
