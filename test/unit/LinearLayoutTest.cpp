// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear layouts against their definitions, by brute force: every property is
// recomputed from the list of all (register, lane, warp) indices and compared.
#include "iris/Analysis/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"
#include <map>
#include <random>
#include <set>

using namespace mlir::iris;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

using Indices = std::vector<LayoutIndex>;

/// Calls `visit` with every (register, lane, warp) index of `layout`.
template <typename Visit>
void forEachIndex(const LinearLayout &layout, Visit visit) {
  for (uint64_t warp = 0; warp < layout.getNumWarps(); ++warp)
    for (uint64_t lane = 0; lane < layout.getNumLanes(); ++lane)
      for (uint64_t reg = 0; reg < layout.getNumRegisters(); ++reg)
        visit(LayoutIndex{reg, lane, warp});
}

/// The elements of a thread by the definition of a blocked layout: blocks of
/// sizePerThread, assigned to lanes and then to warps in `order`, modulo
/// extents.
std::set<uint64_t>
blockedDefinition(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizePerThread,
                  ArrayRef<int64_t> threads, ArrayRef<int64_t> warps,
                  ArrayRef<int64_t> order, uint64_t lane, uint64_t warp) {
  size_t rank = shape.size();
  SmallVector<int64_t> lanePos(rank), warpPos(rank);
  for (int64_t d : order) {
    lanePos[d] = lane % threads[d];
    lane /= threads[d];
    warpPos[d] = warp % warps[d];
    warp /= warps[d];
  }
  // An element belongs to the thread if, in each dimension, its block does.
  std::set<uint64_t> result;
  uint64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (uint64_t index = 0; index < count; ++index) {
    uint64_t rest = index;
    bool mine = true;
    for (size_t d = rank; d-- > 0;) {
      int64_t x = rest % shape[d];
      rest /= shape[d];
      int64_t period = sizePerThread[d] * threads[d] * warps[d];
      int64_t start = (warpPos[d] * threads[d] + lanePos[d]) * sizePerThread[d];
      // Repeated over the extent, or wrapped into it.
      int64_t block = sizePerThread[d];
      bool found = false;
      if (period <= shape[d]) {
        int64_t y = x % period;
        found = y >= start && y < start + block;
      } else {
        for (int64_t y = start; y < start + block; ++y)
          found |= y % shape[d] == x;
      }
      mine &= found;
    }
    if (mine)
      result.insert(index);
  }
  return result;
}

SmallVector<int64_t> randomSplit(std::mt19937 &rng, unsigned bits,
                                 unsigned rank) {
  SmallVector<int64_t> result(rank, 1);
  for (unsigned i = 0; i < bits; ++i)
    result[rng() % rank] *= 2;
  return result;
}

/// A random blocked layout, for properties that hold for all of them.
LinearLayout randomBlocked(std::mt19937 &rng, ArrayRef<int64_t> shape) {
  unsigned rank = shape.size();
  SmallVector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), rng);
  return LinearLayout::blocked(shape, randomSplit(rng, rng() % 4, rank),
                               randomSplit(rng, 3, rank),
                               randomSplit(rng, 2, rank), order);
}

/// A random linear layout: any bases, even useless ones.
LinearLayout randomLinear(std::mt19937 &rng, ArrayRef<int64_t> shape) {
  uint64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  auto draw = [&](unsigned number) {
    LinearLayout::Bases bases;
    for (unsigned i = 0; i < number; ++i)
      bases.push_back(rng() % count);
    return bases;
  };
  return LinearLayout(shape, draw(rng() % 4), draw(3), draw(2));
}

SmallVector<int64_t> randomShape(std::mt19937 &rng) {
  return randomSplit(rng, rng() % 9, 1 + rng() % 3);
}

} // namespace

