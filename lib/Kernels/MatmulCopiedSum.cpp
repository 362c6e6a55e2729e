// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulCopiedSum.cpp - Reductions by copy engine --------------------===//
//
// The variant copy_engine of matmul_reduce_scatter and matmul_all_reduce. Every
// rank owns a chunk of rows of the sum. A rank first computes its partial sums
// of the peers' chunks, chunk after chunk, and stores them to the staging
// buffer; copy engines copy them to the owners. The rank computes its own chunk
// last: a program keeps this rank's partial sum of a tile in registers, and
// adds the partial sums that peers have sent.
//
// iris/Plan/CopyLayout.h describes slices and flags. The copy engine copies the
// flags that count finished tiles to the receiver's `arrived` flags. A kernel
// that aborts ends the stream's wait, but does not publish a wrong count. The
// kernel stores nothing to peers.
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
        allRows(k.rowsOf(k.a)),
        layout(k.copyLayout(allRows, k.columnsOf(k.c))) {
    k.beginCleared(layout.flags.count);
  }
  void build();

private:
  /// A tile of a chunk: the distance (1 ... size) of the chunk's owner, the
  /// chunk's first row in a, and the tile's offset in the chunk.
  struct Tile {
    Value distance, start, row, column, group;
  };
  void forTiles(llvm::function_ref<void(const Tile &)> body);
  void sendPartialSum(Value sum, const Tile &tile);
  void reduce(Value sum, const Tile &tile);
  /// The offset of a tile in a slice of the staging buffer.
  MatrixOffset inSlice(Value slice, const Tile &tile) {
    return k.tileAt(k.rows(k.staging, k.mul(slice, layout.rows), layout.rows),
                    tile.row, tile.column);
  }
  /// The flag that counts the tiles still missing in the tile's group.
  Value missing(const Tile &tile) {
    return layout.missingFlag(layout.groupIndex(tile.distance, tile.group));
  }
  /// The flag that counts the finished tiles of the tile's group.
  Value done(const Tile &tile) {
    return layout.doneFlag(layout.groupIndex(tile.distance, tile.group));
  }
  Value addPartialSum(Value sum, const Tile &tile, Value distance);

  MatmulBuilder &k;
  bool isScatter;
  Value allRows;
  plan::CopyLayout<ScalarBuilder> layout;
};
} // namespace

/// The tiles of one chunk are finished before those of the next one begin. In
/// an all-reduce the last chunks may have fewer rows.
void CopiedSum::forTiles(llvm::function_ref<void(const Tile &)> body) {
  TileOrder<ScalarBuilder> order(k, k.mul(k.size, layout.rowTiles),
                                 layout.columnTiles, k.config.groupM,
                                 layout.rowTiles);
  order.forTiles(
      k.evenTilesForProgram(order.count()), [&](Value row, Value column) {
        Value distance = k.add(k.div(row, layout.rowTiles), k.index(1));
        Value rowTile = k.rem(row, layout.rowTiles);
        Tile tile{distance, layout.chunkBegin(k.rotate(k.me, distance)),
                  k.mul(rowTile, k.tileRows()), k.mul(column, k.tileColumns()),
                  k.div(rowTile, k.index(k.config.groupM))};
        if (isScatter)
          body(tile);
        else
          k.ifThen(k.less(k.add(tile.start, tile.row), allRows),
                   [&] { body(tile); });
        // The order's first tile has both numbers 0.
        barrierBeforeCopies(k, k.equal(k.add(row, column), k.index(0)),
                            layout.flags.entered);
      });
}

void CopiedSum::sendPartialSum(Value sum, const Tile &tile) {
  k.store(k.convertTo(sum, k.config.partialType),
          inSlice(layout.sendSlice(tile.distance), tile));
  k.countUp(done(tile));
  k.countDown(missing(tile));
}

/// Waits for the partial sum of the member at a distance, and adds it.
Value CopiedSum::addPartialSum(Value sum, const Tile &tile, Value distance) {
  k.waitForCount(layout.groupIndex(distance, tile.group),
                 k.rotate(k.me, distance),
                 k.asI32(layout.tilesOfGroup(tile.start, tile.group)));
  Value slice = layout.receiveSlice(distance);
  return k.addPartialSum(sum, k.load(inSlice(slice, tile),
                                     k.sumType().clone(k.config.partialType)));
}

/// Rounds this rank's partial sum as it rounds the ones that it sends, and adds
/// the peers' ones in the order of distances 1, 2, ...
void CopiedSum::reduce(Value sum, const Tile &tile) {
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
        k.equal(tile.distance, k.size), [&] { reduce(sum, tile); },
        [&] { sendPartialSum(sum, tile); });
  });
}

void mlir::iris::buildMatmulReduceCopyEngine(MatmulBuilder &k) {
  CopiedSum(k).build();
}
