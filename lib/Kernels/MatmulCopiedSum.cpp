// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulCopiedSum.cpp - Reductions by copy engine --------------------===//
//
// The variant copy_engine of matmul_reduce_scatter and matmul_all_reduce. Every
// member owns a chunk of rows of the sum. A rank first computes its partial
// sums of the peers' chunks, chunk after chunk, into the staging buffer, from
// where copy engines copy them to their owners. Its own chunk comes last: the
// program that computes a tile of it has this rank's partial sum in registers,
// and adds the partial sums that have arrived.
//
// Distance i denotes member me + i. The staging buffer has a slice for each
// partial sum to send, at distances 1 ... size - 1, followed by a slice for
// each one to receive, in the same order. The first flags count the tiles that
// have arrived per group of tile rows. After those of all members, further
// flags count the tiles of a group that are still missing, for the stream that
// waits on them. The last flags count the tiles done; the copy engine copies
// them to the receiver's arrival flags. A kernel that aborts ends the stream's
// wait, but does not publish a wrong count. The kernel stores nothing to peers.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/MatmulKernels.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
class CopiedSum {
public:
  explicit CopiedSum(MatmulBuilder &k)
      : k(k), isScatter(k.config.kind == MatmulKind::MatmulReduceScatter),
        allRows(k.rowsOf(k.a)), parts(k.copiedChunk(allRows)),
        columnTiles(k.columnTiles(k.columnsOf(k.c))) {
    Value numFlags =
        k.fusedSizes({allRows, k.columnsOf(k.a), k.columnsOf(k.b_), k.size})
            .numFlags;
    flags =
        plan::getCopiedFlags<ScalarBuilder>(k, k.config, parts.groups, k.size);
    k.beginCleared(numFlags);
  }
  void build();

private:
  /// A tile of a chunk: the distance (1 ... size) of the chunk's owner, the
  /// chunk's first row in a, and the tile's location in the chunk.
  struct Tile {
    Value distance, start, row, column, group;
  };
  void forTiles(llvm::function_ref<void(const Tile &)> body);
  void sendPartialSum(Value sum, const Tile &tile);
  void addUp(Value sum, const Tile &tile);
  Value slot(Value distance) { return k.sub(distance, k.index(1)); }
  /// The location of a tile in a slice of the staging buffer.
  MatrixOffset inSlice(Value slice, const Tile &tile) {
    return k.tileAt(k.rows(k.staging, k.mul(slice, parts.rows), parts.rows),
                    tile.row, tile.column);
  }
  /// The index of the tile's group at a distance.
  Value groupAt(Value distance, const Tile &tile) {
    return k.add(k.mul(slot(distance), parts.groups), tile.group);
  }
  /// The flag that counts the tiles still missing in the tile's group.
  Value missing(const Tile &tile) {
    return k.add(flags.missing, groupAt(tile.distance, tile));
  }
  /// The flag that counts the finished tiles of the tile's group.
  Value done(const Tile &tile) {
    return k.add(plan::getDoneFlag<ScalarBuilder>(k, flags),
                 groupAt(tile.distance, tile));
  }
  /// The number of tiles in the group of a tile of this rank's chunk.
  Value groupTiles(const Tile &tile);
  Value addPartialSum(Value sum, const Tile &tile, Value distance);

  MatmulBuilder &k;
  bool isScatter;
  Value allRows;
  plan::CopiedChunk<Value> parts;
  plan::CopiedFlags<Value> flags;
  Value columnTiles;
};
} // namespace

/// The tiles of one chunk are finished before those of the next one begin. In
/// an all-reduce the last chunks may have fewer rows.
void CopiedSum::forTiles(llvm::function_ref<void(const Tile &)> body) {
  TileOrder<ScalarBuilder> order(k, k.mul(k.size, parts.rowTiles), columnTiles,
                                 k.config.groupM, parts.rowTiles);
  order.forTiles(
      k.evenTilesForProgram(order.count()), [&](Value place, Value column) {
        Value distance = k.add(k.div(place, parts.rowTiles), k.index(1));
        Value rowTile = k.rem(place, parts.rowTiles);
        Tile tile{distance, k.mul(k.rotate(k.me, distance), parts.rows),
                  k.mul(rowTile, k.tileRows()), k.mul(column, k.tileColumns()),
                  k.div(rowTile, k.index(k.config.groupM))};
        if (isScatter)
          body(tile);
        else
          k.ifThen(k.less(k.add(tile.start, tile.row), allRows),
                   [&] { body(tile); });
        // The order's first tile has both numbers 0.
        barrierBeforeCopies(k, k.equal(k.add(place, column), k.index(0)),
                            flags.entered);
      });
}

void CopiedSum::sendPartialSum(Value sum, const Tile &tile) {
  k.store(k.convertTo(sum, k.config.partialType),
          inSlice(slot(tile.distance), tile));
  k.countUp(done(tile));
  k.countDown(missing(tile));
}

Value CopiedSum::groupTiles(const Tile &tile) {
  Value rows =
      isScatter ? parts.rows : k.min(parts.rows, k.sub(allRows, tile.start));
  Value first = k.mul(tile.group, k.index(k.config.groupM));
  Value tiles = k.min(k.index(k.config.groupM), k.sub(k.rowTiles(rows), first));
  return k.mul(tiles, columnTiles);
}

/// Waits for the partial sum of the member at a distance, and adds it.
Value CopiedSum::addPartialSum(Value sum, const Tile &tile, Value distance) {
  k.awaitCount(groupAt(distance, tile), k.rotate(k.me, distance),
               k.asI32(groupTiles(tile)));
  Value slice = k.add(slot(k.size), slot(distance));
  return k.addPartialSum(sum, k.load(inSlice(slice, tile),
                                     k.sumType().clone(k.config.partialType)));
}

/// Adds this rank's partial sum, rounded as the others are, then those of
/// distance 1, 2, ...
void CopiedSum::addUp(Value sum, const Tile &tile) {
  sum = k.convertTo(k.convertTo(sum, k.config.partialType), k.config.sum);
  sum = k.accumulate(1, sum, [&](Value distance, Value before) {
    return addPartialSum(before, tile, distance);
  });
  Value row = isScatter ? tile.row : k.add(tile.start, tile.row);
  k.store(k.finishTile(sum, row, tile.column), k.tileAt(k.c, row, tile.column));
  if (!isScatter)
    k.countDown(missing(tile));
}

void CopiedSum::build() {
  forTiles([&](const Tile &tile) {
    Value sum = k.ownMatmul(k.add(tile.start, tile.row), tile.column);
    k.ifThenElse(
        k.equal(tile.distance, k.size), [&] { addUp(sum, tile); },
        [&] { sendPartialSum(sum, tile); });
  });
}

void mlir::iris::buildMatmulReduceCopyEngine(MatmulBuilder &k) {
  CopiedSum(k).build();
}
