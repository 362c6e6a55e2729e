// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Workspace.h - Layout of a communicator's workspace -------*- C++ -*-===//
//
// All kernels of a communicator share one workspace, which is zeroed once and
// never reset. Offsets are in bytes. "Rank" is a rank of the group.
//
//   barrier lines     one per program and rank: the state of iris.barrier
//   epochs            a word per program, equal in all programs between
//                     kernels: the number of rounds that used packets or
//                     buffers so far
//   pointer exchange  two words per program and rank, in which that rank tells
//                     its peers where its buffer is, for direct access: the
//                     offset in bytes from the workspace. Of collectives with
//                     counts, four words for each of half the programs: the
//                     chunk's offset and length, too
//   FIFO counters     head and tail of send and recv: two lines per program and
//                     peer
//   FIFO slots        two per program and sending rank
//   packets           of the LL protocol, in two halves: for even and for odd
//                     epochs
//   scratch           staged inputs and outputs, and slots of rings; in two
//                     halves, for even and for odd epochs, slots of buffered
//                     variants and of two_shot_push
//
// Variants use packets and scratch in different ways;
// docs/internals/collectives.md has the reasons why a rank may store there
// while a peer still runs an earlier kernel. A packet's epoch tells a new
// packet from an old one.
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
  /// Bytes between words that must not share a cache line.
  static constexpr int64_t line = 128;
  /// The maximum number of programs of a launch, and of ranks of a group.
  static constexpr int64_t maxPrograms = 128;
  static constexpr int64_t maxMembers = 8;

  static constexpr int64_t barrier = 0;
  static constexpr int64_t barrierBytes = line * maxPrograms * maxMembers;
  static constexpr int64_t epochs = barrier + barrierBytes;
  static constexpr int64_t epochBytes = 4 * maxPrograms;
  static constexpr int64_t pointerExchange = epochs + epochBytes;
  static constexpr int64_t pointerExchangeBytes = 16 * maxPrograms * maxMembers;
  static constexpr int64_t fifoCounters =
      pointerExchange + pointerExchangeBytes;
  static constexpr int64_t fifoPrograms = 16;
  static constexpr int64_t fifoCounterBytes =
      2 * line * fifoPrograms * maxMembers;
  static constexpr int64_t fifoSlots = fifoCounters + fifoCounterBytes;

  /// Bytes of an arrival packet, which has four words, and of one from each
  /// rank. They follow the data packets where not every rank sends data to
  /// every peer.
  static constexpr int64_t arrivalBytes = 32;
  static constexpr int64_t allArrivalBytes = arrivalBytes * maxMembers;

  static constexpr int64_t minBytes = int64_t(512) << 10;
  static constexpr int64_t maxBytes = int64_t(1) << 30;
  static constexpr int64_t defaultBytes = int64_t(56) << 20;

  explicit Workspace(int64_t bytes = defaultBytes)
      : bytes(bytes), unit((bytes - fifoSlots) / 32 / line * line) {}

  /// Of the bytes after the FIFO counters, 2 in 32 are FIFO slots, 10 packets
  /// and the rest scratch.
  int64_t fifoSlotBytes() const {
    return 2 * unit / (2 * fifoPrograms * maxMembers) / 16 * 16;
  }
  int64_t packets() const { return fifoSlots + 2 * unit; }
  /// Of even, or of odd, epochs.
  int64_t packetBytes() const { return 5 * unit; }
  int64_t scratch() const { return packets() + 10 * unit; }
  int64_t scratchBytes() const { return 20 * unit; }

  int64_t bytes;

private:
  int64_t unit;
};

} // namespace irisplan

#endif // IRIS_PLAN_WORKSPACE_H
