// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matmul.cpp - Local matmuls -----------------------------------------===//
//
// With split_k several programs share the k-steps of an output tile. Each one
// stores its partial sum to the staging buffer, in the accumulator type, and
// increments the tile's counter. The program that arrives last adds all
// partial sums in the order of k, so the result does not depend on which
// program is last. No program waits, so the programs need not be co-resident.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/MatmulKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// The tiles of c, each of which `splitK` programs compute.
class SplitMatmul {
public:
  explicit SplitMatmul(MatmulBuilder &k)
      : k(k), splits(k.index(k.config.splitK)), rows(k.rowsOf(k.c)),
        depth(k.columnsOf(k.a)), columnTiles(k.columnTiles(k.columnsOf(k.c))) {
    // Each split has a whole number of k-steps; the last splits may have none.
    Value steps = k.ceilDiv(depth, k.index(k.config.tileK));
    splitDepth = k.mul(k.ceilDiv(steps, splits), k.index(k.config.tileK));
    k.openCounts(k.mul(k.rowTiles(rows), columnTiles));
  }
  void build();

private:
  MatrixOffset partialAt(Value split, Value row, Value column) {
    return k.tileAt(k.rows(k.staging, k.mul(split, rows), rows), row, column);
  }
  void computePartial(Value split, Value row, Value column);
  void reduce(Value row, Value column);

  MatmulBuilder &k;
  Value splits, rows, depth, columnTiles, splitDepth;
};
} // namespace

void SplitMatmul::computePartial(Value split, Value row, Value column) {
  Value first = k.min(k.mul(split, splitDepth), depth);
  Value length = k.min(splitDepth, k.sub(depth, first));
  k.store(k.multiply({k.a, row, first}, {k.b_, first, column}, length),
          partialAt(split, row, column));
}

void SplitMatmul::reduce(Value row, Value column) {
  k.forStrips(column, [&](Value at) {
    Value sum = k.sumStrips(k.config.splitK, [&](Value split) {
      MatrixOffset from = partialAt(split, row, column);
      from.column = at;
      return k.load(from, k.stripType(k.config.sum));
    });
    k.store(k.finishTile(sum, row, at), {k.c, row, at});
  });
}

void SplitMatmul::build() {
  k.forTiles(k.rowTiles(rows), k.mul(columnTiles, splits),
             [&](Value rowTile, Value unit) {
               Value columnTile = k.div(unit, splits);
               Value row = k.mul(rowTile, k.tileRows());
               Value column = k.mul(columnTile, k.tileColumns());
               computePartial(k.rem(unit, splits), row, column);
               Value tile = k.add(k.mul(rowTile, columnTiles), columnTile);
               // Counters wrap around, and the number of splits is a power of
               // two.
               Value last = k.i32(k.config.splitK - 1);
               Value before = arith::AndIOp::create(k.b, k.arrive(tile), last);
               k.ifThen(k.equal(before, last), [&] { reduce(row, column); });
             });
}

void mlir::iris::buildMatmul(MatmulBuilder &k) {
  if (k.config.isSplit())
    return SplitMatmul(k).build();
  Value rows = k.rowTiles(k.rowsOf(k.c));
  Value columns = k.columnTiles(k.columnsOf(k.c));
  k.forTiles(rows, columns, [&](Value rowTile, Value columnTile) {
    Value row = k.mul(rowTile, k.tileRows());
    Value column = k.mul(columnTile, k.tileColumns());
    Value tile = k.finishTile(k.ownMatmul(row, column), row, column);
    k.store(tile, k.tileAt(k.c, row, column));
  });
}
