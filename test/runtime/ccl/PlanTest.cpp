// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas that compiler and runtime share, evaluated on numbers.
#include "iris/Plan/CollectiveWork.h"
#include "iris/Plan/FusedSizes.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

using namespace irisplan;

static IntegerArithmetic n;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

TEST(Plan, NumbersOfConfigsHaveRanges) {
  const ConfigNumber warps = collectiveWarps;
  EXPECT_EQ(warps.describe(), "a power of two from 1 to 16");
  EXPECT_EQ(collectiveXcds.describe(), "1 to 64");
  for (int64_t value : {1, 2, 16})
    EXPECT_TRUE(warps.accepts(value)) << value;
  for (int64_t value : {-1, 0, 3, 12, 32})
    EXPECT_FALSE(warps.accepts(value)) << value;
  EXPECT_TRUE(isTileWidth(224));
  EXPECT_TRUE(isTileWidth(8));
  EXPECT_FALSE(isTileWidth(24));
  EXPECT_EQ(ceilDiv<int64_t>(std::numeric_limits<int64_t>::max(), 2),
            int64_t(1) << 62);
}

TEST(Plan, EveryLaunchHasAProgram) {
  EXPECT_EQ(countPrograms(n, 0, 8), 1);
  EXPECT_EQ(countPrograms(n, 5, 8), 5);
  EXPECT_EQ(countPrograms(n, 9, 8), 8);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// test(form) for every variant, with the default tile as far as it fits.
template <typename TestT>
static void forForms(TestT test) {
  for (const Collective &collective : collectives)
    for (const Variant &variant : collective)
      for (int64_t size = 0; size <= Workspace::maxMembers; ++size)
        for (int64_t bytes : {1, 2, 4, 8})
          for (int64_t workspace :
               {Workspace::minBytes, int64_t(1) << 20, Workspace::defaultBytes})
            for (bool staged : {false, true}) {
              CollectiveForm form;
              form.collective = &collective;
              form.variant = &variant;
              form.size = size;
              form.elementBytes = bytes;
              form.tile = getTileNumber(variant, bytes).defaultValue;
              form.staged = staged && variant.hasStagedForm();
              form.workspace = Workspace(workspace);
              form.tile = form.largestTile();
              SCOPED_TRACE(std::string(collective.name) + " " +
                           std::string(variant.name) + ", size " +
                           std::to_string(size) + ", elements of " +
                           std::to_string(bytes) + ", workspace of " +
                           std::to_string(workspace));
              test(form);
            }
}

TEST(Plan, DefaultTilesFitIntoTheWorkspace) {
  forForms([](const CollectiveForm &form) {
    EXPECT_TRUE(
        getTileNumber(*form.variant, form.elementBytes).accepts(form.tile));
    EXPECT_LE(form.tileBytes(), form.tileRoom().bytes);
    EXPECT_GE(form.scratchTiles(), 1);
  });
}

TEST(Plan, RoundsFitIntoTheWorkspace) {
  forForms([](const CollectiveForm &form) {
    const int64_t members = form.maxMembers(), bytes = form.elementBytes;
    if (form.collective->isPointToPoint())
      return;
    if (form.usesPackets()) {
      const int64_t round = form.packetRound();
      ASSERT_GE(round, form.tile);
      ASSERT_EQ(round % form.tile, 0);
      // Data and flags, of every member. Two shots: inputs, rounded up for the
      // members of any group, and as many results.
      const int64_t tiles = round / form.tile;
      int64_t slots = tiles * members;
      if (form.variant->has(twoShot)) {
        slots = 0;
        for (int64_t size = form.size ? form.size : 1; size <= members; ++size)
          slots = std::max(slots, ceilDiv(tiles, size) * size + tiles);
      }
      int64_t room = form.workspace.packetBytes();
      if (form.collective->hasRoot())
        room -= Workspace::allArrivalBytes(members);
      EXPECT_LE(slots * 2 * form.tileBytes(), room);
    }
    if (form.usesSlots()) {
      ASSERT_GE(form.slotRound(), form.tile);
      EXPECT_EQ(form.slotRound() % form.tile, 0);
      EXPECT_LE(form.slotRound() * bytes * members,
                form.workspace.scratchBytes() / 2);
      EXPECT_LE(form.slotTiles() * form.tile, form.oddSlots());
    }
  });
}

TEST(Plan, FifoSlotsFitIntoTheWorkspace) {
  for (int64_t bytes : {Workspace::minBytes, int64_t(1) << 20,
                        Workspace::defaultBytes, Workspace::maxBytes})
    for (int64_t members = 1; members <= Workspace::maxMembers; ++members) {
      const Workspace workspace(bytes);
      const int64_t slots = Workspace::fifoDepth *
                            Workspace::fifoPrograms(members) *
                            Workspace::fifoSenders(members);
      EXPECT_LE(Workspace::fifoPrograms(members) * members,
                Workspace::mostFifos);
      EXPECT_GE(workspace.fifoSlotBytes(members), minTileBytes);
      EXPECT_LE(Workspace::fifoSlots + slots * workspace.fifoSlotBytes(members),
                workspace.fifoPackets());
      EXPECT_GE(workspace.fifoSlotPacketBytes(members), 2 * minTileBytes);
      EXPECT_LE(workspace.fifoPackets() +
                    slots * workspace.fifoSlotPacketBytes(members),
                workspace.packets());
      EXPECT_LE(workspace.scratch() + workspace.scratchBytes(), bytes);
    }
}

/// Each program has a line of the barrier for each member.
TEST(Plan, LinesOfTheBarrierFitIntoTheWorkspace) {
  for (int64_t members = 1; members <= Workspace::maxMembers; ++members) {
    const int64_t programs = Workspace::programsOf(members);
    EXPECT_GE(programs, 64);
    EXPECT_GE(Workspace::membersIn(members), members);
    EXPECT_LE(Workspace::line * programs * Workspace::membersIn(members),
              Workspace::barrierBytes);
    // Two words of the pointer exchange.
    EXPECT_LE(16 * programs * Workspace::membersIn(members),
              Workspace::pointerExchangeBytes);
    for (const Collective &collective : collectives)
      EXPECT_LE(collective.maxPrograms(members),
                std::max(programs, Workspace::fifoPrograms(members)));
  }
}

TEST(Plan, RoundsOfTheSelectorAreThoseOfKernels) {
  for (const Collective &collective : collectives)
    for (const Variant &variant : collective)
      for (int64_t size = 1; size <= Workspace::maxMembers; ++size) {
        const int64_t room = getRoundBytes(collective, variant, size);
        if (!usesWorkspace(variant)) {
          EXPECT_EQ(room, std::numeric_limits<int64_t>::max());
          continue;
        }
        CollectiveForm form;
        form.collective = &collective;
        form.variant = &variant;
        form.size = size;
        form.tile = minTileBytes;
        int64_t round =
            form.usesPackets() ? form.packetRound() : form.slotRound();
        EXPECT_LE(room, round) << collective.name << " " << variant.name;
      }
}

TEST(Plan, WorkOfAGroupOfOneCrossesNoLink) {
  for (const Collective &collective : collectives)
    for (const Variant &variant : collective)
      if (!collective.isPointToPoint())
        EXPECT_EQ(getWork(variant, 1).linkChunks, 0)
            << collective.name << " " << variant.name;
  const Collective &sum = getCollective(CollectiveKind::AllReduce);
  CollectiveWork work = getWork(*sum.find("two_shot"), 8);
  EXPECT_DOUBLE_EQ(work.linkChunks, 2 * 7 / 8.0);
  EXPECT_EQ(work.countIterations(/*tiles=*/100, /*programs=*/4), 4);
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

TEST(Plan, VariantsOfMatmulsAreNamedOnce) {
  for (const Matmul &matmul : matmuls) {
    ASSERT_NE(matmul.begin(), matmul.end()) << matmul.name;
    EXPECT_TRUE(matmul.begin()->hasKernel() && matmul.begin()->isPublic())
        << matmul.name << " has no default";
    EXPECT_FALSE(matmul.shards[0].empty()) << matmul.name;
    for (const MatmulVariant &variant : matmul)
      EXPECT_EQ(matmul.find(variant.name), &variant)
          << matmul.name << " " << variant.name;
  }
  EXPECT_EQ(findMatmul(-1), nullptr);
  EXPECT_EQ(findMatmul(static_cast<int32_t>(std::size(matmuls))), nullptr);
}

namespace {
/// A problem of m x n x k per rank; see ccl::MatmulKind.
struct Problem {
  MatmulForm form;
  int64_t m, n, k, size;

  MatmulShape<int64_t> shape() const {
    bool isScatter = form.kind == MatmulKind::MatmulReduceScatter;
    bool isGathered = form.has(takesGathered);
    return {isScatter || isGathered ? size * m : m, k, n, size};
  }
};
} // namespace

template <typename TestT>
static void forProblems(TestT test) {
  for (const Matmul &matmul : matmuls)
    for (const MatmulVariant &variant : matmul)
      for (std::string_view shard : matmul.shards)
        for (int64_t m : {1, 127, 1000})
          for (int64_t columns : {1, 200})
            for (int64_t size : {1, 2, 3, 8})
              for (int64_t tile : {32, 128}) {
                if (shard.empty() || !variant.hasKernel())
                  continue;
                Problem p = {{}, m, columns, 300, size};
                p.form.kind = matmul.kind;
                p.form.variant = &variant;
                p.form.shard = shard;
                p.form.tileM = p.form.tileN = tile;
                p.form.groupM = 3;
                if (variant.has(splitsK))
                  p.form.splitK = 4;
                SCOPED_TRACE(std::string(matmul.name) + " " +
                             std::string(variant.name) + ", shard " +
                             p.form.shard + ", m " + std::to_string(m) +
                             ", n " + std::to_string(columns) + ", " +
                             std::to_string(size) + " ranks");
                test(p);
              }
}

TEST(Plan, MatricesHaveTheRowsAndColumnsOfAllRanks) {
  forProblems([](const Problem &p) {
    const int64_t w = p.size;
    const MatmulMatrices all = getMatrices(p.form, p.m, p.n, p.k, w);
    const MatmulShape<int64_t> shape = all.shape(w), expected = p.shape();
    EXPECT_EQ(shape.aRows, expected.aRows);
    EXPECT_EQ(shape.aColumns, p.k);
    EXPECT_EQ(shape.bColumns, p.n);
    EXPECT_EQ(shape.size, w);
    const bool gathersA = p.form.kind == MatmulKind::AllGatherMatmul;
    const bool gathersC = p.form.kind == MatmulKind::MatmulAllGather;
    const bool isM = p.form.shard == "m";
    EXPECT_EQ(all.b.rows, gathersA && !isM ? w * p.k : p.k);
    EXPECT_EQ(all.c.rows, (gathersA || gathersC) && isM ? w * p.m : p.m);
    EXPECT_EQ(all.c.columns, gathersC && !isM ? w * p.n : p.n);
  });
}

/// Tiles of a matrix, counted one by one.
static int64_t countByHand(int64_t rows, int64_t columns, int64_t tile) {
  int64_t count = 0;
  for (int64_t row = 0; row < rows; row += tile)
    for (int64_t column = 0; column < columns; column += tile)
      ++count;
  return count;
}

TEST(Plan, MatmulsHaveATileForEveryElement) {
  forProblems([](const Problem &p) {
    int64_t tiles = countByHand(p.m, p.n, p.form.tileM);
    // Each rank's rows are tiled alone.
    bool isForAll =
        p.form.kind == MatmulKind::MatmulReduceScatter ||
        (p.form.kind == MatmulKind::AllGatherMatmul && p.form.shard == "m");
    tiles *= (isForAll ? p.size : 1) * p.form.splitK;
    EXPECT_EQ(countTiles(n, p.form, p.shape()), tiles);
    int64_t programs = countPrograms(n, p.form, p.shape(), int64_t(132));
    EXPECT_EQ(programs, p.form.has(hasCommPrograms)
                            ? 132
                            : std::min<int64_t>(tiles, 132));
  });
}

TEST(Plan, FlagsAndStagingHoldEveryPartialResult) {
  forProblems([](const Problem &p) {
    const MatmulForm &form = p.form;
    FusedSizes<int64_t> sizes = getFusedSizes(n, form, p.shape());
    EXPECT_EQ(sizes.stagingRows > 0, form.hasStaging());
    if (!form.hasWorkspace()) {
      EXPECT_EQ(sizes.numFlags, 0);
      return;
    }
    const int64_t tiles = countByHand(p.m, p.n, form.tileM);
    if (form.isCopied())
      return; // see below
    if (form.has(movesUnits)) {
      int64_t units =
          ceilDiv(p.m, form.tileM) * ceilDiv(p.k, form.kPerFlag * form.tileK);
      EXPECT_EQ(sizes.numFlags, p.size * units);
      EXPECT_EQ(sizes.stagingRows, p.size * p.m);
      EXPECT_EQ(sizes.stagingColumns, p.k);
    } else if (form.hasPartialSums()) {
      EXPECT_EQ(sizes.numFlags, p.size * tiles);
      EXPECT_EQ(sizes.stagingColumns, p.n);
    } else if (form.isSplit()) {
      EXPECT_EQ(sizes.numFlags, tiles);
      EXPECT_EQ(sizes.stagingRows, form.splitK * p.m);
    }
  });
}

TEST(Plan, FlagsOfCopiesAreDisjoint) {
  forProblems([](const Problem &p) {
    if (!p.form.isCopied())
      return;
    CopyLayout<IntegerArithmetic> chunk(n, p.form, p.shape().aRows, p.n,
                                        p.size);
    EXPECT_GE(chunk.rows *
                  (p.form.kind == MatmulKind::MatmulAllReduce ? p.size : 1),
              p.m);
    EXPECT_GE(chunk.groups * p.form.groupM * p.form.tileM, chunk.rows);
    const CopyFlags<int64_t> &flags = chunk.flags;
    EXPECT_EQ(getFusedSizes(n, p.form, p.shape()).numFlags, flags.count);
    const bool brings = p.form.kind != MatmulKind::MatmulAllGather;
    const bool sends = p.form.kind != MatmulKind::AllGatherMatmul;
    const bool sums = brings && sends;
    const int64_t all = p.size * chunk.groups;
    EXPECT_EQ(flags.missing - flags.arrived, brings ? all : 0);
    EXPECT_EQ(flags.entered - flags.missing, sums    ? all
                                             : sends ? chunk.groups
                                                     : 0);
    EXPECT_EQ(flags.count - flags.entered, sends ? 1 + (sums ? all : 0) : 0);
    EXPECT_EQ(chunk.doneFlag(0), flags.entered + 1);
  });
}
