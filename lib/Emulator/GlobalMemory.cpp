// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalMemory.cpp - Vector loads and stores -------------------------===//
#include "Access.h"

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;

namespace {

/// What a load or a store does with a register.
struct Width {
  /// Names of the ISA up to gfx9, and from gfx11 on.
  StringRef old, name;
  unsigned bytes;
  bool isSigned = false;
  /// Only a half of the register, which is kept otherwise.
  bool isHalf = false, isHigh = false;
};

} // namespace

static constexpr Width loads[] = {
    {"ubyte", "u8", 1},
    {"sbyte", "i8", 1, true},
    {"ushort", "u16", 2},
    {"sshort", "i16", 2, true},
    {"ubyte_d16", "d16_u8", 1, false, true},
    {"ubyte_d16_hi", "d16_hi_u8", 1, false, true, true},
    {"sbyte_d16", "d16_i8", 1, true, true},
    {"sbyte_d16_hi", "d16_hi_i8", 1, true, true, true},
    {"short_d16", "d16_b16", 2, false, true},
    {"short_d16_hi", "d16_hi_b16", 2, false, true, true},
    {"dword", "b32", 4},
    {"dwordx2", "b64", 8},
    {"dwordx3", "b96", 12},
    {"dwordx4", "b128", 16}};
static constexpr Width stores[] = {
    {"byte", "b8", 1},
    {"byte_d16_hi", "d16_hi_b8", 1, false, true, true},
    {"short", "b16", 2},
    {"short_d16_hi", "d16_hi_b16", 2, false, true, true},
    {"dword", "b32", 4},
    {"dwordx2", "b64", 8},
    {"dwordx3", "b96", 12},
    {"dwordx4", "b128", 16}};

/// The bytes of an access that are in a buffer; whole registers are.
static unsigned clampToBuffer(const Instruction &instruction,
                              uint64_t available, unsigned bytes) {
  if (instruction.space != Space::Buffer || available >= bytes)
    return bytes;
  return bytes < 4 ? (available ? bytes : 0) : unsigned((available + 3) & ~3u);
}

/// Loads words.
template <unsigned kBytes>
static void loadWordsOfLanes(Wave &wave, const Instruction &instruction) {
  LaneAddresses lanes;
  computeAddresses(wave, instruction, lanes);
  uint32_t *rows = wave.row(instruction.result.index);
  if (isInOneRange(wave, instruction, lanes, kBytes, /*isStore=*/false)) {
    forLanes(lanes.active, [&](unsigned lane) {
      uint32_t words[kBytes / 4];
      std::memcpy(words, reinterpret_cast<const void *>(lanes.addresses[lane]),
                  kBytes);
      for (unsigned i = 0; i < kBytes / 4; ++i)
        rows[i * kLanes + lane] = words[i];
    });
    issueAccess(wave, instruction, true, kBytes / 4);
    return;
  }
  forLanes(lanes.active, [&](unsigned lane) {
    unsigned bytes = clampToBuffer(instruction, lanes.available[lane], kBytes);
    uint32_t words[kBytes / 4] = {};
    if (bytes && !loadBytes(wave, instruction, lane, lanes.addresses[lane],
                            bytes, words))
      return;
    for (unsigned i = 0; i < kBytes / 4; ++i)
      rows[i * kLanes + lane] = words[i];
  });
  issueAccess(wave, instruction, true, kBytes / 4);
}

/// Loads a byte or two.
static void loadPart(Wave &wave, const Instruction &instruction) {
  LaneAddresses lanes;
  computeAddresses(wave, instruction, lanes);
  uint32_t *row = wave.row(instruction.result.index);
  unsigned bytes = instruction.accessBytes, flags = instruction.detail;
  forLanes(lanes.active, [&](unsigned lane) {
    uint32_t value = 0;
    if (clampToBuffer(instruction, lanes.available[lane], bytes) &&
        !loadBytes(wave, instruction, lane, lanes.addresses[lane], bytes,
                   &value))
      return;
    row[lane] = mergePart(row[lane], value, bytes, flags);
  });
  issueAccess(wave, instruction, true, 1);
}

static void store(Wave &wave, const Instruction &instruction) {
  LaneAddresses lanes;
  computeAddresses(wave, instruction, lanes);
  const uint32_t *rows = wave.row(instruction.sources[2].index);
  unsigned all = instruction.accessBytes, flags = instruction.detail;
  forLanes(lanes.active, [&](unsigned lane) {
    unsigned bytes = clampToBuffer(instruction, lanes.available[lane], all);
    if (!bytes)
      return;
    uint32_t words[4];
    for (unsigned i = 0; i < (bytes + 3) / 4; ++i)
      words[i] = rows[i * kLanes + lane];
    if (flags & kHigh)
      words[0] >>= 16;
    storeBytes(wave, instruction, lane, lanes.addresses[lane], bytes, words);
  });
  ++wave.machine.stores;
  issueAccess(wave, instruction, false, 0);
}

