// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Contents.h - Integers in memory --------------------------*- C++ -*-===//
#ifndef IRIS_LIB_SYNCCHECK_CONTENTS_H
#define IRIS_LIB_SYNCCHECK_CONTENTS_H

#include "Values.h"

#include <map>

namespace mlir::iris::sync {

/// Bytes `from` to `to`, exclusive.
struct Bytes {
  int64_t from = 0, to = 0;
};

/// What is known of the contents of a buffer of one dimension: elements that
/// were stored as known scalars, and flags of packets.
class Contents {
public:
  /// Stores a value, or one that is not known.
  void store(Bytes bytes, Scalar value);
  /// Forgets everything: what is not stored after it may be anything.
  void forget();
  /// The value of an element; `initial` if nothing was stored there, and
  /// unknown if something else was.
  Scalar load(Bytes bytes, Scalar initial) const;
  /// Whether all of `bytes` have `value`; nothing if that is not known.
  std::optional<bool> have(Bytes bytes, Scalar value, Scalar initial) const;

private:
  struct Cell {
    int64_t to;
    Scalar value;
  };
  using Cells = std::map<int64_t, Cell>;

  /// Removes what is stored there.
  void cut(Bytes bytes);
  /// The first cell that ends after `from`.
  Cells::const_iterator findFirst(int64_t from) const;

  /// By the first byte. They do not overlap.
  Cells cells;
  bool isForgotten = false;
};

} // namespace mlir::iris::sync

#endif // IRIS_LIB_SYNCCHECK_CONTENTS_H