TEST(LinearLayout, AllGatherTile) {
  LinearLayout layout =
      LinearLayout::blocked({8, 256}, {1, 8}, {2, 32}, {4, 1}, {1, 0});
  EXPECT_EQ(layout.getNumRegisters(), 8u);
  EXPECT_EQ(layout.getNumLanes(), 64u);
  EXPECT_EQ(layout.getNumWarps(), 4u);
  EXPECT_EQ(layout.getContiguity(0), 1u);
  EXPECT_EQ(layout.getContiguity(1), 8u);
  EXPECT_TRUE(layout.isSurjective());
  EXPECT_TRUE(layout.hasUniqueOwners());
  EXPECT_EQ(layout.apply({5, 0, 0}), 5u);
  EXPECT_EQ(layout.apply({0, 3, 0}), 24u);
  EXPECT_EQ(layout.apply({0, 32, 0}), 256u);
  EXPECT_EQ(layout.apply({1, 33, 3}), (3 * 2 + 1) * 256u + 9);
  EXPECT_EQ(layout.toString(), "register: (0, 1) (0, 2) (0, 4)\n"
                               "lane: (0, 8) (0, 16) (0, 32) (0, 64) (0, 128) "
                               "(1, 0)\n"
                               "warp: (2, 0) (4, 0)\n");
}

TEST(LinearLayout, RowMajorRunsContinueInTheNextRow) {
  // Two rows of 8 in a thread, of 16 rows.
  LinearLayout rows =
      LinearLayout::blocked({16, 8}, {2, 8}, {8, 1}, {1, 1}, {1, 0});
  EXPECT_EQ(rows.getContiguousRegisterBits(1).size(), 3u);
  EXPECT_EQ(rows.getContiguousRegisterBits(0), (SmallVector<unsigned>{3}));
  EXPECT_EQ(rows.getRowMajorRegisterBits(),
            (SmallVector<unsigned>{0, 1, 2, 3}));
  // Half a row: the next row is not adjacent.
  LinearLayout halves =
      LinearLayout::blocked({16, 8}, {2, 4}, {4, 2}, {2, 1}, {1, 0});
  EXPECT_EQ(halves.getRowMajorRegisterBits(), (SmallVector<unsigned>{0, 1}));
}

TEST(LinearLayout, BlockedMatchesItsDefinition) {
  std::mt19937 rng(1);
  for (int round = 0; round < 300; ++round) {
    SmallVector<int64_t> shape = randomShape(rng);
    unsigned rank = shape.size();
    SmallVector<int64_t> spt = randomSplit(rng, rng() % 4, rank);
    SmallVector<int64_t> threads = randomSplit(rng, 3, rank);
    SmallVector<int64_t> warps = randomSplit(rng, 2, rank);
    SmallVector<int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng);
    LinearLayout layout =
        LinearLayout::blocked(shape, spt, threads, warps, order);
    EXPECT_TRUE(layout.isSurjective());
    for (uint64_t warp = 0; warp < 4; ++warp) {
      for (uint64_t lane = 0; lane < 8; ++lane) {
        std::set<uint64_t> held;
        for (uint64_t reg = 0; reg < layout.getNumRegisters(); ++reg)
          held.insert(layout.apply({reg, lane, warp}));
        EXPECT_EQ(held.size(), layout.getNumRegisters());
        EXPECT_EQ(held, blockedDefinition(shape, spt, threads, warps, order,
                                          lane, warp));
      }
    }
  }
}

TEST(LinearLayout, OwnersAreUnique) {
  std::mt19937 rng(2);
  for (int round = 0; round < 300; ++round) {
    SmallVector<int64_t> shape = randomShape(rng);
    LinearLayout layout =
        round % 2 ? randomBlocked(rng, shape) : randomLinear(rng, shape);
    LayoutIndex free = layout.getFreeBits();
    std::map<uint64_t, int> owners, holders;
    forEachIndex(layout, [&](LayoutIndex index) {
      uint64_t element = layout.apply(index);
      ++holders[element];
      if (!(index.reg & free.reg) && !(index.lane & free.lane) &&
          !(index.warp & free.warp)) {
        ++owners[element];
        EXPECT_EQ(layout.invert(element), index);
      }
    });
    EXPECT_EQ(owners.size(), holders.size());
    for (auto [index, count] : owners)
      EXPECT_EQ(count, 1);
    for (uint64_t index = 0; index < layout.getNumElements(); ++index)
      EXPECT_EQ(layout.invert(index).has_value(), holders.count(index) == 1);
    EXPECT_EQ(layout.isSurjective(), holders.size() == layout.getNumElements());
  }
}

