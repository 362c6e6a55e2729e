// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the host sides of a group come to the same conclusion.
#ifndef IRIS_RT_CCL_AGREEMENT_H
#define IRIS_RT_CCL_AGREEMENT_H

#include "iris/rt/World.h"

#include <string>
#include <vector>

namespace iris::ccl {

/// Exchanges among the members of a group, on a channel of its own.
class Agreement {
public:
  Agreement(rt::World &world, const rt::Group &group, uint32_t channel)
      : world_(world), group_(group), channel_(channel) {}

  /// An error, the same on every member, unless all pass the same text.  `what`
  /// says what it is about.
  rt::Status same(const char *what, const std::string &mine);

  /// Success if all members pass success; else one's own failure, or that of
  /// the first member that has one, with its rank before it.
  rt::Status succeeded(const rt::Status &mine);

  /// The same with a number, of which the least is returned.
  rt::Expected<uint64_t> least(const rt::Expected<uint64_t> &mine);

private:
  rt::World &world_;
  const rt::Group &group_;
  uint32_t channel_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_AGREEMENT_H
