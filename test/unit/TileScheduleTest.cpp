// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileScheduleTest.cpp - Schedules cover every tile exactly once -----===//
//
// Evaluates the schedules of kernel generators on numbers.
//
//===----------------------------------------------------------------------===//

#include "iris/Plan/TileSchedule.h"

#include "gtest/gtest.h"

#include <random>
#include <vector>

using namespace irisplan;

using Order = TileOrder<IntegerArithmetic>;

static IntegerArithmetic n;

namespace {
/// How often each tile of a grid was visited.
struct Visits {
  Visits(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), counts(rows * columns) {}

  void visit(int64_t row, int64_t column) {
    ASSERT_TRUE(0 <= row && row < rows) << row << " of " << rows;
    ASSERT_TRUE(0 <= column && column < columns) << column << " of " << columns;
    ++counts[row * columns + column];
  }
  bool areOneEach() const {
    return std::all_of(counts.begin(), counts.end(),
                       [](int count) { return count == 1; });
  }

  int64_t rows, columns;
  std::vector<int> counts;
};

/// A random shape, order and launch; small and prime numbers are frequent.
struct Sample {
  explicit Sample(std::mt19937 &random)
      : rows(pick(random, 70)), columns(pick(random, 40)),
        group(pick(random, 30)), stageRows(pick(random, rows + 3)),
        programs(pick(random, 320)), chiplets(pick(random, 16)) {
    if (random() % 50 == 0)
      rows = 0;
    if (random() % 50 == 0)
      columns = 0;
  }

  static int64_t pick(std::mt19937 &random, int64_t most) {
    int64_t value = std::uniform_int_distribution<int64_t>(1, most)(random);
    return random() % 4 ? value : std::min<int64_t>(value % 5 + 1, most);
  }

  int64_t rows, columns, group, stageRows, programs, chiplets;
};
} // namespace

static ::testing::Message describe(const Sample &s) {
  return ::testing::Message()
         << s.rows << " x " << s.columns << " tiles, group " << s.group
         << ", stages of " << s.stageRows << ", " << s.programs
         << " programs on " << s.chiplets << " chiplets";
}

TEST(TileSchedule, MapsProgramsOneToOne) {
  for (int64_t programs = 1; programs <= 400; ++programs)
    for (int64_t chiplets = 1; chiplets <= 17; ++chiplets) {
      std::vector<int> seen(programs);
      for (int64_t program = 0; program < programs; ++program) {
        int64_t position = remapXcd(n, program, programs, chiplets);
        ASSERT_TRUE(0 <= position && position < programs);
        ASSERT_EQ(++seen[position], 1) << programs << " on " << chiplets;
      }
    }
}

TEST(TileSchedule, AssignsAdjacentTilesToOneChiplet) {
  // 10 programs on 4 chiplets: 0, 4, 8 run on the first, 1, 5, 9 on the
  // second.
  std::vector<int64_t> positions;
  for (int64_t program = 0; program < 10; ++program)
    positions.push_back(remapXcd(n, program, int64_t(10), 4));
  EXPECT_EQ(positions, (std::vector<int64_t>{0, 3, 6, 8, 1, 4, 7, 9, 2, 5}));
}

TEST(TileSchedule, VisitsGroupsColumnByColumn) {
  Order order(n, 3, 2, 2);
  std::vector<std::pair<int64_t, int64_t>> tiles;
  order.forTiles(0, 1, [&](int64_t row, int64_t column) {
    tiles.push_back({row, column});
  });
  EXPECT_EQ(tiles, (std::vector<std::pair<int64_t, int64_t>>{
                       {0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}}));
}

TEST(TileSchedule, CoversEveryTileOnce) {
  std::mt19937 random(1);
  for (int iteration = 0; iteration < 20000; ++iteration) {
    Sample s(random);
    Order order = iteration % 2
                      ? Order(n, s.rows, s.columns, s.group)
                      : Order(n, s.rows, s.columns, s.group, s.stageRows);
    Visits visits(s.rows, s.columns);
    for (int64_t program = 0; program < s.programs; ++program)
      order.forTiles(
          remapXcd(n, program, s.programs, s.chiplets), s.programs,
          [&](int64_t row, int64_t column) { visits.visit(row, column); });
    ASSERT_TRUE(visits.areOneEach()) << describe(s);
  }
}

/// As fetch programs do: stage by stage, with more programs in the first one.
TEST(TileSchedule, CoversEveryTileOnceStageByStage) {
  std::mt19937 random(2);
  for (int iteration = 0; iteration < 20000; ++iteration) {
    Sample s(random);
    // The result for a range of no rows.
    int64_t stageRows = s.rows ? s.stageRows : 0;
    Order order(n, s.rows, s.columns, s.group, stageRows);
    Visits visits(s.rows, s.columns);
    int64_t last = 0;
    for (int64_t stage = 0; stage < order.stages(); ++stage) {
      int64_t programs = stage == 0 ? s.programs + s.chiplets : s.programs;
      EXPECT_EQ(order.stageBegin(stage), last);
      last = order.stageBegin(stage + 1);
      for (int64_t program = 0; program < programs; ++program)
        order.forTiles(program, programs, order.stageBegin(stage), last,
                       [&](int64_t row, int64_t column) {
                         EXPECT_EQ(row / s.stageRows, stage);
                         visits.visit(row, column);
                       });
    }
    EXPECT_EQ(last, order.count());
    ASSERT_TRUE(visits.areOneEach()) << describe(s);
  }
}

/// Communication programs have few tiles, or all programs have equal numbers.
TEST(TileSchedule, CoversEveryTileOnceWithCommPrograms) {
  std::mt19937 random(3);
  for (int iteration = 0; iteration < 20000; ++iteration) {
    Sample s(random);
    Order order(n, s.rows, s.columns, s.group);
    int64_t commPrograms = Sample::pick(random, 40), each = random() % 9;
    bool isLate = iteration % 2;
    Visits visits(s.rows, s.columns);
    std::vector<int64_t> counts(s.programs);
    for (int64_t program = 0; program < s.programs; ++program)
      order.forTiles(assignTiles(n, program, s.programs, commPrograms, each,
                                 order.count(), isLate),
                     [&](int64_t row, int64_t column) {
                       visits.visit(row, column);
                       ++counts[program];
                     });
    ASSERT_TRUE(visits.areOneEach()) << describe(s) << ", " << commPrograms
                                     << " of which move and have up to " << each
                                     << (isLate ? " late ones" : " early ones");
    if (commPrograms >= s.programs)
      continue;
    // The compute programs need no more rounds than that leaves them.
    int64_t others = s.programs - commPrograms;
    int64_t left = std::max<int64_t>(order.count() - commPrograms * each, 0);
    for (int64_t program = 0; program < s.programs; ++program)
      ASSERT_LE(counts[program],
                program < commPrograms ? each : n.ceilDiv(left, others))
          << describe(s);
  }
}
