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
/// \param world the world
/// \param package a package with a `@main`
/// \retval invalidArgument the package has no `@main`
/// \retval failedPrecondition WorldOptions::refuseHostCode forbids to run it
Status runProgram(World &world, const Package &package);

/// Chooses the directory in which the ranks of a job find each other: the first
/// of Env::rendezvousDirs that is private to this user or can be created so.
/// For
/// launchers, before they start ranks: they pass it on in IRIS_RENDEZVOUS_DIR.
/// \return the path of the directory
/// \retval failedPrecondition other users can access all of them
/// \retval unavailable none can be created
Expected<std::string> chooseRendezvous();

/// Removes files of killed ranks from the rendezvous directory. For launchers,
/// after their ranks have ended; worlds also do it.
void cleanUpRendezvous();

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_PROGRAM_H
