// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Agreement.h - Agreement between the host sides of a group ----------===//
#ifndef IRIS_RT_CCL_AGREEMENT_H
#define IRIS_RT_CCL_AGREEMENT_H

#include "iris/rt/World.h"

#include <string>
#include <vector>

namespace iris::ccl {

/// Exchanges between the ranks of a group, on a private channel. Every call is
/// collective over the group.
class Agreement {
public:
  Agreement(rt::World &world, const rt::Group &group, uint32_t channel)
      : world_(world), group_(group), channel_(channel) {}

  /// Returns the same error on every rank unless all ranks pass the same text.
  /// `what` names the compared thing in the message.
  rt::Status same(const char *what, const std::string &mine);

  /// Succeeds if every rank passes success. Otherwise returns this rank's own
  /// error, or the error of the first rank that failed, prefixed with that
  /// rank.
  rt::Status succeeded(const rt::Status &mine);

  /// Like succeeded(), for ranks that also pass a number. Returns the minimum.
  rt::Expected<uint64_t> least(const rt::Expected<uint64_t> &mine);

private:
  rt::World &world_;
  const rt::Group &group_;
  uint32_t channel_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_AGREEMENT_H
