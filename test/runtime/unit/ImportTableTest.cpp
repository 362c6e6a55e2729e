// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every answer of the table against a list of the imports that is searched from
// end to end.
#include "core/ImportTable.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using namespace iris::rt;

/// An import of `bytes` that starts `inside` bytes after what is mapped.
static Import importAt(uint64_t address, uint64_t bytes, uint64_t mappedOffset,
                       uint64_t mappedBytes, uint64_t inside) {
  return {address, bytes, mappedOffset, mappedBytes, mappedOffset + inside};
}

static bool isSame(const Import *found, const Import *expected) {
  return found && expected
             ? found->address == expected->address &&
                   found->bytes == expected->bytes &&
                   found->mappedOffset == expected->mappedOffset &&
                   found->offset == expected->offset
             : found == expected;
}

namespace {
/// The imports in the order in which they were added.
class ImportList {
public:
  ImportList(uint64_t begin, uint64_t end) : begin(begin), end(end) {}

  std::vector<Import> imports;

  bool isFree(uint64_t offset, uint64_t bytes) const {
    for (const Import &import : imports)
      if (offset < import.mappedOffset + import.mappedBytes &&
          import.mappedOffset < offset + bytes)
        return false;
    return offset >= begin && offset + bytes <= end;
  }
  std::optional<uint64_t> findSpace(uint64_t bytes) const {
    for (uint64_t offset = begin; offset < end; ++offset)
      if (isFree(offset, bytes))
        return offset;
    return std::nullopt;
  }
  const Import *findOverlap(uint64_t address, uint64_t bytes) const {
    for (const Import &import : imports)
      if (address < import.address + import.bytes &&
          import.address < address + bytes)
        return &import;
    return nullptr;
  }
  const Import *find(uint64_t Import::*start, uint64_t at,
                     uint64_t bytes) const {
    for (const Import &import : imports)
      if (import.*start <= at && at + bytes <= import.*start + import.bytes)
        return &import;
    return nullptr;
  }

private:
  uint64_t begin, end;
};
} // namespace

TEST(ImportTable, AnswersAsAListDoes) {
  const uint64_t begin = 100, end = 180, addresses = 60;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    auto draw = [&](uint64_t least, uint64_t most) {
      return std::uniform_int_distribution<uint64_t>(least, most)(random);
    };
    ImportTable table(begin, end);
    ImportList list(begin, end);
    EXPECT_EQ(table.capacity(), end - begin);
    for (unsigned step = 0; step < 300; ++step) {
      const uint64_t mappedBytes = draw(1, 20),
                     inside = draw(0, mappedBytes - 1);
      const uint64_t bytes = draw(1, mappedBytes - inside);
      const uint64_t address = draw(1, addresses);
      std::optional<uint64_t> space = table.findSpace(mappedBytes);
      ASSERT_EQ(space, list.findSpace(mappedBytes)) << mappedBytes;
      // More than one may share addresses: which of them is not said.
      ASSERT_EQ(table.findOverlap(address, bytes) != nullptr,
                list.findOverlap(address, bytes) != nullptr);
      if (draw(0, 2) != 0 && space && !list.findOverlap(address, bytes)) {
        list.imports.push_back(
            importAt(address, bytes, *space, mappedBytes, inside));
        table.add(list.imports.back());
      } else if (!list.imports.empty()) {
        const size_t victim = draw(0, list.imports.size() - 1);
        const Import gone = list.imports[victim];
        // Inside of an import, or beside it.
        if (gone.bytes > 1)
          ASSERT_FALSE(table.remove(gone.offset + 1).has_value());
        std::optional<Import> removed = table.remove(gone.offset);
        ASSERT_TRUE(removed && isSame(&*removed, &gone));
        ASSERT_FALSE(table.remove(gone.offset).has_value());
        list.imports.erase(list.imports.begin() +
                           static_cast<std::ptrdiff_t>(victim));
      }
      ASSERT_EQ(table.isEmpty(), list.imports.empty());
      for (uint64_t at = 0; at < addresses + 25; ++at)
        for (uint64_t size : {1, 3, 9})
          ASSERT_TRUE(isSame(table.findAddress(at, size),
                             list.find(&Import::address, at, size)))
              << "address " << at << ", " << size << " bytes";
      for (uint64_t at = begin - 2; at < end + 2; ++at)
        for (uint64_t size : {1, 3, 9})
          ASSERT_TRUE(isSame(table.findOffset(at, size),
                             list.find(&Import::offset, at, size)))
              << "offset " << at << ", " << size << " bytes";
    }
  }
}

TEST(ImportTable, WithoutSpace) {
  ImportTable none, table(0, 8);
  EXPECT_EQ(none.capacity(), 0u);
  EXPECT_FALSE(none.findSpace(1).has_value());
  EXPECT_FALSE(table.findSpace(9).has_value());
  EXPECT_FALSE(table.findSpace(~uint64_t(0)).has_value());
  EXPECT_EQ(table.findSpace(8), std::optional<uint64_t>(0));
}
