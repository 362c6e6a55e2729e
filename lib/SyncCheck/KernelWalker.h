// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelWalker.h - Follows the accesses of one program -----*- C++ -*-===//
#ifndef IRIS_LIB_SYNCCHECK_KERNELWALKER_H
#define IRIS_LIB_SYNCCHECK_KERNELWALKER_H

#include "Memory.h"

#include "iris/Dialect/Tile/IR/Tile.h"

namespace mlir::iris::sync {

/// Writes down the events of a program of a kernel.
class KernelWalker : public Walker {
public:
  KernelWalker(Values &values, Budget &budget, SymbolTableCollection &symbols,
               Trace &trace, Memory *memory)
      : Walker(values, budget, symbols), trace(trace), memory(memory) {}

protected:
  bool visit(Operation *op) override;
  bool skip(Operation *op) override;

private:
  enum class Target { Ok, Unknown, Private };

  void addEvent(Event event);

  // Plain accesses (PlainAccesses.cpp).

  /// The copy of `buffer` that is accessed; `rank` may be null.
  Target findCopy(Operation *op, Value buffer, Value rank, Buffer &copy);
  /// The coordinates of an element in its allocation; none if not known.
  std::optional<SmallVector<int64_t, 2>>
  locate(const Buffer &buffer, MemRefType type, ValueRange offsets);
  /// Adds an access to the window at `offsets`, of one element if `shape` is
  /// empty. `stored` is the value of that.
  bool addWindow(Operation *op, Value buffer, ValueRange offsets, Value rank,
                 ArrayRef<int64_t> shape, bool writes, Value stored = {});
  bool addTransfer(Operation *op, Value source, ValueRange sourceOffsets,
                   Value from, Value destination, ValueRange offsets, Value to,
                   ArrayRef<int64_t> shape, bool isMasked);
  /// Adds stores to elements of `buffer` that are not known.
  void addOverwrite(Operation *op, Buffer buffer);
  /// Adds stores to single elements, as far as their coordinates are known.
  bool addScatter(tile::ScatterOp scatter);
  /// Adds a load of one element, whose value is known if only this rank's
  /// programs store to it.
  bool addLoad(memref::LoadOp load);

  // Synchronization (SyncAccesses.cpp). False if the program is not followed
  // beyond it.

  /// Adds an access to one flag.
  bool addFlag(Operation *op, Event::Kind kind, Value buffer,
               ValueRange offsets, Value rank, Value value, MemSemantic sem,
               Scope scope, Value compare = {});
  bool addPackets(Operation *op, Event::Kind kind, Value buffer, Value offset,
                  Value rank, Value flag, Type tile);
  bool addBarrier(BarrierOp barrier);

  /// Adds an op whose accesses are not known element by element.
  bool addUnknown(Operation *op);
  bool runMatmul(tile::MatmulOp matmul);
  /// Executes a loop that does nothing but wait for the element of `cas` to
  /// have the expected value.
  bool runPolling(AtomicCASOp cas);

  Trace &trace;
  /// Null: its contents are not known.
  Memory *memory;
};

/// Takes elements outside of the buffer out of a window; false if none is left.
bool clip(Event &event, MemRefType type);

} // namespace mlir::iris::sync

#endif // IRIS_LIB_SYNCCHECK_KERNELWALKER_H
