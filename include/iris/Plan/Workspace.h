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
//   FIFO slots        fifoDepth per program and sender
//   FIFO packets      the same for short messages, in packets
//   packets           of the LL protocol, in two halves: for even and for odd
//                     epochs
//   scratch           slots of rings; in two halves, for even and for odd
//                     epochs, slots of buffered variants, of two_shot_push and
//                     of staged operations with a root
//
// Variants use packets and scratch in different ways;
// docs/internals/collectives.md has the reasons why a rank may store there
// while a peer still runs an earlier kernel. A packet's epoch tells a new
// packet from an old one.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_WORKSPACE_H
#define IRIS_PLAN_WORKSPACE_H

#include <algorithm>
#include <cstdint>

namespace irisplan {

/// The offsets in a workspace of some size. All kernels that share it are
/// generated for the same size.
struct Workspace {
  /// The number of the layout: kernels of different layouts must not share a
  /// workspace.
  static constexpr int64_t layout = 12;
  /// Bytes between words that must not share a cache line.
  static constexpr int64_t line = 128;
  /// The maximum number of programs of a launch, and of ranks of a group, of
  /// kernels that serve groups of any size.
  static constexpr int64_t maxPrograms = 128;
  static constexpr int64_t maxAnyMembers = 8;
  /// The maximum number of ranks of a group. In groups of more than
  /// maxAnyMembers ranks, which kernels of their own size serve, launches have
  /// half the programs, each with room for twice as many members.
  static constexpr int64_t maxMembers = 16;

  /// Members for which each program has lines and words in a group of
  /// `members`, and the maximum number of programs.
  static constexpr int64_t membersIn(int64_t members) {
    return members > maxAnyMembers ? maxMembers : maxAnyMembers;
  }
  static constexpr int64_t programsOf(int64_t members) {
    return maxPrograms * maxAnyMembers / membersIn(members);
  }

  static constexpr int64_t barrier = 0;
  static constexpr int64_t barrierBytes = line * maxPrograms * maxAnyMembers;
  static constexpr int64_t epochs = barrier + barrierBytes;
  static constexpr int64_t epochBytes = 4 * maxPrograms;
  static constexpr int64_t pointerExchange = epochs + epochBytes;
  static constexpr int64_t pointerExchangeBytes =
      16 * maxPrograms * maxAnyMembers;
  static constexpr int64_t fifoCounters =
      pointerExchange + pointerExchangeBytes;
  /// Programs of a send or receive, and slots that one of them has with one
  /// peer: a power of two. Two, as large as the memory allows: much of the time
  /// of a step does not depend on its size (2.6 us on an H100), and a receiver,
  /// which copies within its memory, is done before the sender
  /// (benchmarks/results/nvidia-h100-x2/README.md). Two ranks have no other
  /// peers, whose slots would be smaller: twice the programs hide that time.
  static constexpr int64_t fifoPrograms(int64_t members) {
    return members <= 2 ? maxPrograms : programsOf(members) / 2;
  }
  static constexpr int64_t fifoDepth = 2;
  /// Senders that a program has slots for: of two ranks only one sends to the
  /// other, whose slots are twice as large.
  static constexpr int64_t fifoSenders(int64_t members) {
    return members == 2 ? 1 : members;
  }
  /// The most programs times members.
  static constexpr int64_t mostFifos = 64 * maxAnyMembers;
  static constexpr int64_t fifoCounterBytes = 2 * line * mostFifos;
  static constexpr int64_t fifoSlots = fifoCounters + fifoCounterBytes;

  /// Bytes of an arrival packet, which has four words, and of one from each
  /// rank. They follow the data packets where not every rank sends data to
  /// every peer.
  static constexpr int64_t arrivalBytes = 32;
  static constexpr int64_t allArrivalBytes(int64_t members) {
    return arrivalBytes * membersIn(members);
  }

  static constexpr int64_t minBytes = int64_t(512) << 10;
  static constexpr int64_t maxBytes = int64_t(1) << 30;
  static constexpr int64_t defaultBytes = int64_t(56) << 20;

  explicit Workspace(int64_t bytes = defaultBytes)
      : bytes(bytes), fifoBytes(getFifoBytes(bytes)),
        fifoPacketBytes(std::max(fifoBytes / 8, leastFifoPacketBytes)),
        unit((bytes - packets()) / 30 / line * line) {}

  /// Bytes of a slot of send and recv, and of its packets, in a group of
  /// `members`: multiples of 16.
  int64_t fifoSlotBytes(int64_t members) const {
    return fifoBytes / fifoSlotsOf(members) / 16 * 16;
  }
  int64_t fifoSlotPacketBytes(int64_t members) const {
    return fifoPacketBytes / fifoSlotsOf(members) / 16 * 16;
  }
  int64_t fifoPackets() const { return fifoSlots + fifoBytes; }
  /// Of the bytes from here on, 10 in 30 are packets and the rest scratch.
  int64_t packets() const { return fifoPackets() + fifoPacketBytes; }
  /// Of even, or of odd, epochs.
  int64_t packetBytes() const { return 5 * unit; }
  int64_t scratch() const { return packets() + 10 * unit; }
  int64_t scratchBytes() const { return 20 * unit; }

  int64_t bytes;

private:
  /// The largest power of two that is at most a quarter of what follows the
  /// FIFO counters: tiles, whose sizes are powers of two, then fill the slots
  /// of groups of 2, 4 and 8.
  static constexpr int64_t getFifoBytes(int64_t bytes) {
    int64_t fifo = line;
    while (fifo * 2 <= (bytes - fifoSlots) / 4)
      fifo *= 2;
    return fifo;
  }

  static constexpr int64_t fifoSlotsOf(int64_t members) {
    return fifoDepth * fifoPrograms(members) * fifoSenders(members);
  }

  /// Packets of 16 bytes of data for every slot of the largest group.
  static constexpr int64_t leastFifoPacketBytes = 32 * fifoDepth * mostFifos;

  int64_t fifoBytes, fifoPacketBytes;
  int64_t unit;
};

} // namespace irisplan

#endif // IRIS_PLAN_WORKSPACE_H
