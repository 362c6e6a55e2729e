// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileSchedule.h - Assignment of tiles to programs ---------*- C++ -*-===//
//
// Orders of output tiles, and their assignment to programs. A schedule is a
// template over an arithmetic (Arithmetic.h), so the property test on numbers
// covers the code of the kernels: every tile exactly once, for any shape and
// any number of programs.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_TILESCHEDULE_H
#define IRIS_PLAN_TILESCHEDULE_H

#include "iris/Plan/Arithmetic.h"

namespace irisplan {

/// XCD remap: the index of `program` after the remap. The hardware assigns
/// programs to `chiplets` round-robin; the remap gives the programs of one
/// chiplet consecutive indices, so that they share its cache. It is a
/// permutation for any number of programs: if the number of chiplets does not
/// divide it, the first chiplets have one program more.
template <typename Arithmetic>
typename Arithmetic::Number
remapXcd(Arithmetic &n, typename Arithmetic::Number program,
         typename Arithmetic::Number programs, int64_t chiplets) {
  if (chiplets <= 1)
    return program;
  auto count = n.index(chiplets);
  auto chiplet = n.rem(program, count);
  auto before = n.add(n.mul(chiplet, n.div(programs, count)),
                      n.min(chiplet, n.rem(programs, count)));
  return n.add(before, n.div(program, count));
}

/// The tile indices of one program: begin, begin + step, ... below end.
template <typename Number>
struct TileRange {
  Number begin, end, step;
};

/// The range of the `tiles` tiles that `program` computes. Programs below
/// `commPrograms` are communication programs, and compute at most
/// `tilesPerCommProgram` tiles each; the compute programs divide the other
/// tiles evenly. With `isLate`, communication programs compute the last tiles,
/// because they compute after communication; otherwise they compute the first
/// ones. In a launch of at most `commPrograms` programs, all programs divide
/// the tiles evenly.
template <typename Arithmetic>
TileRange<typename Arithmetic::Number>
assignTiles(Arithmetic &n, typename Arithmetic::Number program,
            typename Arithmetic::Number programs,
            typename Arithmetic::Number commPrograms,
            int64_t tilesPerCommProgram, typename Arithmetic::Number tiles,
            bool isLate) {
  using Number = typename Arithmetic::Number;
  // At least one program is a compute program, so that no divisor is zero.
  Number numComm = n.min(commPrograms, n.sub(programs, n.index(1)));
  Number numCompute = n.sub(programs, numComm);
  Number maxCommTiles =
      n.min(tiles, n.mul(numComm, n.index(tilesPerCommProgram)));
  Number iterations = n.ceilDiv(n.sub(tiles, maxCommTiles), numCompute);
  // Every compute program has a tile in each iteration, also in the last one.
  Number computeTiles = n.min(tiles, n.mul(iterations, numCompute));
  Number commTiles = n.sub(tiles, computeTiles);
  Number commBegin = isLate ? computeTiles : n.index(0);
  Number computeBegin = isLate ? n.index(0) : commTiles;
  // A value for communication programs, one for compute programs, and one for
  // launches that are too small to have both.
  auto select = [&](Number ofComm, Number ofCompute, Number ofAll) {
    Number own = n.ifLess(program, numComm, ofComm, ofCompute);
    return n.ifLess(commPrograms, programs, own, ofAll);
  };
  Number computeIndex = n.sub(n.max(program, numComm), numComm);
  return {
      select(n.add(commBegin, program), n.add(computeBegin, computeIndex),
             program),
      select(isLate ? tiles : commTiles, isLate ? computeTiles : tiles, tiles),
      select(n.max(numComm, n.index(1)), numCompute, programs)};
}

/// An order of the tiles of a grid of rows and columns; the grid may be empty.
/// Rows come in stages of `stageRows` tile rows; a stage is complete before the
/// next one begins. Within a stage, tiles are in groups of `group` rows, and a
/// group is visited column by column, so that concurrent tiles share both rows
/// and columns.
template <typename Arithmetic>
class TileOrder {
public:
  using Number = typename Arithmetic::Number;
  struct Tile {
    Number row, column;
  };

  /// An order with one stage.
  TileOrder(Arithmetic &n, Number rows, Number columns, int64_t group)
      : TileOrder(n, rows, columns, group, rows) {
    hasStages = false;
  }
  TileOrder(Arithmetic &n, Number rows, Number columns, int64_t group,
            Number stageRows)
      : n(n), rows(rows), columns(columns), group(n.index(group)),
        stageRows(n.max(stageRows, n.index(1))) {}

  /// Number of tiles.
  Number count() { return n.mul(rows, columns); }
  Number stages() {
    return hasStages ? n.ceilDiv(rows, stageRows) : n.index(1);
  }
  /// The index of the first tile of `stage`; for `stages()`, it is `count()`.
  Number stageBegin(Number stage) {
    return n.mul(n.min(n.mul(stage, stageRows), rows), columns);
  }

  /// The tile at index `index`, 0 <= index < count().
  Tile at(Number index) {
    if (!hasStages)
      return inStage(index, n.index(0), rows);
    Number stageTiles = n.mul(stageRows, columns);
    Number begin = n.mul(n.div(index, stageTiles), stageRows);
    return inStage(n.rem(index, stageTiles), begin,
                   n.min(n.add(begin, stageRows), rows));
  }

  /// body(row, column) for the tiles of one of `programs` programs, from index
  /// `begin` to `end` of the order.
  template <typename BodyT>
  void forTiles(Number program, Number programs, Number begin, Number end,
                BodyT body) {
    n.loop(n.add(begin, program), end, programs, [&](Number index) {
      Tile tile = at(index);
      body(tile.row, tile.column);
    });
  }
  /// As above, for the whole order.
  template <typename BodyT>
  void forTiles(Number program, Number programs, BodyT body) {
    forTiles(program, programs, n.index(0), count(), body);
  }
  /// As above, for the tiles of a range.
  template <typename BodyT>
  void forTiles(const TileRange<Number> &range, BodyT body) {
    n.loop(range.begin, range.end, range.step, [&](Number index) {
      Tile tile = at(index);
      body(tile.row, tile.column);
    });
  }

private:
  /// The tile at index `index` of the stage of rows `begin` to `end`.
  Tile inStage(Number index, Number begin, Number end) {
    Number groupTiles = n.mul(group, columns);
    Number first = n.add(begin, n.mul(n.div(index, groupTiles), group));
    // The last group of a stage may be smaller.
    Number height = n.min(group, n.sub(end, first));
    Number inGroup = n.rem(index, groupTiles);
    return {n.add(first, n.rem(inGroup, height)), n.div(inGroup, height)};
  }

  Arithmetic &n;
  Number rows, columns, group, stageRows;
  bool hasStages = true;
};

} // namespace irisplan

#endif // IRIS_PLAN_TILESCHEDULE_H
