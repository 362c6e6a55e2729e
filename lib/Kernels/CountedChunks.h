// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CountedChunks.h - Chunks whose sizes are in device memory -*- C++
//-*-===//
//
// What the generators of all_to_all_v and all_gather_v share. Counts and
// offsets are read when the kernel runs, so that they may change between two
// replays of a graph. Every rank checks its own against its own buffers before
// it tells any peer of them, and pairs of counts against each other before it
// moves anything: see Counts in docs/internals/collectives.md.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_KERNELS_COUNTEDCHUNKS_H
#define IRIS_LIB_KERNELS_COUNTEDCHUNKS_H

#include "iris/Kernels/CollectiveKernels.h"

namespace mlir::iris {

class CountedChunks {
public:
  /// Elements of a buffer.
  struct Range {
    Value offset, length;
  };
  /// What a member announces: a range, how it runs the call, and where the
  /// buffer is that members access.
  struct Announcement : Range {
    Value form, bufferOffset;
  };
  /// What this rank exchanges with a member.
  struct Peer {
    Value member;
    Range sent, received;
    /// After `exchange`.
    Announcement announced;
  };

  /// Reads the counts and offsets, and checks them against the buffers.
  explicit CountedChunks(KernelBuilder &k);

  /// body(peer) for the members, from this rank on (`first` 0) or from the next
  /// one (1).
  void forPeers(int64_t first, llvm::function_ref<void(const Peer &)> body);
  /// Announces a range to each member, and meets the peer programs: afterwards
  /// every member's announcement is there, and known to come from the same
  /// call. `shared`: the buffer that members access, at the same offset of
  /// their heaps; null if none do. Once in a kernel, which has a barrier after
  /// it.
  void exchange(Value shared, llvm::function_ref<Range(const Peer &)> announce);
  /// Ends the kernel, and fails the world, where a sender's bytes are not as
  /// many as the receiver's.
  void checkPair(const Range &sent, const Range &expected);
  /// body(offset) for this program's tiles of `length` elements that `source`
  /// sends to `target`: the same program on both.
  void forTiles(Value source, Value target, Value length,
                llvm::function_ref<void(Value)> body);

  /// Each peer's chunk in a kernel of one variant; see CountedChunks.cpp.
  void buildPush();
  void buildPull();
  void buildBuffered();

  /// Of a gather: elements that this rank sends to every member.
  Value ownLength();

private:
  Peer read(Value member);
  Peer readAgain(Value i);
  /// The largest number(peer) of all members.
  Value largestOf(llvm::function_ref<Value(const Peer &)> number);
  void check(const Range &rows, Value capacity, StringRef buffer);
  Range toElements(const Range &rows);
  Announcement announcedBy(Value member);
  /// Ends the kernel, and fails the world, where a member makes another call.
  void checkCall(const Announcement &announced, Value form, Value bufferOffset);

  KernelBuilder &k;
  /// Elements of the buffers that one counted row has.
  Value unit;
  /// Rows that the buffers hold.
  Value inRows, outRows;
  /// Of this rank and the next ones, where the group's size is known.
  SmallVector<Peer> peers;
  bool isExchanged = false;
};

} // namespace mlir::iris

#endif // IRIS_LIB_KERNELS_COUNTEDCHUNKS_H
