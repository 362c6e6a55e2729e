// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Config.h - Options of ncclConfig_t -----------------------*- C++ -*-===//
#ifndef IRIS_NCCL_CONFIG_H
#define IRIS_NCCL_CONFIG_H

#include "iris-nccl/nccl.h"
#include "iris/rt/Status.h"

namespace iris::nccl {

/// The options that have an effect.
struct Config {
  /// Whether calls return when their work is enqueued. Otherwise they return
  /// ncclInProgress, and ncclCommGetAsyncError tells when it is.
  bool isBlocking = true;
  /// The most programs of a kernel; 0: no limit. The ranks use the smallest.
  int maxCTAs = 0;
  /// Bits of NCCL_CTA_POLICY_EFFICIENCY and NCCL_CTA_POLICY_ZERO; those of all
  /// ranks have an effect on each.
  int ctaPolicy = NCCL_CTA_POLICY_DEFAULT;
};

/// Reads the options of a communicator; NCCL_MAX_CTAS, NCCL_CTA_POLICY and
/// NCCL_COMM_BLOCKING come before them.
/// \param config the options of any version of NCCL since 2.14; may be null
/// \param inherited the values where the options have none
/// \retval invalidArgument it was not initialized, or a value is invalid
rt::Expected<Config> readConfig(const ncclConfig_t *config,
                                const Config &inherited);

} // namespace iris::nccl

#endif // IRIS_NCCL_CONFIG_H
