// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Config.cpp - Options of ncclConfig_t -------------------------------===//
#include "Config.h"

#include <cstddef>

using namespace iris::nccl;
using namespace iris::rt;

/// The bytes of a config that ends behind an option.
#define IRIS_SIZE_WITH(option)                                                 \
  (offsetof(ncclConfig_t, option) + sizeof(ncclConfig_t::option))

static Status readBlocking(const ncclConfig_t &config, Config &values) {
  if (config.blocking == NCCL_CONFIG_UNDEF_INT)
    return Status::success();
  if (config.blocking != 0 && config.blocking != 1)
    return makeStatus(StatusCode::invalidArgument,
                      "the config's 'blocking' is %d; expected 0 or 1",
                      config.blocking);
  values.isBlocking = config.blocking == 1;
  return Status::success();
}

static Status readCTAs(const ncclConfig_t &config, Config &values) {
  if (config.size < IRIS_SIZE_WITH(maxCTAs))
    return Status::success();
  auto isSet = [](int value) { return value != NCCL_CONFIG_UNDEF_INT; };
  if (isSet(config.maxCTAs))
    values.maxCTAs = config.maxCTAs;
  const int least = isSet(config.minCTAs) ? config.minCTAs : 1;
  if (least < 1 || (isSet(config.maxCTAs) && config.maxCTAs < least))
    return makeStatus(StatusCode::invalidArgument,
                      "the config's 'minCTAs' is %d and 'maxCTAs' %d; expected "
                      "at least 1, and no less of the latter",
                      least, isSet(config.maxCTAs) ? config.maxCTAs : least);
  return Status::success();
}

Expected<Config> iris::nccl::readConfig(const ncclConfig_t *config,
                                        const Config &inherited) {
  Config values = inherited;
  if (!config)
    return values;
  // Every version has the fields up to this one.
  if (config->magic != NCCL_CONFIG_MAGIC ||
      config->size < IRIS_SIZE_WITH(blocking))
    return makeStatus(StatusCode::invalidArgument,
                      "the config has magic 0x%x and size %zu; expected one "
                      "that NCCL_CONFIG_INITIALIZER has initialized",
                      config->magic, config->size);
  IRISRT_RETURN_IF_ERROR(readBlocking(*config, values));
  IRISRT_RETURN_IF_ERROR(readCTAs(*config, values));
  return values;
}
