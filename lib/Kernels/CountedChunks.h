// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CountedChunks.h - Chunks with counts in device memory ----*- C++ -*-===//
//
// The common code of the generators of all_to_all_v and all_gather_v. A kernel
// reads counts and offsets when it runs, so that they may change between two
// replays of a graph. Every rank checks its counts and offsets against its
// buffers before it announces them to a peer, and compares the counts of sender
// and receiver before it moves data: see Counts in
// docs/internals/collectives.md.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_KERNELS_COUNTEDCHUNKS_H
#define IRIS_LIB_KERNELS_COUNTEDCHUNKS_H

#include "iris/Kernels/CollectiveKernels.h"

#include <optional>

namespace mlir::iris {

class CountedChunks {
public:
  /// A range of a buffer, in elements.
  struct Range {
    Value offset, length;
  };
  /// The announcement of a member: a range, the form of its call (formOf in
  /// CountedChunks.cpp), and the offset of the buffer that peers access.
  struct Announcement : Range {
    Value form, bufferOffset;
  };
  /// A member, and the ranges that this rank exchanges with it.
  struct Peer {
    Value member;
    Range sent, received;
    /// After `exchange`, where the group's size is known; see announcedBy.
    std::optional<Announcement> announced;
  };

  /// Reads the counts and offsets, and checks them against the buffers.
  explicit CountedChunks(KernelBuilder &k);

  /// body(peer) for the members me + first, me + first + 1, ...; `first` is 0
  /// or 1.
  void forPeers(int64_t first, llvm::function_ref<void(const Peer &)> body);
  /// Announces a range to each member, and runs a barrier with the peer
  /// programs. After it, every member's announcement has arrived and is checked
  /// to come from the same call. `shared`: the buffer that peers access, at the
  /// same offset in all heaps; null if there is none. Called once in a kernel,
  /// which runs another barrier later.
  void exchange(Value shared, llvm::function_ref<Range(const Peer &)> announce);
  /// The announcement of a member, after `exchange` and before the barrier that
  /// follows it: a member's next call overwrites it.
  Announcement announcedBy(const Peer &peer);
  /// Ends the kernel, and fails the world, if the numbers of bytes of sender
  /// and receiver differ.
  void checkPair(const Range &sent, const Range &expected);
  /// body(offset) for this program's tiles of the `length` elements that
  /// `source` sends to `target`. A tile has the same program on both.
  void forTiles(Value source, Value target, Value length,
                llvm::function_ref<void(Value)> body);

  /// The kernel's body after the constructor, for each variant.
  void buildPush();
  void buildPull();
  void buildBuffered();

  /// all_gather_v: the number of elements that this rank sends to every member.
  Value ownLength();

private:
  Peer read(Value member);
  Peer readAgain(Value i);
  /// The maximum of number(peer) over all members.
  Value largestOf(llvm::function_ref<Value(const Peer &)> number);
  void check(const Range &rows, Value capacity, StringRef buffer);
  Range toElements(const Range &rows);
  Announcement readAnnouncement(Value member);
  /// Ends the kernel, and fails the world, if a member makes another call.
  void checkCall(const Announcement &announced, Value form, Value bufferOffset);

  KernelBuilder &k;
  /// The number of elements in a row; counts and offsets are in rows.
  Value unit;
  /// The capacity of the buffers, in rows.
  Value inRows, outRows;
  /// The members me, me + 1, ...; empty if the group's size is unknown.
  SmallVector<Peer> peers;
};

} // namespace mlir::iris

#endif // IRIS_LIB_KERNELS_COUNTEDCHUNKS_H
