// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalMemory.cpp - Vector loads and stores -------------------------===//
#include "Access.h"
#include "InitCheck.h"
#include "LaneWords.h"
#include "iris/Chips/ChipTable.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;

/// The bytes of an access that are in a buffer; whole registers are.
static unsigned clampToBuffer(const Instruction &instruction,
                              uint64_t available, unsigned bytes) {
  if (instruction.space != Space::Buffer || available >= bytes)
    return bytes;
  return bytes < 4 ? (available ? bytes : 0) : unsigned((available + 3) & ~3u);
}

static void loadWordsOneByOne(Wave &wave, const Instruction &instruction,
                              const LaneAddresses &lanes, unsigned all) {
  uint32_t *rows = wave.row(instruction.result.index);
  forLanes(lanes.active, [&](unsigned lane) {
    unsigned bytes = clampToBuffer(instruction, lanes.available[lane], all);
    uint32_t words[4] = {};
    if (bytes && !loadBytes(wave, instruction, lane, lanes.addresses[lane],
                            bytes, words))
      return;
    for (unsigned i = 0; i < all / 4; ++i)
      rows[i * kLanes + lane] = words[i];
  });
}

/// Loads words.
template <unsigned kBytes>
static IRIS_INLINE void loadWordsOfLanes(Wave &wave,
                                         const Instruction &instruction) {
  LaneAddresses lanes;
  computeAddressesHere(wave, instruction, lanes);
  uint32_t *rows = wave.row(instruction.result.index);
  auto at = [&](unsigned lane) {
    return reinterpret_cast<const void *>(lanes.addresses[lane]);
  };
  if (!isInOneRange(wave, instruction, lanes, kBytes, /*isStore=*/false))
    loadWordsOneByOne(wave, instruction, lanes, kBytes);
  else if (wave.isFull())
    loadAllLanes<kBytes / 4>(rows, wave.waveSize, at);
  else
    forLanes(lanes.active, [&](unsigned lane) {
      uint32_t words[kBytes / 4];
      std::memcpy(words, at(lane), kBytes);
      for (unsigned i = 0; i < kBytes / 4; ++i)
        rows[i * kLanes + lane] = words[i];
    });
  issueAccess(wave, instruction, true, kBytes / 4);
}

/// Loads a byte or two.
template <unsigned kBytes, unsigned kFlags>
static IRIS_INLINE void loadPart(Wave &wave, const Instruction &instruction) {
  LaneAddresses lanes;
  computeAddressesHere(wave, instruction, lanes);
  uint32_t *row = wave.row(instruction.result.index);
  if (isInOneRange(wave, instruction, lanes, kBytes, /*isStore=*/false))
    forLanes(lanes.active, [&](unsigned lane) {
      uint32_t value = 0;
      std::memcpy(&value, reinterpret_cast<const void *>(lanes.addresses[lane]),
                  kBytes);
      row[lane] = mergePart(row[lane], value, kBytes, kFlags);
    });
  else
    forLanes(lanes.active, [&](unsigned lane) {
      uint32_t value = 0;
      if (clampToBuffer(instruction, lanes.available[lane], kBytes) &&
          !loadBytes(wave, instruction, lane, lanes.addresses[lane], kBytes,
                     &value))
        return;
      row[lane] = mergePart(row[lane], value, kBytes, kFlags);
    });
  issueAccess(wave, instruction, true, 1);
}

static void storeOneByOne(Wave &wave, const Instruction &instruction,
                          const LaneAddresses &lanes, unsigned all,
                          unsigned shift) {
  const uint32_t *rows = wave.row(instruction.sources[2].index);
  forLanes(lanes.active, [&](unsigned lane) {
    unsigned bytes = clampToBuffer(instruction, lanes.available[lane], all);
    if (!bytes)
      return;
    uint32_t words[4];
    for (unsigned i = 0; i < (bytes + 3) / 4; ++i)
      words[i] = rows[i * kLanes + lane];
    words[0] >>= shift;
    storeBytes(wave, instruction, lane, lanes.addresses[lane], bytes, words);
  });
}

