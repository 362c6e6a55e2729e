// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EngineLibrary.h - A library with an engine ---------------*- C++ -*-===//
#ifndef IRIS_RT_INTERNODE_ENGINELIBRARY_H
#define IRIS_RT_INTERNODE_ENGINELIBRARY_H

#include "iris-c/InterNode.h"
#include "iris/rt/Status.h"

#include <string>

namespace iris::rt {

/// Opens a library and checks the version of its interface. It stays open until
/// the process ends. Signal handlers that it installs are removed again: the
/// signals are the program's.
/// \param path empty: libiris_ucx.so beside this library
/// \retval unavailable the system cannot open it
/// \retval failedPrecondition it has another interface
Expected<const IrisRtInterNodeApi *> openEngineLibrary(const std::string &path);

} // namespace iris::rt

#endif // IRIS_RT_INTERNODE_ENGINELIBRARY_H