TEST(LinearLayout, ContiguousRunsAreAligned) {
  std::mt19937 rng(3);
  int vectors = 0;
  for (int round = 0; round < 500; ++round) {
    SmallVector<int64_t> shape = randomShape(rng);
    LinearLayout layout =
        round % 2 ? randomBlocked(rng, shape) : randomLinear(rng, shape);
    unsigned dim = rng() % shape.size();
    SmallVector<unsigned> bits = layout.getContiguousRegisterBits(dim);
    uint64_t width = uint64_t(1) << bits.size();
    uint64_t step = uint64_t(1) << layout.getDimShift(dim);
    vectors += width > 1;
    EXPECT_LE(width, static_cast<uint64_t>(shape[dim]));
    uint64_t runMask = 0;
    for (unsigned bit : bits)
      runMask |= uint64_t(1) << bit;
    forEachIndex(layout, [&](LayoutIndex index) {
      if (index.reg & runMask)
        return;
      uint64_t first = layout.apply(index);
      EXPECT_EQ(first / step % width, 0u);
      for (uint64_t i = 0; i < width; ++i) {
        LayoutIndex next = index;
        for (auto [k, bit] : llvm::enumerate(bits))
          next.reg |= ((i >> k) & 1) << bit;
        EXPECT_EQ(layout.apply(next), first + i * step);
      }
    });
  }
  EXPECT_GT(vectors, 50);
}

TEST(LinearLayout, SliceForgetsADimension) {
  std::mt19937 rng(4);
  for (int round = 0; round < 200; ++round) {
    SmallVector<int64_t> shape = randomSplit(rng, rng() % 9, 2 + rng() % 2);
    LinearLayout layout = randomBlocked(rng, shape);
    unsigned dim = rng() % shape.size();
    LinearLayout slice = layout.slice(dim);
    EXPECT_TRUE(slice.isSurjective());
    // A thread holds a coordinate of the slice if and only if it holds some
    // element with it.
    for (uint64_t warp = 0; warp < layout.getNumWarps(); ++warp) {
      for (uint64_t lane = 0; lane < layout.getNumLanes(); ++lane) {
        std::set<SmallVector<int64_t>> want, got;
        for (uint64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
          SmallVector<int64_t> c =
              layout.getCoordinates(layout.apply({reg, lane, warp}));
          c.erase(c.begin() + dim);
          want.insert(c);
        }
        for (uint64_t reg = 0; reg < slice.getNumRegisters(); ++reg)
          got.insert(slice.getCoordinates(slice.apply({reg, lane, warp})));
        EXPECT_EQ(want, got);
        EXPECT_EQ(got.size(), slice.getNumRegisters());
      }
    }
  }
}

TEST(LinearLayout, TransposePermutesCoordinates) {
  std::mt19937 rng(5);
  for (int round = 0; round < 100; ++round) {
    SmallVector<int64_t> shape = randomSplit(rng, rng() % 9, 3);
    LinearLayout layout = randomBlocked(rng, shape);
    SmallVector<int64_t> permutation = {0, 1, 2};
    std::shuffle(permutation.begin(), permutation.end(), rng);
    LinearLayout result = layout.transpose(permutation);
    forEachIndex(layout, [&](LayoutIndex index) {
      SmallVector<int64_t> from = layout.getCoordinates(layout.apply(index));
      SmallVector<int64_t> to = result.getCoordinates(result.apply(index));
      for (int d = 0; d < 3; ++d)
        EXPECT_EQ(to[d], from[permutation[d]]);
    });
  }
}

