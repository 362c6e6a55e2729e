// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulReduce.cpp - Sums of the products of all ranks ---------------===//
//
// Shares travel in the type of the sum, or rounded to that of the result. They
// are added in the group's order, by all who add: ranks get the same bits. See
// docs/fused.md for why the protocols are correct.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/MatmulKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::iris;

static void beginEpoch(MatmulBuilder &k) {
  k.beginEpoch(getFusedSizes(
                   k, k.config,
                   {k.rowsOf(k.a), k.columnsOf(k.a), k.columnsOf(k.b_), k.size})
                   .numFlags);
}

static Value add(MatmulBuilder &k, Value sum, Value share) {
  share = k.convertTo(share, k.config.sum);
  if (k.config.sum.isInteger())
    return arith::AddIOp::create(k.b, sum, share);
  return arith::AddFOp::create(k.b, sum, share);
}

/// The sum of what `load` gives for every member, in the group's order. Where
/// the size is known, several are on their way at once.
static Value sumOf(MatmulBuilder &k, llvm::function_ref<Value(Value)> load) {
  RankedTensorType type = k.stripType(k.config.sum);
  Value sum =
      arith::ConstantOp::create(k.b, cast<TypedAttr>(k.b.getZeroAttr(type)));
  if (!k.config.size)
    return k.accumulate(0, sum, [&](Value source, Value before) {
      return add(k, before, load(source));
    });
  constexpr int64_t atOnce = 4;
  for (int64_t first = 0; first < k.config.size; first += atOnce) {
    SmallVector<Value> shares;
    for (int64_t i = first; i < std::min(first + atOnce, k.config.size); ++i)
      shares.push_back(load(k.index(i)));
    for (Value share : shares)
      sum = add(k, sum, share);
  }
  return sum;
}

/// Adds up the members' shares of the tile at (row, column), which
/// `load(member, column)` gives in strips, and hands the strips of the result
/// to `use`.
static void addUp(MatmulBuilder &k, Value row, Value column,
                  llvm::function_ref<Value(Value, Value)> load,
                  llvm::function_ref<void(Value, Value)> use) {
  k.span("reduce", /*bytes=*/Value(), [&] {
    k.forStrips(column, [&](Value at) {
      Value sum = sumOf(k, [&](Value source) { return load(source, at); });
      use(k.finishTile(sum, row, at), at);
    });
  });
}

//===----------------------------------------------------------------------===//
// matmul_reduce_scatter
//===----------------------------------------------------------------------===//

/// Every rank stores its share of a tile to the tile's owner, the own tiles
/// last; then it adds up what it got.
void mlir::iris::buildMatmulReduceScatter(MatmulBuilder &k) {
  Value rows = k.rowsOf(k.c), columns = k.columnsOf(k.c);
  Value rowTiles = k.rowTiles(rows), columnTiles = k.columnTiles(columns);
  beginEpoch(k);
  // A member's share of the own rows. Tiles do not reach into the next one.
  auto slab = [&](Value source) {
    return k.rows(k.staging, k.mul(source, rows), rows);
  };
  auto flag = [&](Value source, Value rowTile, Value columnTile) {
    Value row = k.add(k.mul(source, rowTiles), rowTile);
    return k.add(k.mul(row, columnTiles), columnTile);
  };

  k.barrier();
  Value own = slab(k.me);
  k.forTiles(
      k.mul(k.size, rowTiles), columnTiles, [&](Value place, Value columnTile) {
        Value i = k.add(k.div(place, rowTiles), k.index(1));
        Value owner = k.rotate(k.me, i);
        Value rowTile = k.rem(place, rowTiles);
        Value row = k.mul(rowTile, k.tileRows());
        Value column = k.mul(columnTile, k.tileColumns());
        Value product = k.ownProduct(k.add(k.mul(owner, rows), row), column);
        Value share = k.convertTo(product, k.config.share);
        Place to{own, row, column};
        k.span("send", k.bytesOf(to, share),
               [&] { k.storeTo(owner, share, to); });
        k.raise(owner, flag(k.me, rowTile, columnTile));
      });
  k.forTiles(rowTiles, columnTiles, [&](Value rowTile, Value columnTile) {
    Value row = k.mul(rowTile, k.tileRows());
    Value column = k.mul(columnTile, k.tileColumns());
    k.forMembers(0, [&](Value source) {
      k.await(flag(source, rowTile, columnTile), source);
    });
    addUp(
        k, row, column,
        [&](Value source, Value at) {
          return k.load({slab(source), row, at}, k.stripType(k.config.share));
        },
        [&](Value result, Value at) {
          k.store(result, {k.c, row, at});
        });
  });
  k.endEpoch();
}