template <unsigned kBytes, unsigned kFlags>
static IRIS_INLINE void store(Wave &wave, const Instruction &instruction) {
  constexpr unsigned words = (kBytes + 3) / 4, shift = kFlags & kHigh ? 16 : 0;
  LaneAddresses lanes;
  computeAddressesHere(wave, instruction, lanes);
  const uint32_t *rows = wave.row(instruction.sources[2].index);
  auto at = [&](unsigned lane) {
    return reinterpret_cast<void *>(lanes.addresses[lane]);
  };
  if (!isInOneRange(wave, instruction, lanes, kBytes, /*isStore=*/true))
    storeOneByOne(wave, instruction, lanes, kBytes, shift);
  else if (kBytes >= 4 && wave.isFull())
    storeAllLanes<words>(rows, wave.waveSize, at);
  else
    forLanes(lanes.active, [&](unsigned lane) {
      uint32_t values[words];
      for (unsigned i = 0; i < words; ++i)
        values[i] = rows[i * kLanes + lane] >> shift;
      std::memcpy(at(lane), values, kBytes);
    });
  recordStores(wave, instruction, lanes, kBytes);
  issueAccess(wave, instruction, false, 0);
}

static void loadToSharedOneByOne(Wave &wave, const Instruction &instruction,
                                 const LaneAddresses &lanes, uint64_t first,
                                 unsigned all) {
  std::vector<uint8_t> &lds = wave.group.lds;
  forLanes(lanes.active, [&](unsigned lane) {
    unsigned bytes = clampToBuffer(instruction, lanes.available[lane], all);
    uint64_t to = first + uint64_t(lane) * std::max(all, 4u);
    if (to + all > lds.size()) {
      wave.fail("lane " + llvm::Twine(lane) + " stores " + llvm::Twine(all) +
                " bytes at " + llvm::Twine(to) + " of LDS, which has " +
                llvm::Twine(lds.size()) + " bytes");
      return;
    }
    if (wave.machine.watchesShared() &&
        !checkShared(wave, instruction, lane, uint32_t(to), all,
                     /*isStore=*/true))
      return;
    std::memset(lds.data() + to, 0, all);
    if (bytes)
      loadBytes(wave, instruction, lane, lanes.addresses[lane], bytes,
                lds.data() + to);
  });
}

/// From memory to LDS, at M0 and the offset, lane after lane. `detail2`: the
/// bits of M0 that count.
template <unsigned kBytes>
static IRIS_INLINE void loadToShared(Wave &wave,
                                     const Instruction &instruction) {
  LaneAddresses lanes;
  computeAddressesHere(wave, instruction, lanes);
  std::vector<uint8_t> &lds = wave.group.lds;
  uint64_t first =
      (wave.scalars[kM0] & instruction.detail2) + uint64_t(instruction.offset);
  constexpr uint64_t stride = std::max(kBytes, 4u);
  if (!wave.machine.watchesShared() && first < lds.size() &&
      kLanes * stride <= lds.size() - first &&
      isInOneRange(wave, instruction, lanes, kBytes, /*isStore=*/false))
    forLanes(lanes.active, [&](unsigned lane) {
      std::memcpy(lds.data() + first + lane * stride,
                  reinterpret_cast<const void *>(lanes.addresses[lane]),
                  kBytes);
    });
  else
    loadToSharedOneByOne(wave, instruction, lanes, first, kBytes);
  recordStore(wave, instruction, first, first + kLanes * stride,
              /*isShared=*/true);
  issueAccess(wave, instruction, true, 0, /*isToShared=*/true);
}

namespace {

/// What a load or a store does with a register.
struct Width {
  /// Names of the ISA up to gfx9, and from gfx11 on.
  StringRef old, name;
  unsigned bytes;
  Handler run;
  /// Of loads: to LDS.
  Handler runToShared = nullptr;
};

} // namespace

