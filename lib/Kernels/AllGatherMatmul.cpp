// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AllGatherMatmul.cpp - Products of a matrix that all have a part of -===//
//
// Ranks have parts of a beside each other (shard k) or below each other (shard
// m). With shard k a tile of c is a sum over all parts, the own one first; with
// shard m it comes from one part, and tiles of the own part come first.
//
//   pull         reads the parts where they are
//   hbm_buffer   some programs fetch the others' parts to the workspace, unit
//   by
//                unit; the others wait for a unit when they need it
//   push         the same, but the owner of a part stores it to all others
//
// See docs/fused.md for why they are correct.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/MatmulKernels.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// The parts of a, and the tiles of c that need them.
class Parts {
public:
  /// The matrix that the part of another member is read from.
  using PartOf = llvm::function_ref<Value(Value source)>;
  /// Runs before a k-block of a row of tiles of another's part is read.
  using Before =
      llvm::function_ref<void(Value source, Value rowTile, Value kb)>;

  explicit Parts(MatmulBuilder &k)
      : rows(k.rowsOf(k.a)), depth(k.columnsOf(k.a)),
        rowTiles(k.rowTiles(rows)), k(k) {}

  bool isK() const { return k.config.shard == "k"; }
  /// An order of as many rows and columns of things, in the config's stages.
  TileOrder<ScalarBuilder> order(Value rows, Value columns);
  /// Computes the tiles that program `number` of `count` has.
  void multiply(Value number, Value count, PartOf partOf, Before before = {});

  /// Of one part.
  Value rows, depth, rowTiles;

private:
  Value multiplyPart(Value part, Value rowTile, Value bRow, Value column,
                     Value init, llvm::function_ref<void(Value)> before = {});
  void multiplyAll(Value rowTile, Value column, PartOf partOf, Before before);
  void multiplyOne(Value rowTile, Value column, PartOf partOf, Before before);

  MatmulBuilder &k;
};
} // namespace

TileOrder<ScalarBuilder> Parts::order(Value rows, Value columns) {
  if (k.config.fetchStages == 1)
    return k.order(rows, columns);
  Value stageRows = k.ceilDiv(rows, k.index(k.config.fetchStages));
  return {k, rows, columns, k.config.groupM, stageRows};
}

Value Parts::multiplyPart(Value part, Value rowTile, Value bRow, Value column,
                          Value init, llvm::function_ref<void(Value)> before) {
  return k.multiply({part, k.mul(rowTile, k.tileRows()), k.index(0)},
                    {k.b_, bRow, column}, depth, init, before);
}

/// A tile of c with shard k: a row of tiles of all parts.
void Parts::multiplyAll(Value rowTile, Value column, PartOf partOf,
                        Before before) {
  Value own = multiplyPart(k.a, rowTile, k.mul(k.me, depth), column, {});
  Value sum = k.accumulate(1, own, [&](Value i, Value sum) {
    Value source = k.rotate(k.me, i);
    auto wait = [&](Value kb) { before(source, rowTile, kb); };
    llvm::function_ref<void(Value)> region;
    if (before)
      region = wait;
    return multiplyPart(partOf(source), rowTile, k.mul(source, depth), column,
                        sum, region);
  });
  Value row = k.mul(rowTile, k.tileRows());
  k.store(k.finishTile(sum, row, column), {k.c, row, column});
}

/// A tile of c with shard m: a row of tiles of one part. It does not reach into
/// the next one.
void Parts::multiplyOne(Value rowTile, Value column, PartOf partOf,
                        Before before) {
  Value source = k.rotate(k.me, k.div(rowTile, rowTiles));
  Value partTile = k.rem(rowTile, rowTiles);
  Value row = k.mul(partTile, k.tileRows());
  Value start = k.mul(source, rows);
  Value result = k.rows(k.c, start, rows);
  auto write = [&](Value part, llvm::function_ref<void(Value)> region) {
    Value sum = multiplyPart(part, partTile, k.index(0), column, {}, region);
    k.store(k.finishTile(sum, k.add(start, row), column),
            {result, row, column});
  };
  auto wait = [&](Value kb) { before(source, partTile, kb); };
  llvm::function_ref<void(Value)> region;
  if (before)
    region = wait;
  k.ifThenElse(
      k.equal(source, k.me), [&] { write(k.a, {}); },
      [&] { write(partOf(source), region); });
}

