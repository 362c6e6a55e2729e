// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Workspace.h - Layout of a communicator's workspace -------*- C++ -*-===//
//
// All kernels of a communicator share one workspace: zero at first, never
// reset. Offsets are in bytes.
//
//   barrier lines   one per program and member: the state of iris.barrier
//   epoch           two lines: calls that used packets; programs of the present
//                   one that are done
//   locks           one line each, of the spinlock variant
//   mail            send and recv: counters and boxes, per program and member
//   packets         two halves, for even and odd epochs
//   scratch         staged inputs and outputs, ring slots
//
// Packets and scratch are used in different ways by different variants, one
// kernel after the other. Scratch holds nothing between kernels. What packets
// hold is told from what they held by their epoch.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_KERNELS_WORKSPACE_H
#define IRIS_KERNELS_WORKSPACE_H

#include <cstdint>

namespace mlir::iris::workspace {

/// A cache line of its own.
inline constexpr int64_t kLine = 128;
/// Most programs of a launch, and most members of a group.
inline constexpr int64_t kMaxPrograms = 128;
inline constexpr int64_t kMaxMembers = 8;

inline constexpr int64_t kBarrier = 0;
inline constexpr int64_t kBarrierBytes = kLine * kMaxPrograms * kMaxMembers;
inline constexpr int64_t kEpoch = kBarrier + kBarrierBytes;
inline constexpr int64_t kLocks = kEpoch + 2 * kLine;
inline constexpr int64_t kNumLocks = 256;
inline constexpr int64_t kLockBytes = kLine * kNumLocks;
/// Counters of send and recv: two lines per program and member.
inline constexpr int64_t kMailCounters = kLocks + kLockBytes;
inline constexpr int64_t kMailPrograms = 16;
inline constexpr int64_t kMailCounterBytes =
    2 * kLine * kMailPrograms * kMaxMembers;
/// Two boxes per program and sender.
inline constexpr int64_t kMailBoxes = kMailCounters + kMailCounterBytes;
inline constexpr int64_t kMailBoxBytes = int64_t(16) << 10;
inline constexpr int64_t kMailBytes =
    2 * kMailBoxBytes * kMailPrograms * kMaxMembers;
inline constexpr int64_t kPackets = kMailBoxes + kMailBytes;
/// Packets of one parity.
inline constexpr int64_t kPacketBytes = int64_t(8) << 20;
inline constexpr int64_t kScratch = kPackets + 2 * kPacketBytes;
inline constexpr int64_t kScratchBytes = int64_t(8) << 20;
inline constexpr int64_t kBytes = kScratch + kScratchBytes;

} // namespace mlir::iris::workspace

#endif // IRIS_KERNELS_WORKSPACE_H
