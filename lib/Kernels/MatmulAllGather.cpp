// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulAllGather.cpp - Matmul with an all-gathered result -----------===//
//
//   push          every rank stores each finished tile to all ranks
//   specialized   compute programs store tiles to this rank's result;
//                 communication programs wait for them and store them to all
//                 peers
//   copy_engine   the caller of the kernel copies groups of tile rows to all
//                 peers by copy engine as they are finished
//
// Ranks are visited in rotated order, so that no two ranks store to the same
// receiver at once. See docs/internals/fused-matmuls.md for why the variants
// are correct.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/MatmulKernels.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// This rank's chunk of c.
class OwnPart {
public:
  explicit OwnPart(MatmulBuilder &k)
      : k(k), rows(k.rowsOf(k.a)), columns(k.columnsOf(k.b_)),
        rowTiles(k.rowTiles(rows)), columnTiles(k.columnTiles(columns)) {
    bool isM = k.config.shard == "m";
    firstRow = isM ? k.mul(k.me, rows) : k.index(0);
    firstColumn = isM ? k.index(0) : k.mul(k.me, columns);
    // Tiles do not extend into other chunks.
    part = isM ? k.rows(k.c, firstRow, rows)
               : k.columns(k.c, firstColumn, columns);
  }

  Value count() { return k.mul(rowTiles, columnTiles); }
  Value numFlags() {
    return k.fusedSizes({rows, k.columnsOf(k.a), columns, k.size}).numFlags;
  }
  plan::CopyFlags<Value> copyFlags() {
    return k.copyLayout(rows, columns).flags;
  }
  /// The group of tile rows that a tile is in.
  Value groupOf(Value number) {
    return k.div(number, k.mul(k.index(k.config.groupM), columnTiles));
  }
  /// body(location, number) for the tiles of a range.
  void forTiles(const TileRange<Value> &share,
                llvm::function_ref<void(MatrixOffset, Value)> body) {
    k.order(rowTiles, columnTiles)
        .forTiles(share, [&](Value rowTile, Value columnTile) {
          MatrixOffset place = k.tileAt(part, k.mul(rowTile, k.tileRows()),
                                        k.mul(columnTile, k.tileColumns()));
          body(place, k.add(k.mul(rowTile, columnTiles), columnTile));
        });
  }
  Value compute(MatrixOffset place) {
    return k.finishTile(k.ownMatmul(place.row, place.column),
                        k.add(firstRow, place.row),
                        k.add(firstColumn, place.column));
  }

private:
  MatmulBuilder &k;
  Value rows, columns, rowTiles, columnTiles;
  Value firstRow, firstColumn, part;
};
} // namespace

void mlir::iris::buildMatmulAllGatherPush(MatmulBuilder &k) {
  OwnPart own(k);
  k.barrier();
  own.forTiles(k.evenTilesForProgram(own.count()),
               [&](MatrixOffset place, Value) {
                 k.sendTo(0, own.compute(place), place);
               });
  k.barrier();
}

/// Communication programs compute the first tiles, while there is nothing to
/// send.
void mlir::iris::buildMatmulAllGatherSpecialized(MatmulBuilder &k) {
  OwnPart own(k);
  k.beginEpoch(own.numFlags());
  Value commPrograms = k.commPrograms();
  own.forTiles(k.tilesForProgram(own.count(), /*isLate=*/false),
               [&](MatrixOffset place, Value number) {
                 k.store(own.compute(place), place);
                 k.signalHere(number);
               });
  RankedTensorType type = k.sumType().clone(k.config.result);
  k.ifThen(k.less(k.program, commPrograms), [&] {
    k.barrier();
    own.forTiles({k.program, own.count(), commPrograms},
                 [&](MatrixOffset place, Value number) {
                   k.awaitHere(number);
                   k.sendTo(1, k.load(place, type), place);
                 });
    k.barrier();
  });
  k.endEpoch();
}

/// The kernel stores nothing to peers.
void mlir::iris::buildMatmulAllGatherCopyEngine(MatmulBuilder &k) {
  OwnPart own(k);
  plan::CopyFlags<Value> flags = own.copyFlags();
  k.beginCleared(flags.count);
  own.forTiles(k.evenTilesForProgram(own.count()), [&](MatrixOffset place,
                                                       Value number) {
    k.store(own.compute(place), place);
    k.countDown(own.groupOf(number));
    barrierBeforeCopies(k, k.equal(number, k.index(0)), flags.entered);
  });
}
