// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AllGatherMatmul.cpp - Matmul of an all-gathered matrix -------------===//
//
// The shards of a are slices of its columns (shard k) or of its rows (shard m).
// With shard k a tile of c is a sum over all shards, and starts with this
// rank's shard. With shard m a tile needs one shard, and a rank computes the
// tiles of its own shard first.
//
//   pull         loads the shards from the peers
//   hbm_buffer   communication programs load the peers' shards to the staging
//                buffer, unit by unit; compute programs wait for each unit
//   push         as hbm_buffer, but the owner of a shard stores it to all peers
//   copy_engine  the caller of the kernel copies the shards by copy engine
//                while the kernel runs
//   gathered     a is the output of an all-gather: one shard after another
//                (shard k only; with shard m the output is one matrix)
//
// See docs/internals/fused-matmuls.md for why they are correct.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/MatmulKernels.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// The shards of a, and the matmuls of tiles of c.
class Shards {
public:
  /// The offset of row `row`, column 0, of the shard of `source`.
  using LocateFn = llvm::function_ref<MatrixOffset(Value source, Value row)>;
  /// Runs before a k-block of a tile row of a peer's shard is read.
  using Before =
      llvm::function_ref<void(Value source, Value rowTile, Value kb)>;

  explicit Shards(MatmulBuilder &k)
      : rows(k.rowsOf(k.a)), depth(k.columnsOf(k.a)),
        rowTiles(k.rowTiles(rows)), k(k) {}

  bool isK() const { return k.config.shard == "k"; }
  /// An order of a grid with `rows` rows and `columns` columns, in the config's
  /// stages.
  TileOrder<ScalarBuilder> order(Value rows, Value columns);
  /// The tiles of c.
  TileOrder<ScalarBuilder> tiles() {
    return order(isK() ? rowTiles : k.mul(k.size, rowTiles),
                 k.columnTiles(k.columnsOf(k.c)));
  }
  /// Computes the tiles of a range.
  void multiply(const TileRange<Value> &range, LocateFn locate, Before before);

  /// Rows, columns and tile rows of one shard.
  Value rows, depth, rowTiles;

private:
  Value multiplyOwn(Value row, Value bRow, Value column);
  Value multiplyPeer(Value source, Value rowTile, Value bRow, Value column,
                     Value init, LocateFn locate, Before before);
  Value multiplyBlocks(Value rowTile, Value column, LocateFn locate,
                       Before before);
  Value multiplyShards(Value rowTile, Value column, LocateFn locate,
                       Before before);
  void computeAll(Value rowTile, Value column, LocateFn locate, Before before);
  void computeOne(Value rowTile, Value column, LocateFn locate, Before before);

  MatmulBuilder &k;
};
} // namespace

TileOrder<ScalarBuilder> Shards::order(Value rows, Value columns) {
  if (k.config.fetchStages == 1)
    return k.order(rows, columns);
  Value stageRows = k.ceilDiv(rows, k.index(k.config.fetchStages));
  return {k, rows, columns, k.config.groupM, stageRows};
}

Value Shards::multiplyOwn(Value row, Value bRow, Value column) {
  return k.multiply({k.a, row, k.index(0)}, {k.b_, bRow, column}, depth);
}

Value Shards::multiplyPeer(Value source, Value rowTile, Value bRow,
                           Value column, Value init, LocateFn locate,
                           Before before) {
  MatrixOffset left = locate(source, k.mul(rowTile, k.tileRows()));
  MatrixOffset right{k.b_, bRow, column};
  if (!before)
    return k.multiply(left, right, depth, init);
  return k.multiply(left, right, depth, init,
                    [&](Value kb) { before(source, rowTile, kb); });
}

/// A sum over all shards for the case that no k-block spans two shards: the
/// k-blocks of all peers form one loop.
Value Shards::multiplyBlocks(Value rowTile, Value column, LocateFn locate,
                             Before before) {
  Value row = k.mul(rowTile, k.tileRows());
  Value own = multiplyOwn(row, k.mul(k.me, depth), column);
  Value blocks = k.div(depth, k.index(k.config.tileK));
  Value peers = k.sub(k.size, k.index(1));
  int64_t maxPeers =
      (k.config.size ? k.config.size : Workspace::maxAnyMembers) - 1;
  return k.multiplyAt(
      locate(k.me, row), {k.b_, k.index(0), column}, k.mul(peers, depth), own,
      [&](Value kb) -> MatmulBuilder::OperandOffsets {
        Value shard = k.divUpTo(kb, blocks, maxPeers - 1);
        Value source = k.rotate(k.me, k.add(shard, k.index(1)));
        Value block = k.sub(kb, k.mul(shard, blocks));
        if (before)
          before(source, rowTile, block);
        Value start = k.mul(block, k.index(k.config.tileK));
        MatrixOffset a = locate(source, row);
        return {{a.matrix, a.row, start},
                {k.b_, k.add(k.mul(source, depth), start), column}};
      });
}

