// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Workspace.h - Layout of a communicator's workspace -------*- C++ -*-===//
//
// All kernels of a communicator share one workspace: zero at first, never
// reset. Offsets are in bytes.
//
//   barrier lines   one per program and member: the state of iris.barrier
//   epochs          a word per program, all the same between kernels: rounds
//                   that used packets or buffers so far
//   places          two words per program and member, where it announces a
//                   buffer: the distance in bytes from the workspace; or a
//                   chunk, in four words for each of half the programs
//   FIFO counters   of send and recv: two lines per program and member
//   FIFO slots      two per program and sender
//   packets         two halves, for even and odd epochs
//   scratch         staged inputs and outputs, ring slots; in two halves, for
//                   even and odd epochs, slots of buffered variants and of
//                   two_shot_push
//
// Packets and scratch are used in different ways by different variants; see
// docs/internals/collectives.md for why one may store there while another rank
// is not yet done with an earlier kernel. What packets hold is told from what
// they held by their epoch.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_WORKSPACE_H
#define IRIS_PLAN_WORKSPACE_H

#include <cstdint>

namespace irisplan {

/// The offsets in a workspace of some size. All kernels that share it are
/// generated for the same size.
struct Workspace {
  /// The number of the layout: kernels of different layouts must not share a
  /// workspace.
  static constexpr int64_t layout = 7;
  /// A cache line of its own.
  static constexpr int64_t line = 128;
  /// Most programs of a launch, and most members of a group.
  static constexpr int64_t maxPrograms = 128;
  static constexpr int64_t maxMembers = 8;

  static constexpr int64_t barrier = 0;
  static constexpr int64_t barrierBytes = line * maxPrograms * maxMembers;
  static constexpr int64_t epochs = barrier + barrierBytes;
  static constexpr int64_t epochBytes = 4 * maxPrograms;
  static constexpr int64_t places = epochs + epochBytes;
  static constexpr int64_t placeBytes = 16 * maxPrograms * maxMembers;
  static constexpr int64_t fifoCounters = places + placeBytes;
  static constexpr int64_t fifoPrograms = 16;
  static constexpr int64_t fifoCounterBytes =
      2 * line * fifoPrograms * maxMembers;
  static constexpr int64_t fifoSlots = fifoCounters + fifoCounterBytes;

  /// Bytes of a packet of four words, and of one from each member; they follow
  /// the others where not every member sends data to every other one.
  static constexpr int64_t arrivalBytes = 32;
  static constexpr int64_t allArrivalBytes = arrivalBytes * maxMembers;

  static constexpr int64_t minBytes = int64_t(512) << 10;
  static constexpr int64_t maxBytes = int64_t(1) << 30;
  static constexpr int64_t defaultBytes = int64_t(56) << 20;

  explicit Workspace(int64_t bytes = defaultBytes)
      : bytes(bytes), unit((bytes - fifoSlots) / 32 / line * line) {}

  /// Of what follows the flags, 2 parts in 32 are for send and recv, 10 for
  /// packets, the rest for scratch.
  int64_t fifoSlotBytes() const {
    return 2 * unit / (2 * fifoPrograms * maxMembers) / 16 * 16;
  }
  int64_t packets() const { return fifoSlots + 2 * unit; }
  /// Of one parity.
  int64_t packetBytes() const { return 5 * unit; }
  int64_t scratch() const { return packets() + 10 * unit; }
  int64_t scratchBytes() const { return 20 * unit; }

  int64_t bytes;

private:
  int64_t unit;
};

} // namespace irisplan

#endif // IRIS_PLAN_WORKSPACE_H
