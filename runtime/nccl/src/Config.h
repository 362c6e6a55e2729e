// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Config.h - Options of ncclConfig_t -----------------------*- C++ -*-===//
#ifndef IRIS_NCCL_CONFIG_H
#define IRIS_NCCL_CONFIG_H

#include "iris-nccl/nccl.h"
#include "iris/rt/Status.h"

namespace iris::nccl {

/// Reads whether calls of the communicator are blocking.
/// \param config the options of any version of NCCL since 2.14; may be null
/// \param inherited the value where the options have none
/// \retval invalidArgument it was not initialized, or a value is invalid
rt::Expected<bool> readBlocking(const ncclConfig_t *config, bool inherited);

} // namespace iris::nccl

#endif // IRIS_NCCL_CONFIG_H
