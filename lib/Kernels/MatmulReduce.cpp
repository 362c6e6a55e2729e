// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulReduce.cpp - Sums of the matmuls of all ranks ----------------===//
//
// matmul_reduce_scatter
//   push          every rank stores its share of a tile to the tile's owner,
//                 who adds up what it got
// both
//   specialized   shares stay where they are computed; some programs multiply,
//                 the others add up the own tiles as soon as all members have
//                 theirs, and store the sum, to all ranks for an all-reduce
//   copy_engine   who calls the kernel has engines copy shares to their owners,
//                 and of an all-reduce sums to all (MatmulCopiedSum.cpp)
// matmul_all_reduce
//   two_shot      the same, but every program multiplies first
//   one_shot      every rank adds up all tiles
//   atomic        tiles are added up in every rank's result
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

/// The sum of what `load` gives for every member, in the group's order. Where
/// the size is known, several are on their way at once.
static Value sumOf(MatmulBuilder &k, llvm::function_ref<Value(Value)> load) {
  if (k.config.size)
    return k.sumStrips(k.config.size, load);
  RankedTensorType type = k.stripType(k.config.sum);
  Value sum =
      arith::ConstantOp::create(k.b, cast<TypedAttr>(k.b.getZeroAttr(type)));
  return k.accumulate(0, sum, [&](Value source, Value before) {
    return k.addPartialSum(before, load(source));
  });
}

namespace {
/// A tile of the sum: who adds it up, where it is in the owner's part of c (all
/// of c for an all-reduce), and its number among the tiles of that part.
struct SumTile {
  Value owner, row, column, number;
};

/// The tiles of the sum. All ranks compute their shares at about the same time,
/// for all owners in turn: no link is busy while another one is idle, and tiles
/// are complete long before the last one is.
class SumTiles {
public:
  explicit SumTiles(MatmulBuilder &k)
      : k(k), isScatter(k.config.kind == MatmulKind::MatmulReduceScatter),
        rows(k.rowsOf(k.c)), columns(k.columnsOf(k.c)),
        rowTiles(k.rowTiles(rows)), columnTiles(k.columnTiles(columns)),
        partTiles(k.mul(rowTiles, columnTiles)) {
    k.beginEpoch(getFusedSizes(k, k.config,
                               {k.rowsOf(k.a), k.columnsOf(k.a),
                                k.columnsOf(k.b_), k.size})
                     .numFlags);
  }

  using Body = llvm::function_ref<void(const SumTile &)>;
  /// How many tiles every rank computes a share of.
  Value numPartialSums() {
    return isScatter ? k.mul(k.size, partTiles) : partTiles;
  }
  /// Those of a share of them.
  void forPartialSums(const TileRange<Value> &share, Body body);
  /// The tiles that one of `count` programs of their owner adds up, in the
  /// order in which they are computed.
  void forOwn(Value program, Value count, Body body);
  /// All tiles, in the same order: for ranks that all add up.
  void forAll(const TileRange<Value> &share, Body body);

  /// The rank's matmul for a tile, in the type that shares travel in.
  Value computePartialSum(const SumTile &tile);
  /// Where the share of member `source` lies, in the staging.
  Place partialSumAt(Value source, const SumTile &tile);
  Value flag(Value source, const SumTile &tile) {
    return k.add(k.mul(source, partTiles), tile.number);
  }
  /// Waits for all members' shares of a tile, which `load(member, column)`
  /// gives in strips, adds them up, and hands the strips of the result to
  /// `use`.
  void addUp(const SumTile &tile, llvm::function_ref<Value(Value, Value)> load,
             llvm::function_ref<void(Value, Value)> use);

private:
  SumTile at(Value owner, Value rowTile, Value columnTile, Value number) {
    return {owner, k.mul(rowTile, k.tileRows()),
            k.mul(columnTile, k.tileColumns()), number};
  }
  SumTile atPlace(Value place);

  MatmulBuilder &k;
  bool isScatter;
  Value rows, columns, rowTiles, columnTiles, partTiles;
};
} // namespace