TEST(LinearLayout, ConversionsFindTheSameElement) {
  std::mt19937 rng(6);
  int withinThread = 0, withinWarp = 0;
  for (int round = 0; round < 400; ++round) {
    SmallVector<int64_t> shape = randomShape(rng);
    LinearLayout to = randomBlocked(rng, shape);
    LinearLayout from = round % 3 ? randomBlocked(rng, shape) : to;
    std::optional<LayoutConversion> conversion = to.sourceOf(from);
    ASSERT_TRUE(conversion.has_value());
    bool staysInThread = true, staysInWarp = true;
    forEachIndex(to, [&](LayoutIndex index) {
      LayoutIndex source = conversion->apply(index);
      EXPECT_LT(source.reg, from.getNumRegisters());
      EXPECT_LT(source.lane, from.getNumLanes());
      EXPECT_LT(source.warp, from.getNumWarps());
      EXPECT_EQ(from.apply(source), to.apply(index));
      staysInWarp &= source.warp == index.warp;
      staysInThread &= source.warp == index.warp && source.lane == index.lane;
    });
    EXPECT_EQ(conversion->isWithinWarp(), staysInWarp);
    // Within a thread also means that registers do not depend on the thread.
    if (conversion->isWithinThread()) {
      EXPECT_TRUE(staysInThread);
    }
    withinThread += conversion->isWithinThread();
    withinWarp += staysInWarp;
    if (from == to) {
      EXPECT_TRUE(conversion->isWithinThread());
    }
  }
  EXPECT_GT(withinThread, 100);
  EXPECT_GT(withinWarp, withinThread);
}

TEST(LinearLayout, BroadcastNeedsNoExchange) {
  std::mt19937 rng(7);
  for (int round = 0; round < 200; ++round) {
    SmallVector<int64_t> shape = randomSplit(rng, rng() % 9, 2);
    unsigned rank = 2;
    SmallVector<int64_t> spt = randomSplit(rng, rng() % 4, rank);
    SmallVector<int64_t> threads = randomSplit(rng, 3, rank);
    SmallVector<int64_t> warps = randomSplit(rng, 2, rank);
    SmallVector<int64_t> order = {1, 0};
    LinearLayout to = LinearLayout::blocked(shape, spt, threads, warps, order);
    SmallVector<int64_t> small = shape;
    unsigned dim = rng() % 2;
    small[dim] = 1;
    LinearLayout from =
        LinearLayout::blocked(small, spt, threads, warps, order);
    auto project = [&](uint64_t index) {
      SmallVector<int64_t> c = to.getCoordinates(index);
      c[dim] = 0;
      return (static_cast<uint64_t>(c[0]) << from.getDimShift(0)) |
             static_cast<uint64_t>(c[1]);
    };
    std::optional<LayoutConversion> conversion = to.sourceOf(from, project);
    ASSERT_TRUE(conversion.has_value());
    EXPECT_TRUE(conversion->isWithinThread());
    EXPECT_EQ(from.slice(dim), to.slice(dim));
  }
}

TEST(LinearLayout, FromCoordinates) {
  // A swizzle: the column of a lane depends on its row.
  LinearLayout layout = LinearLayout::fromCoordinates(
      {4, 4}, {}, {{0, 1}, {0, 2}, {1, 1}, {2, 2}}, {});
  EXPECT_TRUE(layout.isSurjective());
  EXPECT_TRUE(layout.hasUniqueOwners());
  EXPECT_EQ(layout.getContiguity(1), 1u);
  EXPECT_EQ(layout.apply({0, 4 + 1, 0}), 4u + 0);
  // Bits that no basis reaches become registers.
  layout = LinearLayout::fromCoordinates({4, 8}, {{0, 1}}, {{1, 0}}, {{2, 0}});
  EXPECT_EQ(layout.getNumRegisters(), 8u);
  EXPECT_TRUE(layout.isSurjective());
  EXPECT_EQ(layout.getContiguity(1), 8u);
}