/// As `multiplyBlocks`, for any number of columns in a shard.
Value Shards::multiplyShards(Value rowTile, Value column, LocateFn locate,
                             Before before) {
  Value row = k.mul(rowTile, k.tileRows());
  Value own = multiplyOwn(row, k.mul(k.me, depth), column);
  return k.accumulate(1, own, [&](Value i, Value sum) {
    Value source = k.rotate(k.me, i);
    return multiplyPeer(source, rowTile, k.mul(source, depth), column, sum,
                        locate, before);
  });
}

/// A tile of c with shard k: the tile row of all shards.
void Shards::computeAll(Value rowTile, Value column, LocateFn locate,
                        Before before) {
  Value row = k.mul(rowTile, k.tileRows());
  auto write = [&](Value sum) {
    Value tile = k.finishTile(sum, row, column);
    k.store(tile, k.tileAt(k.c, row, column));
  };
  Value left = k.rem(depth, k.index(k.config.tileK));
  k.ifThenElse(
      k.equal(left, k.index(0)),
      [&] { write(multiplyBlocks(rowTile, column, locate, before)); },
      [&] { write(multiplyShards(rowTile, column, locate, before)); });
}

/// A tile of c with shard m: a tile row of one shard. The tile does not extend
/// into the next shard.
void Shards::computeOne(Value rowTile, Value column, LocateFn locate,
                        Before before) {
  Value source = k.rotate(k.me, k.div(rowTile, rowTiles));
  Value shardTile = k.rem(rowTile, rowTiles);
  Value row = k.mul(shardTile, k.tileRows());
  Value start = k.mul(source, rows);
  Value result = k.rows(k.c, start, rows);
  auto write = [&](Value sum) {
    Value tile = k.finishTile(sum, k.add(start, row), column);
    k.store(tile, k.tileAt(result, row, column));
  };
  k.ifThenElse(
      k.equal(source, k.me),
      [&] { write(multiplyOwn(row, k.index(0), column)); },
      [&] {
        write(multiplyPeer(source, shardTile, k.index(0), column, /*init=*/{},
                           locate, before));
      });
}

void Shards::multiply(const TileRange<Value> &range, LocateFn locate,
                      Before before) {
  tiles().forTiles(range, [&](Value rowTile, Value columnTile) {
    Value column = k.mul(columnTile, k.tileColumns());
    if (isK())
      computeAll(rowTile, column, locate, before);
    else
      computeOne(rowTile, column, locate, before);
  });
}

//===----------------------------------------------------------------------===//
// pull
//===----------------------------------------------------------------------===//

void mlir::iris::buildAllGatherMatmulPull(MatmulBuilder &k) {
  k.barrier();
  Shards shards(k);
  shards.multiply(k.evenTilesForProgram(shards.tiles().count()),
                  [&](Value source, Value row) -> MatrixOffset {
                    return {k.onMember(source, k.a), row, k.index(0)};
                  },
                  /*before=*/{});
  k.barrier();
}

//===----------------------------------------------------------------------===//
// hbm_buffer, push
//===----------------------------------------------------------------------===//

/// The number of flags for copies of shards.
static Value numFlagsOf(MatmulBuilder &k, Shards &shards) {
  return k.fusedSizes({shards.rows, shards.depth, k.columnsOf(k.b_), k.size})
      .numFlags;
}

/// The offset of a row of a shard in the staging buffer. A tile may extend into
/// the next shard, which may still be arriving; those rows of c are not stored.
/// Loads that are bounded to the shard need more instructions.
static MatrixOffset stagedRow(MatmulBuilder &k, Shards &shards, Value source,
                              Value row) {
  return {k.staging, k.add(k.mul(source, shards.rows), row), k.index(0)};
}

namespace {
/// The staging buffer: a slice for the shard of each rank. A unit is a tile row
/// by `kPerFlag` k-blocks; it is copied at once and has a flag.
class Staging {
public:
  /// `isPushed`: peers store the units, and not programs of this rank.
  Staging(MatmulBuilder &k, Shards &shards, bool isPushed)
      : k(k), shards(shards), isPushed(isPushed),
        blocks(k.index(k.config.kPerFlag)),
        groups(k.ceilDiv(shards.depth,
                         k.index(k.config.kPerFlag * k.config.tileK))) {
    k.beginEpoch(numFlagsOf(k, shards));
  }

  /// The slice for a shard; stores are bounded to it.
  Value slice(Value source) {
    return k.rows(k.staging, k.mul(source, shards.rows), shards.rows);
  }
  Value flag(Value source, Value rowTile, Value group) {
    Value row = k.add(k.mul(source, shards.rowTiles), rowTile);
    return k.add(k.mul(row, groups), group);
  }
  /// Waits for the unit of a k-block, at its first k-block.
  void wait(Value source, Value rowTile, Value kb);