void Parts::multiply(Value number, Value count, PartOf partOf, Before before) {
  Value resultRows = isK() ? rowTiles : k.mul(k.size, rowTiles);
  order(resultRows, k.columnTiles(k.columnsOf(k.c)))
      .forTiles(number, count, [&](Value rowTile, Value columnTile) {
        Value column = k.mul(columnTile, k.tileColumns());
        if (isK())
          multiplyAll(rowTile, column, partOf, before);
        else
          multiplyOne(rowTile, column, partOf, before);
      });
}

//===----------------------------------------------------------------------===//
// pull
//===----------------------------------------------------------------------===//

static void buildPull(MatmulBuilder &k) {
  k.barrier();
  Parts parts(k);
  parts.multiply(k.program, k.programs,
                 [&](Value source) { return k.onMember(source, k.a); });
  k.barrier();
}

//===----------------------------------------------------------------------===//
// hbm_buffer, push
//===----------------------------------------------------------------------===//

namespace {
/// Copies of parts in slabs of the workspace. They come in units: a row of
/// tiles by as many k-blocks as share a flag.
class Staging {
public:
  Staging(MatmulBuilder &k, Parts &parts)
      : k(k), parts(parts),
        layout(layOut(k, k.config,
                      {parts.rows, parts.depth, k.columnsOf(k.b_), k.size})),
        blocks(k.index(k.config.kPerFlag)),
        groups(k.ceilDiv(parts.depth,
                         k.index(k.config.kPerFlag * k.config.tileK))) {
    k.beginEpoch(layout);
  }

  Value slab(Value source) {
    return k.slab(layout, source, parts.rows, parts.depth, k.config.storage);
  }
  Value flag(Value source, Value rowTile, Value group) {
    Value row = k.add(k.mul(source, parts.rowTiles), rowTile);
    return k.add(k.mul(row, groups), group);
  }
  /// Waits for the unit of a k-block when its first block comes.
  void await(Value source, Value rowTile, Value kb);

  using UnitBody =
      llvm::function_ref<void(Value i, Value rowTile, Value group)>;
  /// body(i, row tile, group) for the units that this program moves, stage by
  /// stage: those of member i after the own place, i = 1 ... size - 1.
  void forUnits(UnitBody body);
  /// move(row, column) for the tiles of a unit: their first element.
  void forTiles(Value rowTile, Value group,
                llvm::function_ref<void(Value, Value)> move);
  RankedTensorType tileType() const {
    return RankedTensorType::get({k.config.tileM, k.config.tileK},
                                 k.config.storage);
  }

private:
  MatmulBuilder &k;
  Parts &parts;
  MatmulBuilder::Workspace layout;
  /// k-blocks of a unit, and units of a row of tiles.
  Value blocks, groups;
};
} // namespace

void Staging::await(Value source, Value rowTile, Value kb) {
  k.ifThen(k.equal(k.rem(kb, blocks), k.index(0)), [&] {
    Value place = flag(source, rowTile, k.div(kb, blocks));
    if (k.config.variant == "push")
      k.await(place, source);
    else
      k.awaitHere(place);
  });
}