/// All-reduce: the tile at a place in the order of shares.
SumTile SumTiles::atPlace(Value place) {
  auto tile = k.order(rowTiles, columnTiles).at(place);
  return at(k.rem(place, k.size), tile.row, tile.column, place);
}

void SumTiles::forPartialSums(const TileRange<Value> &share, Body body) {
  if (!isScatter)
    return forAll(share, body);
  // A row of tiles of every owner, then the next one.
  k.order(k.mul(k.size, rowTiles), columnTiles)
      .forTiles(share, [&](Value row, Value columnTile) {
        Value owner = k.rotate(k.me, k.add(k.rem(row, k.size), k.index(1)));
        Value rowTile = k.div(row, k.size);
        body(at(owner, rowTile, columnTile,
                k.add(k.mul(rowTile, columnTiles), columnTile)));
      });
}

void SumTiles::forOwn(Value program, Value count, Body body) {
  if (isScatter) {
    k.loop(program, partTiles, count, [&](Value number) {
      body(at(k.me, k.div(number, columnTiles), k.rem(number, columnTiles),
              number));
    });
    return;
  }
  k.loop(k.add(k.me, k.mul(program, k.size)), partTiles, k.mul(count, k.size),
         [&](Value place) { body(atPlace(place)); });
}

void SumTiles::forAll(const TileRange<Value> &share, Body body) {
  k.loop(share.begin, share.end, share.step,
         [&](Value place) { body(atPlace(place)); });
}

Value SumTiles::computePartialSum(const SumTile &tile) {
  Value first = isScatter ? k.mul(tile.owner, rows) : k.index(0);
  return k.convertTo(k.ownMatmul(k.add(first, tile.row), tile.column),
                     k.config.partialType);
}

/// Of a scatter that pushes, members' shares of the own rows lie below each
/// other; otherwise a rank has its shares of everything. Tiles do not reach
/// into the next part.
Place SumTiles::partialSumAt(Value source, const SumTile &tile) {
  if (!isScatter)
    return k.tileAt(k.staging, tile.row, tile.column);
  Value part = k.config.hasCommPrograms() ? tile.owner : source;
  return k.tileAt(k.rows(k.staging, k.mul(part, rows), rows), tile.row,
                  tile.column);
}

void SumTiles::addUp(const SumTile &tile,
                     llvm::function_ref<Value(Value, Value)> load,
                     llvm::function_ref<void(Value, Value)> use) {
  k.forMembers(0, [&](Value source) { k.await(flag(source, tile), source); });
  // Pushed shares have been moved before.
  Value bytes;
  if (!isScatter || k.config.hasCommPrograms())
    bytes = k.bytesOf(k.tileAt(k.c, tile.row, tile.column),
                      k.sumType().clone(k.config.partialType), k.size);
  k.span("reduce", bytes, [&] {
    k.forStrips(tile.column, [&](Value at) {
      Value sum = sumOf(k, [&](Value source) { return load(source, at); });
      use(k.finishTile(sum, tile.row, at), at);
    });
  });
}

//===----------------------------------------------------------------------===//
// Shares that are pushed
//===----------------------------------------------------------------------===//

static void buildPush(MatmulBuilder &k) {
  SumTiles tiles(k);
  k.barrier();
  tiles.forPartialSums(k.evenTilesForProgram(tiles.numPartialSums()),
                       [&](const SumTile &tile) {
                         Value share = tiles.computePartialSum(tile);
                         Place to = tiles.partialSumAt(k.me, tile);
                         k.span("send", k.bytesOf(to, share.getType()),
                                [&] { k.storeTo(tile.owner, share, to); });
                         k.raise(tile.owner, tiles.flag(k.me, tile));
                       });
  tiles.forOwn(k.program, k.programs, [&](const SumTile &tile) {
    tiles.addUp(
        tile,
        [&](Value source, Value column) {
          Place share = tiles.partialSumAt(source, tile);
          share.column = column;
          return k.load(share, k.stripType(k.config.partialType));
        },
        [&](Value result, Value column) {
          k.store(result, {k.c, tile.row, column});
        });
  });
  k.endEpoch();
}

