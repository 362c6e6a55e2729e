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
class OwnChunk {
public:
  explicit OwnChunk(MatmulBuilder &k)
      : k(k), rows(k.rowsOf(k.a)), columns(k.columnsOf(k.b_)),
        rowTiles(k.rowTiles(rows)), columnTiles(k.columnTiles(columns)) {
    bool isM = k.config.shard == "m";
    firstRow = isM ? k.mul(k.me, rows) : k.index(0);
    firstColumn = isM ? k.index(0) : k.mul(k.me, columns);
    // Tiles do not extend into other chunks.
    chunk = isM ? k.rows(k.c, firstRow, rows)
                : k.columns(k.c, firstColumn, columns);
  }

  Value count() { return k.mul(rowTiles, columnTiles); }
  Value numFlags() {
    return k.fusedSizes({rows, k.columnsOf(k.a), columns, k.size}).numFlags;
  }
  plan::CopyFlags<Value> copyFlags() {
    return k.copyLayout(rows, columns).flags;
  }
  /// The group of tile rows that the tile with an index belongs to.
  Value groupOf(Value index) {
    return k.div(index, k.mul(k.index(k.config.groupM), columnTiles));
  }
  /// body(offset, index) for the tiles of a range.
  void forTiles(const TileRange<Value> &range,
                llvm::function_ref<void(MatrixOffset, Value)> body) {
    k.order(rowTiles, columnTiles)
        .forTiles(range, [&](Value rowTile, Value columnTile) {
          MatrixOffset offset = k.tileAt(chunk, k.mul(rowTile, k.tileRows()),
                                         k.mul(columnTile, k.tileColumns()));
          body(offset, k.add(k.mul(rowTile, columnTiles), columnTile));
        });
  }
  Value compute(MatrixOffset offset) {
    return k.finishTile(k.ownMatmul(offset.row, offset.column),
                        k.add(firstRow, offset.row),
                        k.add(firstColumn, offset.column));
  }

private:
  MatmulBuilder &k;
  Value rows, columns, rowTiles, columnTiles;
  Value firstRow, firstColumn, chunk;
};
} // namespace

void mlir::iris::buildMatmulAllGatherPush(MatmulBuilder &k) {
  OwnChunk own(k);
  k.barrier();
  own.forTiles(k.evenTilesForProgram(own.count()),
               [&](MatrixOffset offset, Value) {
                 k.sendTo(0, own.compute(offset), offset);
               });
  k.barrier();
}

/// Communication programs compute the first tiles, because no tile is finished
/// and ready to be sent yet.
void mlir::iris::buildMatmulAllGatherSpecialized(MatmulBuilder &k) {
  OwnChunk own(k);
  k.beginEpoch(own.numFlags());
  Value commPrograms = k.commPrograms();
  own.forTiles(k.tilesForProgram(own.count(), /*isLate=*/false),
               [&](MatrixOffset offset, Value index) {
                 k.store(own.compute(offset), offset);
                 k.signalPrograms(index);
               });
  RankedTensorType type = k.sumType().clone(k.config.result);
  k.ifThen(k.less(k.program, commPrograms), [&] {
    k.barrier();
    own.forTiles({k.program, own.count(), commPrograms},
                 [&](MatrixOffset offset, Value index) {
                   k.waitForProgram(index);
                   k.sendTo(1, k.load(offset, type), offset);
                 });
    k.barrier();
  });
  k.endEpoch();
}

/// The kernel stores nothing to peers.
void mlir::iris::buildMatmulAllGatherCopyEngine(MatmulBuilder &k) {
  OwnChunk own(k);
  plan::CopyFlags<Value> flags = own.copyFlags();
  k.beginCleared(flags.count);
  own.forTiles(k.evenTilesForProgram(own.count()), [&](MatrixOffset offset,
                                                       Value index) {
    k.store(own.compute(offset), offset);
    k.countDown(own.groupOf(index));
    barrierBeforeCopies(k, k.equal(index, k.index(0)), flags.entered);
  });
}
