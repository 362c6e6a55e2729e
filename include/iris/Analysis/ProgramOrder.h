// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each op means for the order of accesses inside one program.
//
// A program reads as if one thread executed it, but many do. Each op says which
// memory it accesses and by which threads, and which of the program's accesses
// it orders; `tile-insert-barriers` adds the barriers that are missing.
#ifndef IRIS_ANALYSIS_PROGRAMORDER_H
#define IRIS_ANALYSIS_PROGRAMORDER_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::iris {

/// Which of the program's accesses an op orders, on one side of its own.
enum class OrderedAccesses {
  /// None of them.
  None,
  /// All of them, unless `iris-elide-fences` lets the op share the ordering
  /// with its neighbours of the same kind: a signal orders earlier accesses of
  /// the leader only if it is not the first of its row, a wait later waits only
  /// if it is the last.
  ButNeighbours,
  /// All of them.
  All,
};

/// An access to memory that an op makes.
struct MemoryAccess {
  /// The threads that make it.
  enum class Threads {
    /// Each thread accesses all of it, or it is not known who accesses what.
    Every,
    /// The thread that has the element in the tile's layout; of several that
    /// have it, all load and one stores.
    Owners,
    /// Thread 0.
    Leader,
  };

  /// Null if it is not known which memory is accessed.
  Value buffer;
  bool reads = false;
  bool writes = false;
  Threads threads = Threads::Every;
  /// The coordinates of the first element; none if any element of the buffer
  /// may be accessed.
  SmallVector<Value> offsets;
  /// The tile that is loaded or stored at `offsets`; null if it is one element.
  RankedTensorType tile;
  /// Packets of one program find each other by their flags.
  bool isPacket = false;

  bool operator==(const MemoryAccess &other) const {
    return buffer == other.buffer && reads == other.reads &&
           writes == other.writes && threads == other.threads &&
           offsets == other.offsets && tile == other.tile &&
           isPacket == other.isPacket;
  }
};

/// The accesses of `op`, not those of its regions: what ProgramOrderOpInterface
/// says, or else the memory effects of the op.
SmallVector<MemoryAccess> getMemoryAccesses(Operation *op);

/// Attaches ProgramOrderOpInterface to the ops of the tile and iris dialects,
/// and to those upstream ops that kernels are written with.
void registerProgramOrderModels(DialectRegistry &registry);

} // namespace mlir::iris

#include "iris/Analysis/ProgramOrder.h.inc"

#endif // IRIS_ANALYSIS_PROGRAMORDER_H
