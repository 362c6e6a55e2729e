// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CopyLayout.h - Copies of the variant copy_engine ---------*- C++ -*-===//
//
// In the variant copy_engine of a matmul, the caller of the kernel copies the
// data between ranks by copy engine. The kernel and the caller find slices of
// the staging buffer and flags by the formulas of this file.
//
// Every rank owns a chunk of rows: of a in an all-gather of a, of the result in
// all other kinds. A copy moves one group of tile rows of a chunk. Reductions
// count chunks by distance: the rank me + d owns the chunk at distance d, 1 <=
// d
// <= size; this rank's own chunk is the last one.
//
// The staging buffer of an all-gather of a holds the chunks of all ranks, below
// each other. That of a reduction has a slice for each partial sum to send, at
// distances 1 ... size - 1, then one for each partial sum to receive.
//
// The flags come in this order. Those that count tiles down are initialized by
// the caller of the kernel, which waits for 0.
//
//   arrived   of a group that a copy brings; not of an all-gather of the result
//   missing   tiles of a group that are not done; not of an all-gather of a
//   entered   1 until the kernel has passed its barrier; as above
//   done      tiles of a group that are done; reductions only
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_COPYLAYOUT_H
#define IRIS_PLAN_COPYLAYOUT_H

#include "iris/Plan/MatmulForm.h"

namespace irisplan {

/// The index of the first flag of each kind, and the number of all flags.
template <typename Number>
struct CopyFlags {
  Number arrived, missing, entered, count;
};

template <typename Arithmetic>
class CopyLayout {
public:
  using Number = typename Arithmetic::Number;

  /// For an a of `aRows` rows, a result of `columns` columns and a group of
  /// `size` ranks.
  CopyLayout(Arithmetic &n, const MatmulForm &form, Number aRows,
             Number columns, Number size)
      : n(n), form(form), allRows(aRows), size(size) {
    Number tileRows = n.index(form.tileM);
    rows = isScatter() ? n.div(aRows, size) : aRows;
    rowTiles = n.ceilDiv(rows, tileRows);
    // An all-reduce divides whole tiles among the ranks.
    if (isAllReduce()) {
      rowTiles = n.ceilDiv(rowTiles, size);
      rows = n.mul(rowTiles, tileRows);
    }
    groups = n.ceilDiv(rowTiles, n.index(form.groupM));
    columnTiles = n.ceilDiv(columns, n.index(form.tileN));
    flags = countFlags();
  }

  /// Rows of a chunk, tile rows in them, and groups of tile rows. In an
  /// all-reduce the last chunks may have fewer rows, or none.
  Number rows, rowTiles, groups;
  /// Tiles in a tile row.
  Number columnTiles;
  CopyFlags<Number> flags;

  /// The first row of a rank's chunk.
  Number chunkBegin(Number owner) { return n.mul(owner, rows); }
  /// Rows of the chunk that begins at row `begin`; the row exists.
  Number rowsOfChunk(Number begin) {
    return isAllReduce() ? n.min(rows, n.sub(allRows, begin)) : rows;
  }
  /// The first row of a group within its chunk, and its rows. The first row
  /// exists.
  Number groupBegin(Number group) {
    return n.mul(group, n.index(form.groupM * form.tileM));
  }
  Number rowsOfGroup(Number begin, Number group) {
    return n.min(n.index(form.groupM * form.tileM),
                 n.sub(rowsOfChunk(begin), groupBegin(group)));
  }
  /// Tiles of the same group.
  Number tilesOfGroup(Number begin, Number group) {
    Number chunkTiles = n.ceilDiv(rowsOfChunk(begin), n.index(form.tileM));
    Number first = n.mul(group, n.index(form.groupM));
    Number rest = n.sub(chunkTiles, first);
    return n.mul(n.min(n.index(form.groupM), rest), columnTiles);
  }

  /// Reductions: the index of the slice for the partial sum to send to the rank
  /// at a distance, and for the one to receive from it.
  Number sendSlice(Number distance) { return n.sub(distance, n.index(1)); }
  Number receiveSlice(Number distance) {
    Number numSent = n.sub(size, n.index(1));
    return n.add(numSent, sendSlice(distance));
  }

  /// Reductions: the index of a group among the groups of all distances. It is
  /// also the index of the `arrived` flag for the partial sum from there.
  Number groupIndex(Number distance, Number group) {
    return n.add(n.mul(sendSlice(distance), groups), group);
  }
  /// An all-gather of a: the flag for a group of the rank `source`.
  Number gatheredFlag(Number source, Number group) {
    return n.add(n.mul(source, groups), group);
  }
  /// Reductions: the flags of a group by its `groupIndex`.
  Number missingFlag(Number index) { return n.add(flags.missing, index); }
  Number doneFlag(Number index) {
    Number first = n.add(flags.entered, n.index(1));
    return n.add(first, index);
  }

private:
  bool isScatter() const {
    return form.kind == MatmulKind::MatmulReduceScatter;
  }
  bool isAllReduce() const { return form.kind == MatmulKind::MatmulAllReduce; }

  CopyFlags<Number> countFlags() {
    Number none = n.index(0), one = n.index(1);
    if (form.kind == MatmulKind::MatmulAllGather)
      return {none, none, groups, n.add(groups, one)};
    Number ofAll = n.mul(size, groups);
    if (form.kind == MatmulKind::AllGatherMatmul)
      return {none, ofAll, ofAll, ofAll};
    Number count = n.add(n.mul(n.index(3), ofAll), one);
    return {none, ofAll, n.mul(n.index(2), ofAll), count};
  }

  Arithmetic &n;
  const MatmulForm &form;
  /// Rows of a.
  Number allRows, size;
};

} // namespace irisplan

#endif // IRIS_PLAN_COPYLAYOUT_H
