// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel of a collective is expected to take:
//
//   start + programs * program + (turns * turn with bytes / rate)
//
// Turns are the tiles that the busiest program does one after another, bytes
// those that cross the busiest link; "with" is the sum, or the root of the sum
// of squares where the two overlap.  How many there are follows from the
// variant; the constants are measured where there are measurements, and
// otherwise derived from a few numbers of the device.
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
  /// What a program's tile costs that other programs do not hide.
  double turn;
  /// What one rank stores to, or loads from, all its peers at once; for links
  /// between pairs, `perPeer` of them each.
  double push, pull;
  double perPeer;
  /// Copies in own memory.
  double local;
  /// What a thread's element costs for each member, where a tile is accessed
  /// element by element: one that is not whole, or buffers that are not aligned
  /// to 16 bytes.
  double partial;
  /// Threads of a warp.
  int64_t lanes;
  /// Numbers of programs to choose from, in ascending order.
  std::vector<int64_t> programs;
};

const LinkModel &linkModelOf(rt::DeviceKind device);

/// A kernel that may be chosen, and its constants.
struct KernelModel {
  Op op;
  const char *variant;
  /// The tile and the warps that are asked for; 0: the generator's defaults.
  int64_t tileBytes;
  int64_t warps;
  /// Times of a group without peers, and what 7 peers add.
  double start, startPeers;
  double turn, turnPeers;
  double program;
  /// 0: that of the link.
  double rate;
  /// Whether turns and the transfer of bytes overlap.
  bool overlaps;
};

/// The kernels of an operation on a device, for buffers on the heap or others:
/// those that were measured, or if none was, one of each variant.  A guess does
/// not compete with measurements.
std::vector<KernelModel> kernelModelsOf(rt::DeviceKind device, Op op,
                                        bool onHeap = true);

/// Whether all that peers get goes through the workspace: buffers may be
/// anywhere, and nothing is staged for it.
bool isThroughWorkspace(const std::string &variant);

/// What is asked for, in elements as Config::tile is.
int64_t tileOf(const KernelModel &kernel, DType dtype, int64_t lanes);

/// Microseconds that a call is expected to take with that many programs.
double estimate(const LinkModel &link, const KernelModel &kernel,
                const TuningKey &tuningKey, int64_t programs);

/// The largest chunk for which a variant is considered: what it does at once,
/// for those that go through the workspace.  They take larger ones in rounds,
/// for which nothing speaks but that a buffer is not on the heap.
uint64_t roomOf(const std::string &variant, const TuningKey &tuningKey);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_COSTMODEL_H
