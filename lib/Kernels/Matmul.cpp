// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matmul.cpp - Products of own matrices ------------------------------===//

#include "iris/Kernels/MatmulKernels.h"

using namespace mlir;
using namespace mlir::iris;

void mlir::iris::buildMatmul(MatmulBuilder &k) {
  Value rows = k.rowTiles(k.rowsOf(k.c));
  Value columns = k.columnTiles(k.columnsOf(k.c));
  k.forTiles(rows, columns, [&](Value rowTile, Value columnTile) {
    Value row = k.mul(rowTile, k.tileRows());
    Value column = k.mul(columnTile, k.tileColumns());
    Value tile = k.finishTile(k.ownProduct(row, column), row, column);
    k.store(tile, k.tileAt(k.c, row, column));
  });
}
