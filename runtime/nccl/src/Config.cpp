// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Config.cpp - Options of ncclConfig_t -------------------------------===//
#include "Config.h"

using namespace iris::nccl;
using namespace iris::rt;

Expected<bool> iris::nccl::readBlocking(const ncclConfig_t *config,
                                        bool inherited) {
  if (!config)
    return inherited;
  // Every version has the fields up to this one.
  constexpr size_t least = offsetof(ncclConfig_t, blocking) + sizeof(int);
  if (config->magic != NCCL_CONFIG_MAGIC || config->size < least)
    return makeStatus(StatusCode::invalidArgument,
                      "the config has magic 0x%x and size %zu; expected one "
                      "that NCCL_CONFIG_INITIALIZER has initialized",
                      config->magic, config->size);
  if (config->blocking == NCCL_CONFIG_UNDEF_INT)
    return inherited;
  if (config->blocking != 0 && config->blocking != 1)
    return makeStatus(StatusCode::invalidArgument,
                      "the config's 'blocking' is %d; expected 0 or 1",
                      config->blocking);
  return config->blocking == 1;
}
