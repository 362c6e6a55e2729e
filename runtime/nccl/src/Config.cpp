// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Config.cpp - Options of ncclConfig_t -------------------------------===//
#include "Config.h"
#include "iris/rt/Env.h"

#include <climits>
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

static Status readPolicy(const ncclConfig_t &config, Config &values) {
  if (config.size < IRIS_SIZE_WITH(CTAPolicy) ||
      config.CTAPolicy == NCCL_CONFIG_UNDEF_INT)
    return Status::success();
  constexpr int all = NCCL_CTA_POLICY_EFFICIENCY | NCCL_CTA_POLICY_ZERO;
  if (config.CTAPolicy < 0 || config.CTAPolicy > all)
    return makeStatus(StatusCode::invalidArgument,
                      "the config's 'CTAPolicy' is %d; expected 0 to %d",
                      config.CTAPolicy, all);
  values.ctaPolicy = config.CTAPolicy;
  return Status::success();
}

/// Options that have no effect here; their values are checked as NCCL does.
static Status checkOthers(const ncclConfig_t &config) {
  struct Option {
    const char *name;
    int ncclConfig_t::*member;
    /// Where a config with the option ends; older ones have fewer.
    size_t end;
    int least, most;
  };
#define IRIS_OPTION(name, least, most)                                         \
  { #name, &ncclConfig_t::name, IRIS_SIZE_WITH(name), least, most }
  static constexpr Option options[] = {
      IRIS_OPTION(cgaClusterSize, 0, INT_MAX),
      IRIS_OPTION(splitShare, 0, 1),
      IRIS_OPTION(collnetEnable, 0, 1),
      IRIS_OPTION(shrinkShare, 0, 1),
      IRIS_OPTION(nvlsCTAs, 1, INT_MAX),
      IRIS_OPTION(nChannelsPerNetPeer, 1, 64),
      IRIS_OPTION(nvlinkCentricSched, 0, 1),
  };
#undef IRIS_OPTION
  for (const Option &option : options) {
    if (config.size < option.end)
      continue;
    const int value = config.*option.member;
    if (value != NCCL_CONFIG_UNDEF_INT &&
        (value < option.least || value > option.most))
      return makeStatus(StatusCode::invalidArgument,
                        "the config's '%s' is %d; expected %d to %d",
                        option.name, value, option.least, option.most);
  }
  return Status::success();
}

/// Variables of the environment come before the config, as with NCCL.
static Config withEnvironment(Config values) {
  values.isBlocking = Env::get().ncclCommBlocking().value_or(values.isBlocking);
  values.maxCTAs = Env::get().ncclMaxCtas().value_or(values.maxCTAs);
  values.ctaPolicy = Env::get().ncclCtaPolicy().value_or(values.ctaPolicy);
  return values;
}

Expected<Config> iris::nccl::readConfig(const ncclConfig_t *config,
                                        const Config &inherited) {
  Config values = inherited;
  if (!config)
    return withEnvironment(values);
  // Every version has the fields up to this one.
  if (config->magic != NCCL_CONFIG_MAGIC ||
      config->size < IRIS_SIZE_WITH(blocking))
    return makeStatus(StatusCode::invalidArgument,
                      "the config has magic 0x%x and size %zu; expected one "
                      "that NCCL_CONFIG_INITIALIZER has initialized",
                      config->magic, config->size);
  IRISRT_RETURN_IF_ERROR(readBlocking(*config, values));
  IRISRT_RETURN_IF_ERROR(readCTAs(*config, values));
  IRISRT_RETURN_IF_ERROR(readPolicy(*config, values));
  IRISRT_RETURN_IF_ERROR(checkOthers(*config));
  return withEnvironment(values);
}