void Staging::forUnits(UnitBody body) {
  Value others = k.sub(k.size, k.index(1));
  bool isK = parts.isK();
  auto order = isK ? parts.order(parts.rowTiles, k.mul(others, groups))
                   : parts.order(k.mul(others, parts.rowTiles), groups);
  auto forStage = [&](Value stage, int64_t most) {
    Value count = k.min(k.index(most), k.programs);
    k.ifThen(k.less(k.program, count), [&] {
      order.forTiles(k.program, count, order.stageBegin(stage),
                     order.stageBegin(k.add(stage, k.index(1))),
                     [&](Value row, Value column) {
                       Value i = k.div(isK ? column : row,
                                       isK ? groups : parts.rowTiles);
                       i = k.add(i, k.index(1));
                       if (isK)
                         body(i, row, k.rem(column, groups));
                       else
                         body(i, k.rem(row, parts.rowTiles), column);
                     });
    });
  };
  forStage(k.index(0), k.config.firstStageFetchPrograms);
  k.loop(k.index(1), order.stages(), k.index(1),
         [&](Value stage) { forStage(stage, k.config.fetchPrograms); });
}

void Staging::forTiles(Value rowTile, Value group,
                       llvm::function_ref<void(Value, Value)> move) {
  Value row = k.mul(rowTile, k.tileRows());
  k.loop(k.index(0), blocks, k.index(1), [&](Value i) {
    Value block = k.add(k.mul(group, blocks), i);
    move(row, k.mul(block, k.index(k.config.tileK)));
  });
}

/// Programs that move parts meet their namesakes before, and after if they
/// read what is not theirs. With fewer programs than are to fetch, all of them
/// multiply as well.
static void
buildStaged(MatmulBuilder &k, bool meetsAfter,
            llvm::function_ref<void(Staging &, Value, Value, Value)> moveUnit) {
  Parts parts(k);
  Staging staging(k, parts);
  Value movers = k.min(k.index(k.config.firstStageFetchPrograms), k.programs);
  k.ifThen(k.less(k.program, movers), [&] {
    k.barrier();
    staging.forUnits([&](Value i, Value rowTile, Value group) {
      moveUnit(staging, i, rowTile, group);
    });
    if (meetsAfter)
      k.barrier();
  });
  Value fetchers = k.index(k.config.fetchPrograms);
  Value first = k.select(k.less(fetchers, k.programs), fetchers, k.index(0));
  k.ifThen(k.notLess(k.program, first), [&] {
    parts.multiply(
        k.sub(k.program, first), k.sub(k.programs, first),
        [&](Value source) { return staging.slab(source); },
        [&](Value source, Value rowTile, Value kb) {
          staging.await(source, rowTile, kb);
        });
  });
  k.endEpoch();
}

static void buildHBMBuffer(MatmulBuilder &k) {
  buildStaged(
      k, /*meetsAfter=*/true,
      [&](Staging &s, Value i, Value rowTile, Value group) {
        Value source = k.rotate(k.me, i);
        Value slab = s.slab(source);
        s.forTiles(rowTile, group, [&](Value row, Value column) {
          Value tile = k.loadFrom(source, {k.a, row, column}, s.tileType());
          k.store(tile, {slab, row, column});
        });
        k.raiseHere(s.flag(source, rowTile, group));
      });
}

/// A unit goes first to those that need it first.
static void buildPush(MatmulBuilder &k) {
  buildStaged(k, /*meetsAfter=*/false,
              [&](Staging &s, Value i, Value rowTile, Value group) {
                Value receiver = k.rotate(k.me, k.sub(k.size, i));
                Value slab = s.slab(k.me);
                s.forTiles(rowTile, group, [&](Value row, Value column) {
                  Value tile = k.load({k.a, row, column}, s.tileType());
                  k.storeTo(receiver, tile, {slab, row, column});
                });
                k.raise(receiver, s.flag(k.me, rowTile, group));
              });
}

void mlir::iris::buildAllGatherMatmul(MatmulBuilder &k) {
  StringRef variant = k.config.variant;
  if (variant == "hbm_buffer")
    return buildHBMBuffer(k);
  if (variant == "push")
    return buildPush(k);
  buildPull(k);
}