//===----------------------------------------------------------------------===//
// matmul_all_reduce
//===----------------------------------------------------------------------===//

/// Tiles are added up in every rank's result, which is cleared before.
static void buildAtomic(MatmulBuilder &k) {
  Value rows = k.rowTiles(k.rowsOf(k.c));
  Value columns = k.columnTiles(k.columnsOf(k.c));
  auto forOwnTiles = [&](llvm::function_ref<void(Value, Value)> body) {
    k.forTiles(rows, columns, [&](Value rowTile, Value columnTile) {
      body(k.mul(rowTile, k.tileRows()), k.mul(columnTile, k.tileColumns()));
    });
  };
  forOwnTiles([&](Value row, Value column) {
    // What is added once.
    k.store(k.addBias(k.zeros(k.config.sum), row, column), {k.c, row, column});
  });
  k.barrier();
  forOwnTiles([&](Value row, Value column) {
    Value tile = k.applyScale(k.ownProduct(row, column));
    Place to{k.c, row, column};
    k.span("send", k.bytesOf(to, tile, k.size), [&] {
      k.forMembers(0, [&](Value i) { k.addTo(k.rotate(k.me, i), tile, to); });
    });
  });
  k.barrier();
}

/// Shares stay where they are computed. `one_shot`: every rank adds up all
/// tiles. `two_shot`: the owner of a tile does, for all.
static void buildShots(MatmulBuilder &k, bool isTwoShot) {
  Value rows = k.rowsOf(k.c), columns = k.columnsOf(k.c);
  Value rowTiles = k.rowTiles(rows), columnTiles = k.columnTiles(columns);
  beginEpoch(k);
  auto number = [&](Value rowTile, Value columnTile) {
    return k.add(k.mul(rowTile, columnTiles), columnTile);
  };
  auto flag = [&](Value source, Value tile) {
    return k.add(k.mul(source, k.mul(rowTiles, columnTiles)), tile);
  };
  auto ownerOf = [&](Value tile) { return k.rem(tile, k.size); };

  if (isTwoShot)
    k.barrier();
  k.forTiles(rowTiles, columnTiles, [&](Value rowTile, Value columnTile) {
    Value row = k.mul(rowTile, k.tileRows());
    Value column = k.mul(columnTile, k.tileColumns());
    k.store(k.convertTo(k.ownProduct(row, column), k.config.share),
            {k.staging, row, column});
    Value tile = number(rowTile, columnTile);
    if (isTwoShot)
      return k.raise(ownerOf(tile), flag(k.me, tile));
    k.forMembers(
        0, [&](Value i) { k.raise(k.rotate(k.me, i), flag(k.me, tile)); });
  });
  k.forTiles(rowTiles, columnTiles, [&](Value rowTile, Value columnTile) {
    Value row = k.mul(rowTile, k.tileRows());
    Value column = k.mul(columnTile, k.tileColumns());
    Value tile = number(rowTile, columnTile);
    auto addUpTile = [&](llvm::function_ref<void(Value, Value)> use) {
      k.forMembers(0,
                   [&](Value source) { k.await(flag(source, tile), source); });
      addUp(
          k, row, column,
          [&](Value source, Value at) {
            return k.loadFrom(source, {k.staging, row, at},
                              k.stripType(k.config.share));
          },
          use);
    };
    if (!isTwoShot)
      return addUpTile([&](Value result, Value at) {
        k.store(result, {k.c, row, at});
      });
    k.ifThen(k.equal(ownerOf(tile), k.me), [&] {
      addUpTile([&](Value result, Value at) {
        k.forMembers(0, [&](Value i) {
          k.storeTo(k.rotate(k.me, i), result, {k.c, row, at});
        });
      });
    });
  });
  k.barrier();
  k.endEpoch();
}

void mlir::iris::buildMatmulAllReduce(MatmulBuilder &k) {
  if (k.config.variant == "atomic")
    return buildAtomic(k);
  buildShots(k, k.config.variant == "two_shot");
}
