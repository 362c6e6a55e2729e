// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulReduce.cpp - Matmuls reduced over ranks ----------------------===//
//
// matmul_reduce_scatter
//   push          every rank stores its partial sum of a tile to the tile's
//                 owner, which adds up the tiles it receives
// both
//   specialized   partial sums stay on the rank that computes them;
//                 communication programs add up the tiles that this rank owns
//                 once all members have finished them, and store the sum, to
//                 all ranks for an all-reduce
//   copy_engine   the caller of the kernel copies partial sums to their owners
//                 by copy engine, and for an all-reduce the sums to all ranks
//                 (MatmulCopiedSum.cpp)
// matmul_all_reduce
//   two_shot      like specialized, but all programs compute first, then add up
//   one_shot      every rank adds up all tiles
//   atomic        tiles are added up in every rank's result
//
// Partial sums are communicated in the accumulator type, or rounded to the
// result's type. All ranks add them in group order and get the same bits. See
// docs/internals/fused-matmuls.md for why the protocols are correct.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/MatmulKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::iris;

/// The sum of `load(member)` over all members, in group order. If the size is
/// known, several loads are in flight at once.
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
/// A tile of the sum: its owner, which adds it up, its location in the owner's
/// chunk of c (all of c for an all-reduce), and its index among the tiles of
/// that chunk.
struct SumTile {
  Value owner, row, column, number;
};

/// The tiles of the sum. All ranks compute their partial sums at about the same
/// time, for all owners round-robin. So all links are busy at the same time,
/// and tiles are complete long before the last one is.
class SumTiles {
public:
  explicit SumTiles(MatmulBuilder &k)
      : k(k), isScatter(k.config.kind == MatmulKind::MatmulReduceScatter),
        rows(k.rowsOf(k.c)), columns(k.columnsOf(k.c)),
        rowTiles(k.rowTiles(rows)), columnTiles(k.columnTiles(columns)),
        partTiles(k.mul(rowTiles, columnTiles)) {
    k.beginEpoch(k.fusedSizes({k.rowsOf(k.a), k.columnsOf(k.a),
                               k.columnsOf(k.b_), k.size})
                     .numFlags);
  }

  using Body = llvm::function_ref<void(const SumTile &)>;
  /// Number of tiles of which every rank computes a partial sum.
  Value numPartialSums() {
    return isScatter ? k.mul(k.size, partTiles) : partTiles;
  }
  /// body(tile) for the tiles of a range.
  void forPartialSums(const TileRange<Value> &share, Body body);
  /// The tiles that one of `count` programs of their owner adds up, in the
  /// order in which they are computed.
  void forOwn(Value program, Value count, Body body);
  /// All tiles, in the same order: for variants in which every rank adds up.
  void forAll(const TileRange<Value> &share, Body body);

  /// This rank's matmul for a tile, in the type used for communication.
  Value computePartialSum(const SumTile &tile);
  /// The location of the partial sum of member `source` in the staging buffer.
  MatrixOffset partialSumAt(Value source, const SumTile &tile);
  Value flag(Value source, const SumTile &tile) {
    return k.add(k.mul(source, partTiles), tile.number);
  }
  /// Waits for all members' partial sums of a tile, which `load(member,
  /// column)` returns in strips, adds them up, and passes the strips of the
  /// result to `use`.
  void addUp(const SumTile &tile, llvm::function_ref<Value(Value, Value)> load,
             llvm::function_ref<void(Value, Value)> use);

private:
  SumTile at(Value owner, Value rowTile, Value columnTile, Value number) {
    return {owner, k.mul(rowTile, k.tileRows()),
            k.mul(columnTile, k.tileColumns()), number};
  }
  SumTile atIndex(Value place);

  MatmulBuilder &k;
  bool isScatter;
  Value rows, columns, rowTiles, columnTiles, partTiles;
};
} // namespace

/// All-reduce: the tile at index `place` of the order of partial sums.
SumTile SumTiles::atIndex(Value place) {
  auto tile = k.order(rowTiles, columnTiles).at(place);
  return at(k.rem(place, k.size), tile.row, tile.column, place);
}

void SumTiles::forPartialSums(const TileRange<Value> &share, Body body) {
  if (!isScatter)
    return forAll(share, body);
  // One tile row of every owner, then the next tile row.
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
         [&](Value place) { body(atIndex(place)); });
}

void SumTiles::forAll(const TileRange<Value> &share, Body body) {
  k.loop(share.begin, share.end, share.step,
         [&](Value place) { body(atIndex(place)); });
}

Value SumTiles::computePartialSum(const SumTile &tile) {
  Value first = isScatter ? k.mul(tile.owner, rows) : k.index(0);
  return k.convertTo(k.ownMatmul(k.add(first, tile.row), tile.column),
                     k.config.partialType);
}

