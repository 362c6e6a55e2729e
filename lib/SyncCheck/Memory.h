// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.h - What the programs of a rank leave in memory ---*- C++ -*-===//
#ifndef IRIS_LIB_SYNCCHECK_MEMORY_H
#define IRIS_LIB_SYNCCHECK_MEMORY_H

#include "Trace.h"

namespace mlir::iris::sync {

/// Allocations, by number.
using BufferSet = llvm::SmallDenseSet<int>;

/// The memory of a rank as its own programs leave it, in the order of its
/// stream. Stores of other ranks and of programs beside them are not in it: for
/// buffers that these may change, nothing is known.
class Memory {
public:
  /// Of the buffers in `unknown`, nothing is known.
  Memory(unsigned rank, const BufferSet &unknown)
      : rank(rank), unknown(unknown) {}

  /// Takes in what an event of this rank stores.
  void apply(const Event &event);
  /// Forgets a buffer; all, if it is not known.
  void forget(int root);
  /// What an access to one element reads; unknown, if it is not of this rank's
  /// copy.
  Scalar load(const Event &read, Type type) const;

private:
  unsigned rank;
  const BufferSet &unknown;
  std::map<int, Contents> buffers;
  /// Whether any buffer may have any contents.
  bool isForgotten = false;
};

} // namespace mlir::iris::sync

#endif // IRIS_LIB_SYNCCHECK_MEMORY_H