template <unsigned kBytes, unsigned kFlags = 0>
static Width loadPartOf(StringRef old, StringRef name) {
  return {old, name, kBytes, widest<loadPart<kBytes, kFlags>>(),
          widest<loadToShared<kBytes>>()};
}
template <unsigned kBytes>
static Width loadOf(StringRef old, StringRef name) {
  return {old, name, kBytes, widest<loadWordsOfLanes<kBytes>>(),
          widest<loadToShared<kBytes>>()};
}
template <unsigned kBytes, unsigned kFlags = 0>
static Width storeOf(StringRef old, StringRef name) {
  return {old, name, kBytes, widest<store<kBytes, kFlags>>()};
}

static llvm::ArrayRef<Width> getLoads() {
  static const Width loads[] = {
      loadPartOf<1>("ubyte", "u8"),
      loadPartOf<1, kSigned>("sbyte", "i8"),
      loadPartOf<2>("ushort", "u16"),
      loadPartOf<2, kSigned>("sshort", "i16"),
      loadPartOf<1, kHalf>("ubyte_d16", "d16_u8"),
      loadPartOf<1, kHalf | kHigh>("ubyte_d16_hi", "d16_hi_u8"),
      loadPartOf<1, kSigned | kHalf>("sbyte_d16", "d16_i8"),
      loadPartOf<1, kSigned | kHalf | kHigh>("sbyte_d16_hi", "d16_hi_i8"),
      loadPartOf<2, kHalf>("short_d16", "d16_b16"),
      loadPartOf<2, kHalf | kHigh>("short_d16_hi", "d16_hi_b16"),
      loadOf<4>("dword", "b32"),
      loadOf<8>("dwordx2", "b64"),
      loadOf<12>("dwordx3", "b96"),
      loadOf<16>("dwordx4", "b128")};
  return loads;
}

static llvm::ArrayRef<Width> getStores() {
  static const Width stores[] = {
      storeOf<1>("byte", "b8"),
      storeOf<1, kHigh>("byte_d16_hi", "d16_hi_b8"),
      storeOf<2>("short", "b16"),
      storeOf<2, kHigh>("short_d16_hi", "d16_hi_b16"),
      storeOf<4>("dword", "b32"),
      storeOf<8>("dwordx2", "b64"),
      storeOf<12>("dwordx3", "b96"),
      storeOf<16>("dwordx4", "b128")};
  return stores;
}

/// Of M0, as many bits count as addresses of LDS have.
static void loadsToShared(InstructionBuilder &builder, const Width &width) {
  const irischips::ChipInfo *chip = irischips::findChip(builder.execution.chip);
  builder.instruction.run = width.runToShared;
  builder.instruction.detail2 =
      uint32_t(llvm::PowerOf2Ceil(chip->maxSharedBytes) - 1);
}

static void addSpace(InstructionTable &table, StringRef prefix, Space space) {
  // Operands: flat accesses have no base, buffers a descriptor and an offset.
  unsigned extra = space == Space::Flat ? 0 : space == Space::Buffer ? 2 : 1;
  auto add = [&](StringRef kind, const Width &width, BuildFunction build) {
    table.add((prefix + kind + width.old).str(), build);
    table.add((prefix + kind + width.name).str(), build);
  };
  for (const Width &width : getLoads())
    add("_load_", width, [=](InstructionBuilder &builder) -> Error {
      Instruction &instruction = builder.instruction;
      unsigned words = (width.bytes + 3) / 4;
      int base = extra ? 2 : -1;
      if (space == Space::Buffer && builder.parsed.has("lds")) {
        // The data have no register.
        loadsToShared(builder, width);
        if (Error error = builder.expectOperands(3))
          return error;
        return buildAccess(builder, space, -1, 0, 0, -1, 0, 1);
      }
      if (Error error = builder.expectOperands(2 + extra))
        return error;
      instruction.run = width.run;
      return buildAccess(builder, space, 0, words, 1, -1, 0, base);
    });
  for (const Width &width : getStores())
    add("_store_", width, [=](InstructionBuilder &builder) -> Error {
      builder.instruction.run = width.run;
      if (Error error = builder.expectOperands(2 + extra))
        return error;
      unsigned words = (width.bytes + 3) / 4;
      if (space == Space::Buffer)
        return buildAccess(builder, space, -1, 0, 1, 0, words, 2);
      return buildAccess(builder, space, -1, 0, 0, 1, words, extra ? 2 : -1);
    });
}