/// In a reduce-scatter that pushes, the members' partial sums of this rank's
/// rows are below each other; otherwise the buffer holds this rank's partial
/// sums of all rows. Tiles do not extend into the next chunk.
MatrixOffset SumTiles::partialSumAt(Value source, const SumTile &tile) {
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
  // Pushed partial sums are already local, so the reduction moves no bytes.
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
// Pushed partial sums
//===----------------------------------------------------------------------===//

void mlir::iris::buildMatmulReduceScatterPush(MatmulBuilder &k) {
  SumTiles tiles(k);
  k.barrier();
  tiles.forPartialSums(k.evenTilesForProgram(tiles.numPartialSums()),
                       [&](const SumTile &tile) {
                         Value share = tiles.computePartialSum(tile);
                         MatrixOffset to = tiles.partialSumAt(k.me, tile);
                         k.span("send", k.bytesOf(to, share.getType()),
                                [&] { k.storeTo(tile.owner, share, to); });
                         k.raise(tile.owner, tiles.flag(k.me, tile));
                       });
  tiles.forOwn(k.program, k.programs, [&](const SumTile &tile) {
    tiles.addUp(
        tile,
        [&](Value source, Value column) {
          MatrixOffset share = tiles.partialSumAt(source, tile);
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
// Partial sums read by the reducing rank
//===----------------------------------------------------------------------===//

/// Signals this rank's partial sum to the ranks that add up the tile: all of
/// them (`isOneShot`), or its owner.
static void signalPartialSum(MatmulBuilder &k, SumTiles &tiles,
                             const SumTile &tile, bool isOneShot) {
  if (!isOneShot)
    return k.raise(tile.owner, tiles.flag(k.me, tile));
  k.forMembers(
      0, [&](Value i) { k.raise(k.rotate(k.me, i), tiles.flag(k.me, tile)); });
}

/// Adds up a tile from the partial sums in the members' memory, and stores it
/// to all ranks (`isForAll`) or to this one.
static void addPartialSums(MatmulBuilder &k, SumTiles &tiles,
                           const SumTile &tile, bool isForAll) {
  tiles.addUp(
      tile,
      [&](Value source, Value column) {
        MatrixOffset share = tiles.partialSumAt(source, tile);
        share.column = column;
        return k.loadFrom(source, share, k.stripType(k.config.partialType));
      },
      [&](Value result, Value column) {
        MatrixOffset place{k.c, tile.row, column};
        if (!isForAll)
          return k.store(result, place);
        k.sendTo(0, result, place);
      });
}

/// Only the programs that add up access peers' memory. They run a barrier with
/// their peer programs at the exit, and also at the entry if they write to
/// peers. Communication programs compute the first tiles, while there is
/// nothing to add up; without communication programs all programs compute
/// first.
static void buildShots(MatmulBuilder &k, bool isOneShot) {
  SumTiles tiles(k);
  bool isForAll = k.config.kind == MatmulKind::MatmulAllReduce && !isOneShot;
  bool hasCommPrograms = k.config.hasCommPrograms();
  Value commPrograms = hasCommPrograms ? k.commPrograms() : k.programs;
  tiles.forPartialSums(
      hasCommPrograms
          ? k.tilesForProgram(tiles.numPartialSums(), /*isLate=*/false)
          : k.evenTilesForProgram(tiles.numPartialSums()),
      [&](const SumTile &tile) {
        k.store(tiles.computePartialSum(tile), tiles.partialSumAt(k.me, tile));
        signalPartialSum(k, tiles, tile, isOneShot);
      });
  k.ifThen(k.less(k.program, commPrograms), [&] {
    if (isForAll)
      k.barrier();
    auto add = [&](const SumTile &tile) {
      addPartialSums(k, tiles, tile, isForAll);
    };
    if (isOneShot)
      tiles.forAll(k.evenTilesForProgram(tiles.numPartialSums()), add);
    else
      tiles.forOwn(k.program, commPrograms, add);
    k.barrier();
  });
  k.endEpoch();
}

void mlir::iris::buildMatmulReduceTwoShot(MatmulBuilder &k) {
  buildShots(k, /*isOneShot=*/false);
}

void mlir::iris::buildMatmulReduceOneShot(MatmulBuilder &k) {
  buildShots(k, /*isOneShot=*/true);
}

void mlir::iris::buildMatmulReduceSpecialized(MatmulBuilder &k) {
  buildShots(k, /*isOneShot=*/false);
}

//===----------------------------------------------------------------------===//
// Sums in place
//===----------------------------------------------------------------------===//

/// Adds up tiles in every rank's result, which is initialized first.
void mlir::iris::buildMatmulReduceAtomic(MatmulBuilder &k) {
  Value rows = k.rowTiles(k.rowsOf(k.c));
  Value columns = k.columnTiles(k.columnsOf(k.c));
  auto forOwnTiles = [&](llvm::function_ref<void(Value, Value)> body) {
    k.forTiles(rows, columns, [&](Value rowTile, Value columnTile) {
      body(k.mul(rowTile, k.tileRows()), k.mul(columnTile, k.tileColumns()));
    });
  };
  forOwnTiles([&](Value row, Value column) {
    // Each rank's result starts with its bias, which is added once.
    Value tile = k.addBias(k.zeros(k.config.sum), row, column);
    k.store(tile, k.tileAt(k.c, row, column));
  });
  k.barrier();
  forOwnTiles([&](Value row, Value column) {
    Value tile = k.applyScale(k.ownMatmul(row, column));
    MatrixOffset to = k.tileAt(k.c, row, column);
    k.span("send", k.bytesOf(to, tile.getType(), k.size), [&] {
      k.forMembers(0, [&](Value i) { k.addTo(k.rotate(k.me, i), tile, to); });
    });
  });
  k.barrier();
}
