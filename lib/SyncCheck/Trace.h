// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Trace.h - The accesses of one program --------------------*- C++ -*-===//
//
// What a program does that other programs can see, in order. It does not depend
// on what others do: where it would, the trace ends. Of memory, only what the
// programs of its own rank have left there is known.
#ifndef IRIS_LIB_SYNCCHECK_TRACE_H
#define IRIS_LIB_SYNCCHECK_TRACE_H

#include "Contents.h"
#include "Walker.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::iris::sync {

/// One access or synchronizing op.
struct Event {
  enum class Kind {
    /// A plain read or write of a window.
    Access,
    /// Plain writes of unknown elements.
    Overwrite,
    Signal,
    Wait,
    Atomic,
    Barrier,
    Fence,
    /// Packets of a window, and a wait for them.
    PacketStore,
    PacketLoad,
  };

  Kind kind;
  Operation *op;
  /// The buffer, on rank `buffer.rank`; of a barrier, its state on all ranks.
  Buffer buffer = {};
  /// The first element, and the extents of a window: in coordinates of the
  /// allocation, in bytes if that has one dimension.
  SmallVector<int64_t, 2> offsets = {}, shape = {};
  /// Whether it is an access to one element, by a scalar.
  bool isElement = false;
  bool writes = false;
  /// Of a flag.
  Type type = {};
  /// What is stored to the element, added to it, or waited for: of packets,
  /// their flag. Of a plain read, what the program has seen, if it goes on with
  /// that.
  Scalar value = {};
  /// Of iris.atomic_cas: what the element has to be.
  Scalar compare = {};
  /// Whether the atomic is repeated until the element is `compare`.
  bool isPolling = false;
  MemSemantic sem = MemSemantic::Relaxed;
  Scope scope = Scope::Sys;

  bool isPackets() const {
    return kind == Kind::PacketStore || kind == Kind::PacketLoad;
  }
  /// Whether the program may have to wait here for others.
  bool mayBlock() const {
    return kind == Kind::Wait || kind == Kind::Barrier ||
           kind == Kind::PacketLoad || isPolling;
  }
  bool isRelease() const {
    return kind == Kind::Barrier || sem == MemSemantic::Release ||
           sem == MemSemantic::AcqRel;
  }
  bool isAcquire() const {
    return kind == Kind::Barrier || sem == MemSemantic::Acquire ||
           sem == MemSemantic::AcqRel;
  }
  /// Whether the element of a flag is the same.
  bool hasFlagOf(const Event &other) const {
    return buffer.root == other.buffer.root &&
           buffer.rank == other.buffer.rank && offsets == other.offsets;
  }
  /// Whether windows of the same buffer have a common element.
  bool overlaps(const Event &other) const;
  /// What is accessed in a buffer of one dimension; nothing in another one, or
  /// if it is not known.
  std::optional<Bytes> getBytes() const;
};

/// The events of a program.
struct Trace {
  Position position;
  std::vector<Event> events;
  /// Beyond which op the program is not followed; null: it is complete.
  Operation *limit = nullptr;
  std::string reason;
  /// The op that accesses a rank outside of the world, which then is too small
  /// for the program; null: none.
  Operation *outside = nullptr;
};

class Memory;

/// Follows one program of `kernel`. `arguments` are the kernel's. `memory` is
/// what its rank's programs have left in memory, and takes in what this one
/// stores; null: it is not known.
Trace traceKernel(gpu::GPUFuncOp kernel, const Position &position,
                  ArrayRef<std::pair<Scalar, Buffer>> arguments, Budget &budget,
                  SymbolTableCollection &symbols, Memory *memory);

} // namespace mlir::iris::sync

#endif // IRIS_LIB_SYNCCHECK_TRACE_H