  using UnitBody =
      llvm::function_ref<void(Value i, Value rowTile, Value group)>;
  /// body(i, row tile, group) for the units that this program copies, stage by
  /// stage; a unit belongs to the shard of member me + i, i = 1 ... size - 1.
  void forUnits(UnitBody body);
  /// copy(row, column) for the tiles of a unit, which begin at that element.
  void forTiles(Value rowTile, Value group,
                llvm::function_ref<void(Value, Value)> copy);
  RankedTensorType tileType() const { return typeOf(blocksAtOnce()); }
  /// Bytes of a unit, clipped to the shard.
  Value unitBytes(Value rowTile, Value group);

private:
  /// Number of k-blocks per load. A communication program is bound by link
  /// latency: the more bytes a load covers, the fewer programs saturate the
  /// link. A thread holds up to 256 bytes.
  int64_t blocksAtOnce() const;
  RankedTensorType typeOf(int64_t blocks) const {
    return RankedTensorType::get({k.config.tileM, blocks * k.config.tileK},
                                 k.config.storage);
  }

  MatmulBuilder &k;
  Shards &shards;
  bool isPushed;
  /// k-blocks of a unit, and units of a tile row.
  Value blocks, groups;
};
} // namespace

int64_t Staging::blocksAtOnce() const {
  constexpr int64_t threadBytes = 256, waveSize = 32;
  int64_t most = threadBytes * k.config.warps * waveSize;
  int64_t blockBytes =
      k.config.tileM * k.config.tileK * k.config.storageBytes();
  int64_t blocks = 1;
  while (k.config.kPerFlag % (2 * blocks) == 0 &&
         2 * blocks * blockBytes <= most)
    blocks *= 2;
  return blocks;
}

Value Staging::unitBytes(Value rowTile, Value group) {
  RankedTensorType type = typeOf(k.config.kPerFlag);
  Value column = k.mul(group, k.index(type.getDimSize(1)));
  return k.bytesOf({k.a, k.mul(rowTile, k.tileRows()), column}, type);
}

void Staging::wait(Value source, Value rowTile, Value kb) {
  k.ifThen(k.equal(k.rem(kb, blocks), k.index(0)), [&] {
    Value index = flag(source, rowTile, k.div(kb, blocks));
    if (isPushed)
      k.wait(index, source);
    else
      k.waitForProgram(index);
  });
}

void Staging::forUnits(UnitBody body) {
  Value peers = k.sub(k.size, k.index(1));
  bool isK = shards.isK();
  auto order = isK ? shards.order(shards.rowTiles, k.mul(peers, groups))
                   : shards.order(k.mul(peers, shards.rowTiles), groups);
  auto forStage = [&](Value stage, int64_t most) {
    Value count = k.min(k.index(most), k.programs);
    k.ifThen(k.less(k.program, count), [&] {
      order.forTiles(k.program, count, order.stageBegin(stage),
                     order.stageBegin(k.add(stage, k.index(1))),
                     [&](Value row, Value column) {
                       Value i = k.div(isK ? column : row,
                                       isK ? groups : shards.rowTiles);
                       i = k.add(i, k.index(1));
                       if (isK)
                         body(i, row, k.rem(column, groups));
                       else
                         body(i, k.rem(row, shards.rowTiles), column);
                     });
    });
  };
  forStage(k.index(0), k.config.firstStageFetchPrograms);
  k.loop(k.index(1), order.stages(), k.index(1),
         [&](Value stage) { forStage(stage, k.config.fetchPrograms); });
}

void Staging::forTiles(Value rowTile, Value group,
                       llvm::function_ref<void(Value, Value)> copy) {
  Value row = k.mul(rowTile, k.tileRows());
  k.loop(k.index(0), blocks, k.index(blocksAtOnce()), [&](Value i) {
    Value block = k.add(k.mul(group, blocks), i);
    copy(row, k.mul(block, k.index(k.config.tileK)));
  });
}

/// Communication programs run a barrier with their peer programs first, and
/// another one at the end unless they push, since they then read peers' memory;
/// then they compute the last tiles. `copyUnit` copies a unit, in a trace span
/// named `spanName`.
static void
buildStaged(MatmulBuilder &k, StringRef spanName, bool isPushed,
            llvm::function_ref<void(Staging &, Value, Value, Value)> copyUnit) {
  Shards shards(k);
  Staging staging(k, shards, isPushed);
  Value commPrograms =
      k.min(k.index(k.config.firstStageFetchPrograms), k.programs);
  k.ifThen(k.less(k.program, commPrograms), [&] {
    k.barrier();
    staging.forUnits([&](Value i, Value rowTile, Value group) {
      k.span(spanName, staging.unitBytes(rowTile, group),
             [&] { copyUnit(staging, i, rowTile, group); });
    });
    if (!isPushed)
      k.barrier();
  });
  shards.multiply(
      k.tilesForProgram(shards.tiles().count(), /*isLate=*/true),
      [&](Value source, Value row) {
        return stagedRow(k, shards, source, row);
      },
      [&](Value source, Value rowTile, Value kb) {
        staging.wait(source, rowTile, kb);
      });
  k.endEpoch();
}

