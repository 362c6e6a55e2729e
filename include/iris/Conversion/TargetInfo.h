// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetInfo.h - What the lowerings ask of a target --------*- C++ -*-===//
//
// The lowerings of lib/Conversion are written once. What differs between
// targets (the instructions of an ordering, of an atomic, of a clock) is behind
// this interface: capabilities and small emitters, never a target's identity.
//
// Vocabulary. A *program* is a workgroup; its *leader* is thread 0. A release
// is made of three parts:
//
//   arrive    in every thread: the thread's own accesses are done, then a
//             barrier of the program, so that the leader comes after all of
//             them;
//   fence     in the thread that publishes: what the program did so far comes
//             before what this thread writes next;
//   publish   a relaxed store or atomic.
//
// An acquire is the mirror image: a relaxed load that sees the flag, a fence in
// the thread that loaded, then a barrier of the program that hands the order on
// to every thread. Where a target can put the order on the access itself
// (`accessesCarryOrdering`) the fence may be left out.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_CONVERSION_TARGETINFO_H
#define IRIS_CONVERSION_TARGETINFO_H

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <memory>
#include <string>

namespace mlir::iris {

/// How a plain load or store carries the cache modifier of its op.
struct AccessPolicy {
  /// The access goes to memory: it is neither served from, nor left in, a
  /// cache that others do not see, and is not merged with another one.
  bool isVolatile = false;
  /// A hint: the data are not used again soon.
  bool isNontemporal = false;
};

/// One target. Immutable; lowerings share it.
///
/// Every emitter inserts at the builder's insertion point and leaves it behind
/// what it inserted; those that emit loops split the block there.
class TargetInfo {
public:
  explicit TargetInfo(StringRef name) : name(name) {}
  virtual ~TargetInfo();

  /// The name users type: gfx942, sm_90a, host.
  StringRef getName() const { return name; }

  //===--------------------------------------------------------------------===//
  // Capabilities
  //===--------------------------------------------------------------------===//

  /// Threads that execute in step; 1 where a program is one thread.
  virtual unsigned getWaveSize() const = 0;
  /// True if a program is one thread, which holds whole tiles.
  bool hasOneThread() const { return getWaveSize() == 1; }
  /// Address space of the heap, of peers' heaps and of plain buffers.
  virtual unsigned getGlobalAddressSpace() const = 0;
  /// Address space of memory shared by the threads of a program.
  unsigned getWorkgroupAddressSpace() const { return 3; }
  /// Bytes of it that a program may have; none where that is not known here.
  virtual std::optional<uint64_t> getMaxWorkgroupBytes() const {
    return std::nullopt;
  }
  /// True if loads, stores and atomics that the emitters below make with an
  /// ordering have that ordering. Where false they are relaxed, and order comes
  /// from fences alone.
  virtual bool accessesCarryOrdering() const = 0;
  /// False if converting between bf16 and f32 would call a library.
  virtual bool convertsBF16() const { return true; }
  /// LLVM's name of the synchronisation scope.
  virtual StringRef getSyncScope(Scope scope) const = 0;
  /// What a plain load with a cache modifier becomes; docs/memory-model.md says
  /// what is lost.
  virtual AccessPolicy getLoadPolicy(tile::LoadCache cache,
                                     bool isVolatile) const;
  /// The same for stores.
  virtual AccessPolicy getStorePolicy(tile::StoreCache cache,
                                      bool isVolatile) const;

  //===--------------------------------------------------------------------===//
  // Identity
  //===--------------------------------------------------------------------===//

  /// Index of the thread in its program (programs are one-dimensional), i32.
  virtual Value emitThreadId(ImplicitLocOpBuilder &b) const;
  /// Extent of the grid, index.
  virtual Value emitGridDim(ImplicitLocOpBuilder &b, gpu::Dimension dim) const;
  /// `value`, the same in every thread of a wave, in a form that the back end
  /// knows to be uniform. i32, i64 or a pointer.
  virtual Value emitUniform(ImplicitLocOpBuilder &b, Value value) const;

  //===--------------------------------------------------------------------===//
  // Order within the program
  //===--------------------------------------------------------------------===//

  /// All threads meet; accesses to workgroup memory are ordered, those to
  /// global memory need not be.
  virtual void emitWorkgroupBarrier(ImplicitLocOpBuilder &b) const = 0;
  /// All threads meet; every access of every thread before comes before every
  /// access of every thread after, as seen by the program itself.
  virtual void emitProgramBarrier(ImplicitLocOpBuilder &b) const = 0;

  //===--------------------------------------------------------------------===//
  // Order between programs and ranks
  //===--------------------------------------------------------------------===//

  /// First part of a release; every thread executes it.
  virtual void emitReleaseArrive(ImplicitLocOpBuilder &b,
                                 Scope scope) const = 0;
  /// Second part of a release; the threads that publish execute it.
  virtual void emitReleaseFence(ImplicitLocOpBuilder &b, Scope scope) const = 0;
  /// First part of an acquire; the threads that loaded the flag execute it.
  virtual void emitAcquireFence(ImplicitLocOpBuilder &b, Scope scope) const = 0;
  /// `iris.fence`: every thread executes it, and afterwards any thread may
  /// publish, or rely on what any thread has loaded.
  virtual void emitProgramFence(ImplicitLocOpBuilder &b, MemSemantic sem,
                                Scope scope) const = 0;

  //===--------------------------------------------------------------------===//
  // Atomics of one thread
  //===--------------------------------------------------------------------===//

  /// Updates the element at `address` and returns what was there; null if the
  /// target has a form without a result and `needsResult` is false.
  virtual Value emitAtomicRMW(ImplicitLocOpBuilder &b, RMWKind kind,
                              Value value, Value address,
                              LLVM::AtomicOrdering ordering, Scope scope,
                              bool needsResult) const = 0;

  //===--------------------------------------------------------------------===//
  // Packets
  //===--------------------------------------------------------------------===//
  //
  // A place is one or two words of 32 bits, each with its flag behind it: an
  // access of 8 or 16 bytes. Each half of 8 bytes is single-copy atomic; the
  // accesses are relaxed and go to where all agents of the system see them. No
  // place waits for another one. Offsets are i32, bytes, not negative.

  /// `pointer`, which is the same in all threads, in the form that the emitters
  /// below take. Emitted outside of the polling loop.
  virtual Value emitPacketBase(ImplicitLocOpBuilder &b, Value pointer) const;
  /// Stores `words` (i32), in equal shares, to the places at `offsets`.
  virtual void emitPacketStores(ImplicitLocOpBuilder &b, ValueRange words,
                                Value flag, Value base,
                                ValueRange offsets) const;
  /// Loads places of `wordsEach` words: word, flag, word, flag, ... Never
  /// served by an earlier load. All loads are issued before the first result is
  /// waited for.
  virtual SmallVector<Value> emitPacketLoads(ImplicitLocOpBuilder &b,
                                             unsigned wordsEach, Value base,
                                             ValueRange offsets) const;

  //===--------------------------------------------------------------------===//
  // Time
  //===--------------------------------------------------------------------===//

  /// Ticks of IRISRT_CLOCK_*, i64.
  virtual Value emitClock(ImplicitLocOpBuilder &b) const;
  /// Ticks of that clock in a second, in whole megahertz.
  virtual int64_t getClockHz() const = 0;
  /// Between two polls of a wait.
  virtual void emitSpinHint(ImplicitLocOpBuilder &b) const = 0;

private:
  std::string name;
};

/// The target called `name`; null if there is none.
std::unique_ptr<TargetInfo> createTargetInfo(StringRef name);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_TARGETINFO_H