//===----------------------------------------------------------------------===//
// Shares that stay
//===----------------------------------------------------------------------===//

/// Tells those who add a tile up of the own share.
static void signalPartialSum(MatmulBuilder &k, SumTiles &tiles,
                             const SumTile &tile) {
  if (k.config.variant != "one_shot")
    return k.raise(tile.owner, tiles.flag(k.me, tile));
  k.forMembers(
      0, [&](Value i) { k.raise(k.rotate(k.me, i), tiles.flag(k.me, tile)); });
}

/// Adds up a tile from where its shares are, and stores it for all who need it.
static void addPartialSums(MatmulBuilder &k, SumTiles &tiles,
                           const SumTile &tile) {
  bool isForAll = k.config.kind == MatmulKind::MatmulAllReduce &&
                  k.config.variant != "one_shot";
  tiles.addUp(
      tile,
      [&](Value source, Value column) {
        Place share = tiles.partialSumAt(source, tile);
        share.column = column;
        return k.loadFrom(source, share, k.stripType(k.config.partialType));
      },
      [&](Value result, Value column) {
        Place place{k.c, tile.row, column};
        if (!isForAll)
          return k.store(result, place);
        k.sendTo(0, result, place);
      });
}

/// Only those who add up touch what is a peer's: they meet their peer programs,
/// at the entry if they also write there. They have the first tiles, while
/// there is nothing to add up; without communication programs all programs
/// multiply first.
static void buildShots(MatmulBuilder &k) {
  SumTiles tiles(k);
  bool isOneShot = k.config.variant == "one_shot";
  bool hasCommPrograms = k.config.hasCommPrograms();
  Value commPrograms = hasCommPrograms ? k.commPrograms() : k.programs;
  tiles.forPartialSums(
      hasCommPrograms
          ? k.tilesForProgram(tiles.numPartialSums(), /*isLate=*/false)
          : k.evenTilesForProgram(tiles.numPartialSums()),
      [&](const SumTile &tile) {
        k.store(tiles.computePartialSum(tile), tiles.partialSumAt(k.me, tile));
        signalPartialSum(k, tiles, tile);
      });
  k.ifThen(k.less(k.program, commPrograms), [&] {
    if (k.config.kind == MatmulKind::MatmulAllReduce && !isOneShot)
      k.barrier();
    auto add = [&](const SumTile &tile) { addPartialSums(k, tiles, tile); };
    if (isOneShot)
      tiles.forAll(k.evenTilesForProgram(tiles.numPartialSums()), add);
    else
      tiles.forOwn(k.program, commPrograms, add);
    k.barrier();
  });
  k.endEpoch();
}

//===----------------------------------------------------------------------===//
// Sums in place
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
    Value tile = k.addBias(k.zeros(k.config.sum), row, column);
    k.store(tile, k.tileAt(k.c, row, column));
  });
  k.barrier();
  forOwnTiles([&](Value row, Value column) {
    Value tile = k.applyScale(k.ownMatmul(row, column));
    Place to = k.tileAt(k.c, row, column);
    k.span("send", k.bytesOf(to, tile.getType(), k.size), [&] {
      k.forMembers(0, [&](Value i) { k.addTo(k.rotate(k.me, i), tile, to); });
    });
  });
  k.barrier();
}

void mlir::iris::buildMatmulReduceScatter(MatmulBuilder &k) {
  if (k.config.variant == "push")
    return buildPush(k);
  if (k.config.isCopied())
    return buildCopiedSum(k);
  buildShots(k);
}

void mlir::iris::buildMatmulAllReduce(MatmulBuilder &k) {
  if (k.config.variant == "atomic")
    return buildAtomic(k);
  if (k.config.isCopied())
    return buildCopiedSum(k);
  buildShots(k);
}
