// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Agreement.h - Agreement between the host sides of a group ----------===//
#ifndef IRIS_RT_CCL_AGREEMENT_H
#define IRIS_RT_CCL_AGREEMENT_H

#include "iris/rt/World.h"

#include <string>
#include <string_view>
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
  /// rank; a device error is `aborted` on the other ranks.
  rt::Status succeeded(const rt::Status &mine);

  /// Like succeeded(), for ranks that also pass a number. Returns the minimum.
  rt::Expected<uint64_t> least(const rt::Expected<uint64_t> &mine);

  /// The same for several numbers, at most 100 of them and as many on every
  /// rank. Returns the maximum of each.
  rt::Expected<std::vector<double>>
  greatest(const rt::Expected<std::vector<double>> &mine);

  /// Returns the texts of all ranks, at most 1024 bytes each.
  rt::Expected<std::vector<std::string>> all(const std::string &mine);

  /// Returns the text of the group's first rank, at most 1024 bytes, on all of
  /// them. What other ranks pass is ignored.
  rt::Expected<std::string> first(const std::string &mine);

  /// The same for a text of up to 1 MiB, in several exchanges.
  rt::Expected<std::string> firstText(const std::string &mine);

private:
  /// Gathers a status, and the bytes of ranks whose status is success. Fails on
  /// all ranks if one of them failed.
  rt::Expected<std::vector<std::string>> gather(const rt::Status &mine,
                                                std::string_view bytes);

  rt::World &world_;
  const rt::Group &group_;
  uint32_t channel_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_AGREEMENT_H
