// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NodeName.h - Which ranks share memory --------------------*- C++ -*-===//
#ifndef IRIS_RT_CORE_NODENAME_H
#define IRIS_RT_CORE_NODENAME_H

#include "iris/rt/Status.h"

#include <string>

namespace iris::rt {

/// The name of the node that this process is on: processes with the same name
/// can share memory. They need the same machine, since it was started, the same
/// mount namespace, where they find each other's sockets, and the same user.
Expected<std::string> nodeName();

} // namespace iris::rt

#endif // IRIS_RT_CORE_NODENAME_H
