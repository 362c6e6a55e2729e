// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a variant is expected to take.
#ifndef IRIS_RT_CCL_COSTMODEL_H
#define IRIS_RT_CCL_COSTMODEL_H

#include "iris/ccl/Selector.h"

namespace iris::ccl {

/// What is known of a kind of device and its links.  Times are microseconds,
/// rates bytes per microsecond (1000 = 1 GB/s).
struct LinkModel {
  /// Where the numbers come from.
  const char *source;
  /// From the start of a kernel to its end, if it does nothing.
  double kernel;
  /// One barrier of all members: release, flags, acquire.
  double barrier;
  /// From a packet's store to its arrival.
  double packet;
  /// What one rank stores to, or loads from, all its peers at once; for links
  /// between pairs, `perPeer` of them each.
  double push, pull;
  double perPeer;
  /// Copies in own memory.
  double local;
};

const LinkModel &linkModelOf(rt::DeviceKind device);

/// Microseconds that a call of this variant is expected to take.
double estimate(const LinkModel &link, const Situation &situation,
                const std::string &variant);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_COSTMODEL_H
