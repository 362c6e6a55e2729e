// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetInfo.h - Interface to a target ---------------------*- C++ -*-===//
//
// The lowerings of lib/Conversion are target-independent. The differences
// between targets (the instructions of an ordering, of an atomic, of a clock)
// are behind this interface: capabilities and small emitters, never a target's
// identity.
//
// Terms. A *program* is a workgroup; its *leader* is thread 0. A release has
// three steps:
//
//   arrive    every thread: completes its own accesses, then runs a barrier of
//             the program, so that the leader is ordered after all of them;
//   fence     the publishing thread: orders all earlier accesses of the program
//             before this thread's next writes;
//   publish   a relaxed store or atomic.
//
// An acquire is the reverse: a relaxed load that observes the flag, a fence in
// the loading thread, then a barrier of the program that extends the order to
// every thread. If the target's accesses can carry an ordering
// (`accessesCarryOrdering`), no fence is needed.
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

/// How a plain load or store implements the cache modifier of its op.
struct AccessPolicy {
  /// The access goes to memory: it neither hits nor allocates in a cache that
  /// is not coherent with other agents, and is not merged with another access.
  bool isVolatile = false;
  /// A hint: the data will not be used again soon.
  bool isNontemporal = false;
};

/// One target. Immutable; shared by lowerings.
///
/// Every emitter inserts at the builder's insertion point and leaves it after
/// the inserted code; emitters of loops split the block there.
class TargetInfo {
public:
  explicit TargetInfo(StringRef name) : name(name) {}
  virtual ~TargetInfo();

  /// The name of the target as users write it: gfx942, sm_90a, host.
  StringRef getName() const { return name; }

  //===--------------------------------------------------------------------===//
  // Capabilities
  //===--------------------------------------------------------------------===//

  /// Number of threads in a wave; 1 if a program is one thread.
  virtual unsigned getWaveSize() const = 0;
  /// True if a program is one thread, which holds whole tiles.
  bool hasOneThread() const { return getWaveSize() == 1; }
  /// Address space of the heap, of peers' heaps and of plain buffers.
  virtual unsigned getGlobalAddressSpace() const = 0;
  /// True if vectors in global memory may begin at any address; otherwise at
  /// multiples of their size.
  virtual bool hasUnalignedVectors() const { return false; }
  /// Address space of memory shared by the threads of a program.
  unsigned getWorkgroupAddressSpace() const { return 3; }
  /// Maximum workgroup memory of a program in bytes; none if unknown.
  virtual std::optional<uint64_t> getMaxWorkgroupBytes() const {
    return std::nullopt;
  }
  /// True if loads, stores and atomics of the emitters below implement the
  /// ordering they are given. If false they are relaxed, and only fences order.
  virtual bool accessesCarryOrdering() const = 0;
  /// False if conversions between bf16 and f32 would call a library function.
  virtual bool convertsBF16() const { return true; }
  /// LLVM's name of the synchronization scope.
  virtual StringRef getSyncScope(Scope scope) const = 0;
  /// How a plain load with a cache modifier is lowered;
  /// docs/internals/memory-model.md lists the differences.
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
  /// `value`, which is the same in every thread of a wave, in a form that the
  /// backend knows to be uniform. i32, i64 or a pointer.
  virtual Value emitUniform(ImplicitLocOpBuilder &b, Value value) const;

  //===--------------------------------------------------------------------===//
  // Order of launches
  //===--------------------------------------------------------------------===//

  /// True if a kernel may be launched before the one in front of it in the
  /// stream has ended (programmatic dependent launch).
  virtual bool hasDependentLaunch() const { return false; }
  /// The start of such a kernel: waits until the kernel in front of it has
  /// ended and its memory is visible; then, with `startsNext`, lets the next
  /// one be launched as soon as all programs of this one have started. Else
  /// that happens when they have ended.
  virtual void emitDependentStart(ImplicitLocOpBuilder &b,
                                  bool startsNext) const {}

  //===--------------------------------------------------------------------===//
  // Order within the program
  //===--------------------------------------------------------------------===//

  /// A barrier of the program's threads that orders accesses to workgroup
  /// memory; accesses to global memory need not be ordered.
  virtual void emitWorkgroupBarrier(ImplicitLocOpBuilder &b) const = 0;
  /// A barrier of the program's threads that orders every earlier access of any
  /// thread before every later access of any thread, as observed by the
  /// program.
  virtual void emitProgramBarrier(ImplicitLocOpBuilder &b) const = 0;

  //===--------------------------------------------------------------------===//
  // Order between programs and ranks
  //===--------------------------------------------------------------------===//

  /// First step of a release; every thread executes it.
  virtual void emitReleaseArrive(ImplicitLocOpBuilder &b,
                                 Scope scope) const = 0;
  /// Second step of a release; the publishing threads execute it.
  virtual void emitReleaseFence(ImplicitLocOpBuilder &b, Scope scope) const = 0;
  /// First step of an acquire; the threads that loaded the flag execute it.
  virtual void emitAcquireFence(ImplicitLocOpBuilder &b, Scope scope) const = 0;
  /// `iris.fence`: every thread executes it. Afterwards any thread may publish,
  /// or rely on the loads of any other thread.
  virtual void emitProgramFence(ImplicitLocOpBuilder &b, MemSemantic sem,
                                Scope scope) const = 0;

  //===--------------------------------------------------------------------===//
  // Atomics of one thread
  //===--------------------------------------------------------------------===//

  /// Updates the element at `address` and returns its previous value; null if
  /// the target has a form without a result and `needsResult` is false.
  virtual Value emitAtomicRMW(ImplicitLocOpBuilder &b, RMWKind kind,
                              Value value, Value address,
                              LLVM::AtomicOrdering ordering, Scope scope,
                              bool needsResult) const = 0;

  //===--------------------------------------------------------------------===//
  // Packets
  //===--------------------------------------------------------------------===//
  //
  // A packet is one or two 32-bit words, each followed by its flag: an access
  // of 8 or 16 bytes. Each half of 8 bytes is single-copy atomic; the accesses
  // are relaxed and visible to all agents of the system. Packets are not
  // ordered with each other. Offsets are i32, in bytes, not negative.

  /// Converts `pointer`, which is uniform, to the form that the emitters below
  /// take. Emitted outside of the polling loop.
  virtual Value emitPacketBase(ImplicitLocOpBuilder &b, Value pointer) const;
  /// Stores `words` (i32), divided evenly, as packets at `offsets`.
  virtual void emitPacketStores(ImplicitLocOpBuilder &b, ValueRange words,
                                Value flag, Value base,
                                ValueRange offsets) const;
  /// Loads packets of `wordsEach` words: word, flag, word, flag, ... Never
  /// reuses an earlier load. All loads are issued before the first result is
  /// used.
  virtual SmallVector<Value> emitPacketLoads(ImplicitLocOpBuilder &b,
                                             unsigned wordsEach, Value base,
                                             ValueRange offsets) const;

  //===--------------------------------------------------------------------===//
  // Time
  //===--------------------------------------------------------------------===//

  /// The current time in ticks of the clock IRISRT_CLOCK_*, i64.
  virtual Value emitClock(ImplicitLocOpBuilder &b) const;
  /// Ticks of that clock per second; a multiple of 1 MHz.
  virtual int64_t getClockHz() const = 0;
  /// Emitted between two polls of a wait.
  virtual void emitSpinHint(ImplicitLocOpBuilder &b) const = 0;

private:
  std::string name;
};

/// The target `name`; null if there is none.
std::unique_ptr<TargetInfo> createTargetInfo(StringRef name);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_TARGETINFO_H