/// From memory to LDS, at M0 and the offset, lane after lane.
static void loadToShared(Wave &wave, const Instruction &instruction) {
  LaneAddresses lanes;
  computeAddresses(wave, instruction, lanes);
  unsigned all = instruction.accessBytes;
  std::vector<uint8_t> &lds = wave.group.lds;
  uint64_t first = (wave.scalars[kM0] & 0xFFFF) + uint64_t(instruction.offset);
  forLanes(lanes.active, [&](unsigned lane) {
    unsigned bytes = clampToBuffer(instruction, lanes.available[lane], all);
    uint64_t to = first + uint64_t(lane) * std::max(all, 4u);
    if (to + all > lds.size()) {
      wave.fail("lane " + llvm::Twine(lane) + " stores " + llvm::Twine(all) +
                " bytes at " + llvm::Twine(to) + " of LDS, which has " +
                llvm::Twine(lds.size()) + " bytes");
      return;
    }
    std::memset(lds.data() + to, 0, all);
    if (bytes)
      loadBytes(wave, instruction, lane, lanes.addresses[lane], bytes,
                lds.data() + to);
  });
  ++wave.machine.stores;
  issueAccess(wave, instruction, true, 0);
}

static Handler handlerOfLoad(unsigned bytes) {
  switch (bytes) {
  case 4:
    return loadWordsOfLanes<4>;
  case 8:
    return loadWordsOfLanes<8>;
  case 12:
    return loadWordsOfLanes<12>;
  case 16:
    return loadWordsOfLanes<16>;
  default:
    return loadPart;
  }
}

static unsigned flagsOf(const Width &width) {
  return (width.isSigned ? kSigned : 0) | (width.isHalf ? kHalf : 0) |
         (width.isHigh ? kHigh : 0);
}

static void addSpace(InstructionTable &table, StringRef prefix, Space space) {
  // Operands: flat accesses have no base, buffers a descriptor and an offset.
  unsigned extra = space == Space::Flat ? 0 : space == Space::Buffer ? 2 : 1;
  auto add = [&](StringRef kind, const Width &width, BuildFunction build) {
    table.add((prefix + kind + width.old).str(), build);
    table.add((prefix + kind + width.name).str(), build);
  };
  for (const Width &width : loads)
    add("_load_", width, [=](InstructionBuilder &builder) -> Error {
      Instruction &instruction = builder.instruction;
      instruction.accessBytes = uint8_t(width.bytes);
      instruction.detail = flagsOf(width);
      unsigned words = (width.bytes + 3) / 4;
      int base = extra ? 2 : -1;
      if (space == Space::Buffer && builder.parsed.has("lds")) {
        // The data have no register.
        instruction.run = loadToShared;
        if (Error error = builder.expectOperands(3))
          return error;
        return buildAccess(builder, space, -1, 0, 0, -1, 0, 1);
      }
      if (Error error = builder.expectOperands(2 + extra))
        return error;
      instruction.run = handlerOfLoad(width.bytes);
      return buildAccess(builder, space, 0, words, 1, -1, 0, base);
    });
  for (const Width &width : stores)
    add("_store_", width, [=](InstructionBuilder &builder) -> Error {
      Instruction &instruction = builder.instruction;
      instruction.accessBytes = uint8_t(width.bytes);
      instruction.detail = flagsOf(width);
      instruction.run = store;
      if (Error error = builder.expectOperands(2 + extra))
        return error;
      unsigned words = (width.bytes + 3) / 4;
      if (space == Space::Buffer)
        return buildAccess(builder, space, -1, 0, 1, 0, words, 2);
      return buildAccess(builder, space, -1, 0, 0, 1, words, extra ? 2 : -1);
    });
}

static void addLoadsToShared(InstructionTable &table) {
  for (const Width &width : loads)
    table.add(("global_load_lds_" + width.old).str(),
              [=](InstructionBuilder &builder) -> Error {
                builder.instruction.accessBytes = uint8_t(width.bytes);
                builder.instruction.run = loadToShared;
                if (width.bytes < 4)
                  return builder.error("the emulator only knows whole words");
                if (Error error = builder.expectOperands(2))
                  return error;
                return buildAccess(builder, Space::Global, -1, 0, 0, -1, 0, 1);
              });
}

/// Writes back and invalidates caches of waves below its scope.
static void operateOnCache(Wave &wave, const Instruction &instruction) {
  if (!wave.cache || instruction.scope < wave.cache->coherentScope)
    return;
  if (instruction.detail)
    wave.cache->writeBack();
  if (instruction.detail2)
    wave.cache->invalidate();
}

static void addCacheOperations(InstructionTable &table) {
  struct Operation {
    StringRef name;
    bool writesBack, invalidates;
    /// Where no modifier names it.
    std::optional<Scope> scope = std::nullopt;
  };
  static constexpr Operation operations[] = {
      {"buffer_wbl2", true, false},
      {"buffer_inv", false, true},
      {"buffer_wbinvl1", false, true, Scope::Agent},
      {"buffer_wbinvl1_vol", false, true, Scope::Agent},
      {"buffer_invl2", false, true, Scope::System},
      {"buffer_gl0_inv", false, true, Scope::Workgroup},
      {"buffer_gl1_inv", false, true, Scope::Agent},
      {"global_wb", true, false},
      {"global_inv", false, true},
      {"global_wbinv", true, true}};
  for (const Operation &operation : operations)
    table.add(operation.name, [=](InstructionBuilder &builder) {
      Instruction &instruction = builder.instruction;
      instruction.scope =
          operation.scope.value_or(scopeOf(builder, /*isAtomic=*/false));
      instruction.detail = operation.writesBack;
      instruction.detail2 = operation.invalidates;
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
