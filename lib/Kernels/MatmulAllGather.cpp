// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulAllGather.cpp - Products that all ranks get ------------------===//
//
// Every rank stores each finished tile to all ranks, in rotated order, so that
// no two ranks store to one receiver at once. See docs/fused.md for why this is
// correct.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/MatmulKernels.h"

using namespace mlir;
using namespace mlir::iris;

void mlir::iris::buildMatmulAllGather(MatmulBuilder &k) {
  bool isM = k.config.shard == "m";
  Value rows = k.rowsOf(k.a), columns = k.columnsOf(k.b_);
  // Where the own part of c begins.
  Value firstRow = isM ? k.mul(k.me, rows) : k.index(0);
  Value firstColumn = isM ? k.index(0) : k.mul(k.me, columns);
  Value part =
      isM ? k.rows(k.c, firstRow, rows) : k.columns(k.c, firstColumn, columns);
  k.barrier();
  k.forTiles(k.rowTiles(rows), k.columnTiles(columns),
             [&](Value rowTile, Value columnTile) {
               Value row = k.mul(rowTile, k.tileRows());
               Value column = k.mul(columnTile, k.tileColumns());
               Value tile =
                   k.finishTile(k.ownProduct(row, column), k.add(firstRow, row),
                                k.add(firstColumn, column));
               k.forMembers(0, [&](Value i) {
                 k.storeTo(k.rotate(k.me, i), tile, {part, row, column});
               });
             });
  k.barrier();
}