void mlir::iris::buildAllGatherMatmulHBMBuffer(MatmulBuilder &k) {
  buildStaged(
      k, "fetch", /*isPushed=*/false,
      [&](Staging &s, Value i, Value rowTile, Value group) {
        Value source = k.rotate(k.me, i);
        Value slice = s.slice(source);
        s.forTiles(rowTile, group, [&](Value row, Value column) {
          Value tile = k.loadFrom(source, {k.a, row, column}, s.tileType());
          k.store(tile, {slice, row, column});
        });
        k.signalPrograms(s.flag(source, rowTile, group));
      });
}

/// Sends a unit first to the peers that need it first.
void mlir::iris::buildAllGatherMatmulPush(MatmulBuilder &k) {
  buildStaged(k, "send", /*isPushed=*/true,
              [&](Staging &s, Value i, Value rowTile, Value group) {
                Value receiver = k.rotate(k.me, k.sub(k.size, i));
                Value slice = s.slice(k.me);
                s.forTiles(rowTile, group, [&](Value row, Value column) {
                  Value tile = k.load({k.a, row, column}, s.tileType());
                  k.storeTo(receiver, tile, {slice, row, column});
                });
                k.signal(receiver, s.flag(k.me, rowTile, group));
              });
}

//===----------------------------------------------------------------------===//
// copy_engine
//===----------------------------------------------------------------------===//

/// Copies are groups of tile rows with all their columns. The kernel accesses
/// no peer: its caller synchronizes with the peers.
void mlir::iris::buildAllGatherMatmulCopyEngine(MatmulBuilder &k) {
  Shards shards(k);
  k.beginCleared(numFlagsOf(k, shards));
  Value groupRows = k.index(k.config.groupM);
  auto layout = k.copyLayout(shards.rows, k.columnsOf(k.b_));
  shards.multiply(
      k.evenTilesForProgram(shards.tiles().count()),
      [&](Value source, Value row) {
        return stagedRow(k, shards, source, row);
      },
      [&](Value source, Value rowTile, Value kb) {
        k.ifThen(k.equal(kb, k.index(0)), [&] {
          Value group = k.div(rowTile, groupRows);
          k.wait(layout.gatheredFlag(source, group), source);
        });
      });
}

//===----------------------------------------------------------------------===//
// gathered
//===----------------------------------------------------------------------===//

/// All shards are in local memory: a tile is a sum over them, in group order.
void mlir::iris::buildAllGatherMatmulGathered(MatmulBuilder &k) {
  Value rows = k.rowsOf(k.c), depth = k.columnsOf(k.a);
  Value block = k.index(k.config.tileK), zero = k.index(0);
  // A tile may extend into the next shard; those rows are not stored.
  auto offsetIn = [&](Value source, Value row, Value column) -> MatrixOffset {
    return {k.a, k.add(k.mul(source, rows), row), column};
  };
  auto wholeBlocks = [&](Value row, Value column) {
    Value blocks = k.div(depth, block);
    return k.multiplyAt(
        offsetIn(zero, row, zero), {k.b_, zero, column}, k.mul(k.size, depth),
        /*init=*/{}, [&](Value kb) -> MatmulBuilder::OperandOffsets {
          Value source = k.div(kb, blocks);
          Value start = k.mul(k.rem(kb, blocks), block);
          return {offsetIn(source, row, start),
                  {k.b_, k.add(k.mul(source, depth), start), column}};
        });
  };
  auto shardByShard = [&](Value row, Value column) {
    return k.accumulate(0, k.zeros(k.config.sum), [&](Value source, Value sum) {
      return k.multiply(offsetIn(source, row, zero),
                        {k.b_, k.mul(source, depth), column}, depth, sum);
    });
  };
  k.forTiles(k.rowTiles(rows), k.columnTiles(k.columnsOf(k.c)),
             [&](Value rowTile, Value columnTile) {
               Value row = k.mul(rowTile, k.tileRows());
               Value column = k.mul(columnTile, k.tileColumns());
               auto write = [&](Value sum) {
                 Value tile = k.finishTile(sum, row, column);
                 k.store(tile, k.tileAt(k.c, row, column));
               };
               k.ifThenElse(
                   k.equal(k.rem(depth, block), zero),
                   [&] { write(wholeBlocks(row, column)); },
                   [&] { write(shardByShard(row, column)); });
             });
}
