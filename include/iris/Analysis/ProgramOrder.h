// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The effect of each op on the order of accesses in one program.
//
// A program reads as if one thread executed it, but many threads do. Each op
// declares which memory it accesses, by which threads, and which accesses of
// the program it orders; `tile-insert-barriers` adds the missing barriers.
#ifndef IRIS_ANALYSIS_PROGRAMORDER_H
#define IRIS_ANALYSIS_PROGRAMORDER_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace mlir::iris {

/// Which accesses of the program an op orders, before or after its own
/// accesses.
enum class OrderedAccesses {
  /// None of them.
  None,
  /// All of them, except where `iris-elide-fences` merges the ordering of
  /// consecutive ops of the same kind: a signal orders earlier accesses of the
  /// leader only if it is the first of a sequence of signals; a wait orders
  /// later waits only if it is the last of a sequence of waits.
  ButNeighbours,
  /// All of them.
  All,
};

/// A memory access of an op.
struct MemoryAccess {
  /// The threads that perform it.
  enum class Threads {
    /// Every thread accesses all of it, or the threads are unknown.
    Every,
    /// The threads that hold the element in the tile's layout; all of them
    /// load, one of them stores.
    Owners,
    /// Thread 0.
    Leader,
  };

  /// Null if the accessed memory is unknown.
  Value buffer;
  bool reads = false;
  bool writes = false;
  Threads threads = Threads::Every;
  /// The coordinates of the first element; empty if any element of the buffer
  /// may be accessed.
  SmallVector<Value> offsets;
  /// The tile that is loaded or stored at `offsets`; null for a single element.
  RankedTensorType tile;
  /// Whether this is a packet access; packets of one program are ordered by
  /// their flags.
  bool isPacket = false;

  bool operator==(const MemoryAccess &other) const {
    return buffer == other.buffer && reads == other.reads &&
           writes == other.writes && threads == other.threads &&
           offsets == other.offsets && tile == other.tile &&
           isPacket == other.isPacket;
  }
};

/// What the access is, as the end of a sentence: "writes one element of a
/// buffer, in thread 0".
std::string describe(const MemoryAccess &access);

/// The accesses of `op` without those of its regions: from
/// ProgramOrderOpInterface, or else from the op's memory effects.
SmallVector<MemoryAccess> getMemoryAccesses(Operation *op);

/// Attaches ProgramOrderOpInterface to the ops of the tile and iris dialects,
/// and to the upstream ops that kernels use.
void registerProgramOrderModels(DialectRegistry &registry);

} // namespace mlir::iris

#include "iris/Analysis/ProgramOrder.h.inc"

#endif // IRIS_ANALYSIS_PROGRAMORDER_H
