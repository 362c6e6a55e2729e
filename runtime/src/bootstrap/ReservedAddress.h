// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReservedAddress.h - Addresses of jobs to come ------------*- C++ -*-===//
#ifndef IRIS_RT_BOOTSTRAP_RESERVEDADDRESS_H
#define IRIS_RT_BOOTSTRAP_RESERVEDADDRESS_H

#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <optional>
#include <string>

namespace iris::rt {

/// Takes the socket with which reserveAddress() listens at the address, or a
/// copy of it if the address is a lasting one; none if there is no such socket.
Expected<std::optional<UniqueFd>> takeAddress(const std::string &address);

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_RESERVEDADDRESS_H