static void addLoadsToShared(InstructionTable &table) {
  for (const Width &width : getLoads())
    table.add(("global_load_lds_" + width.old).str(),
              [=](InstructionBuilder &builder) -> Error {
                loadsToShared(builder, width);
                if (width.bytes < 4)
                  return builder.error("the emulator only knows whole words");
                if (Error error = builder.expectOperands(2))
                  return error;
                return buildAccess(builder, Space::Global, -1, 0, 0, -1, 0, 1);
              });
}

/// Writes back and invalidates caches of waves below its scope.
static void operateOnCache(Wave &wave, const Instruction &instruction) {
  if (OrderCheck *order = wave.machine.order.get()) {
    if (instruction.detail)
      order->writeBack(wave, instruction, instruction.scope);
    order->invalidate(wave, instruction, instruction.detail2);
  }
  if (!wave.cache || instruction.scope < wave.cache->coherentScope)
    return;
  // What is written through is waited for after this.
  if (instruction.detail && !wave.cache->writesThrough)
    wave.cache->writeBack();
  if (instruction.detail2)
    wave.cache->invalidate();
}

static Scope scopeOfOperation(const InstructionBuilder &builder) {
  // No bit says so on gfx90a, whose write-back is that of the L2.
  if (builder.execution.cacheControl == irischips::CacheControl::Bypass)
    return Scope::System;
  return scopeOf(builder, /*isAtomic=*/false);
}

static void addCacheOperations(InstructionTable &table) {
  struct Operation {
    StringRef name;
    bool writesBack;
    /// The levels that it invalidates; -1: those up to its scope.
    int levels;
    /// Where no modifier names it.
    std::optional<Scope> scope = std::nullopt;
  };
  static constexpr Operation operations[] = {
      {"buffer_wbl2", true, 0},
      {"buffer_inv", false, -1},
      {"buffer_wbinvl1", false, kAgentLevel, Scope::Agent},
      {"buffer_wbinvl1_vol", false, kAgentLevel, Scope::Agent},
      {"buffer_invl2", false, kSystemLevel, Scope::System},
      {"buffer_gl0_inv", false, kNearLevel, Scope::Workgroup},
      {"buffer_gl1_inv", false, kAgentLevel, Scope::Agent},
      {"global_wb", true, 0},
      {"global_inv", false, -1},
      {"global_wbinv", true, -1}};
  for (const Operation &operation : operations)
    table.add(operation.name, [=](InstructionBuilder &builder) {
      Instruction &instruction = builder.instruction;
      instruction.scope = operation.scope.value_or(scopeOfOperation(builder));
      instruction.detail = operation.writesBack;
      // A bit for each scope below.
      instruction.detail2 = operation.levels >= 0
                                ? unsigned(operation.levels)
                                : (1u << unsigned(instruction.scope)) - 1;
      instruction.run = operateOnCache;
      return Error::success();
    });
}

void mlir::iris::emulator::addGlobalMemory(InstructionTable &table) {
  addSpace(table, "global", Space::Global);
  addSpace(table, "flat", Space::Flat);
  addSpace(table, "scratch", Space::Scratch);
  addSpace(table, "buffer", Space::Buffer);
  addLoadsToShared(table);
  addAtomics(table);
  addCacheOperations(table);
}
