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
/// A tile of the sum: the owner, which reduces it; the offset in the owner's
/// chunk of c (in c for an all-reduce); and the index among the tiles of that
/// chunk.
struct SumTile {
  Value owner, row, column, index;
};

/// The tiles of the sum. Ranks compute partial sums for all owners round-robin,
/// so that all links are busy at the same time, and owners can reduce the first
/// tiles long before the last partial sum is computed.
class SumTiles {
public:
  explicit SumTiles(MatmulBuilder &k)
      : k(k), isScatter(k.config.kind == MatmulKind::MatmulReduceScatter),
        rows(k.rowsOf(k.c)), columns(k.columnsOf(k.c)),
        rowTiles(k.rowTiles(rows)), columnTiles(k.columnTiles(columns)),
        chunkTiles(k.mul(rowTiles, columnTiles)) {
    k.beginEpoch(k.fusedSizes({k.rowsOf(k.a), k.columnsOf(k.a),
                               k.columnsOf(k.b_), k.size})
                     .numFlags);
  }

  using Body = llvm::function_ref<void(const SumTile &)>;
  /// Number of tiles of which every rank computes a partial sum.
  Value numPartialSums() {
    return isScatter ? k.mul(k.size, chunkTiles) : chunkTiles;
  }
  /// body(tile) for the tiles of a range.
  void forPartialSums(const TileRange<Value> &range, Body body);
  /// body(tile) for the tiles that program `program` of `count` programs of
  /// their owner reduces, in the order in which ranks compute them.
  void forOwn(Value program, Value count, Body body);
  /// body(tile) for all tiles of a range, in the same order: for variants in
  /// which every rank reduces every tile.
  void forAll(const TileRange<Value> &range, Body body);

  /// This rank's partial sum of a tile, in the type used for communication.
  Value computePartialSum(const SumTile &tile);
  /// The offset of member `source`'s partial sum in the staging buffer.
  MatrixOffset partialSumAt(Value source, const SumTile &tile);
  Value flag(Value source, const SumTile &tile) {
    return k.add(k.mul(source, chunkTiles), tile.index);
  }
  /// Waits for all members' partial sums of a tile, reduces them in strips of
  /// columns, which `load(member, column)` loads, and runs use(strip, column)
  /// for the strips of the result.
  void reduce(const SumTile &tile, llvm::function_ref<Value(Value, Value)> load,
              llvm::function_ref<void(Value, Value)> use);

private:
  SumTile at(Value owner, Value rowTile, Value columnTile, Value index) {
    return {owner, k.mul(rowTile, k.tileRows()),
            k.mul(columnTile, k.tileColumns()), index};
  }
  SumTile atIndex(Value index);

  MatmulBuilder &k;
  bool isScatter;
  Value rows, columns, rowTiles, columnTiles, chunkTiles;
};
} // namespace

/// All-reduce: the tile at `index` in the order of partial sums.
SumTile SumTiles::atIndex(Value index) {
  auto tile = k.order(rowTiles, columnTiles).at(index);
  return at(k.rem(index, k.size), tile.row, tile.column, index);
}

void SumTiles::forPartialSums(const TileRange<Value> &range, Body body) {
  if (!isScatter)
    return forAll(range, body);
  // One tile row of every owner, then the next tile row.
  k.order(k.mul(k.size, rowTiles), columnTiles)
      .forTiles(range, [&](Value row, Value columnTile) {
        Value owner = k.rotate(k.me, k.add(k.rem(row, k.size), k.index(1)));
        Value rowTile = k.div(row, k.size);
        body(at(owner, rowTile, columnTile,
                k.add(k.mul(rowTile, columnTiles), columnTile)));
      });
}

void SumTiles::forOwn(Value program, Value count, Body body) {
  if (isScatter) {
    k.loop(program, chunkTiles, count, [&](Value index) {
      body(at(k.me, k.div(index, columnTiles), k.rem(index, columnTiles),
              index));
    });
    return;
  }
  k.loop(k.add(k.me, k.mul(program, k.size)), chunkTiles, k.mul(count, k.size),
         [&](Value index) { body(atIndex(index)); });
}

void SumTiles::forAll(const TileRange<Value> &range, Body body) {
  k.loop(range.begin, range.end, range.step,
         [&](Value index) { body(atIndex(index)); });
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
  Value slice = k.config.hasCommPrograms() ? tile.owner : source;
  return k.tileAt(k.rows(k.staging, k.mul(slice, rows), rows), tile.row,
                  tile.column);
}

void SumTiles::reduce(const SumTile &tile,
                      llvm::function_ref<Value(Value, Value)> load,
                      llvm::function_ref<void(Value, Value)> use) {
  k.forMembers(0, [&](Value source) { k.wait(flag(source, tile), source); });
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
                         Value partialSum = tiles.computePartialSum(tile);
                         MatrixOffset to = tiles.partialSumAt(k.me, tile);
                         k.span("send", k.bytesOf(to, partialSum.getType()),
                                [&] { k.storeTo(tile.owner, partialSum, to); });
                         k.signal(tile.owner, tiles.flag(k.me, tile));
                       });
  tiles.forOwn(k.program, k.programs, [&](const SumTile &tile) {
    tiles.reduce(
        tile,
        [&](Value source, Value column) {
          MatrixOffset from = tiles.partialSumAt(source, tile);
          from.column = column;
          return k.load(from, k.stripType(k.config.partialType));
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

/// Signals this rank's partial sum to the ranks that reduce the tile: all ranks
/// (`isOneShot`), or its owner.
static void signalPartialSum(MatmulBuilder &k, SumTiles &tiles,
                             const SumTile &tile, bool isOneShot) {
  if (!isOneShot)
    return k.signal(tile.owner, tiles.flag(k.me, tile));
  k.forMembers(
      0, [&](Value i) { k.signal(k.rotate(k.me, i), tiles.flag(k.me, tile)); });
}

/// Reduces a tile from the partial sums in the members' memory, and stores it
/// to all ranks (`isForAll`) or to this one.
static void addPartialSums(MatmulBuilder &k, SumTiles &tiles,
                           const SumTile &tile, bool isForAll) {
  tiles.reduce(
      tile,
      [&](Value source, Value column) {
        MatrixOffset from = tiles.partialSumAt(source, tile);
        from.column = column;
        return k.loadFrom(source, from, k.stripType(k.config.partialType));
      },
      [&](Value result, Value column) {
        MatrixOffset to{k.c, tile.row, column};
        if (!isForAll)
          return k.store(result, to);
        k.sendTo(0, result, to);
      });
}

/// Only the programs that reduce tiles access peers' memory. They run a barrier
/// with their peer programs at the exit, and also at the entry if they write to
/// peers. Communication programs compute the first tiles, because no partial
/// sums are ready to be reduced yet; without communication programs all
/// programs compute first.
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
