// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedMemory.cpp - LDS, and exchanges through its crossbar ---------===//
//
// Operands: the address (source 0), the data (1 and 2).
#include "Access.h"
#include "AtomicOps.h"
#include "InitCheck.h"
#include "LaneWords.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;

static void issueShared(Wave &wave, const Instruction &instruction,
                        unsigned resultWords) {
  RegisterRange registers;
  if (resultWords)
    registers = {uint16_t(kFirstRowBit + instruction.result.index),
                 uint16_t(resultWords)};
  wave.outstanding.issue(Counter::Lds, Order::Lds, instruction, registers);
}

/// Ends the wave with an error.
static void failOutside(Wave &wave, unsigned lane, uint32_t address,
                        unsigned bytes) {
  wave.fail(llvm::formatv(
      "lane {0} accesses {1} bytes at {2} of LDS, which has {3} bytes", lane,
      bytes, address, wave.group.lds.size()));
}

/// The bytes of LDS at an address, or null, with an error of the wave.
static inline uint8_t *locate(Wave &wave, const Instruction &instruction,
                              unsigned lane, uint32_t address, unsigned bytes,
                              bool isStore) {
  std::vector<uint8_t> &lds = wave.group.lds;
  if (LLVM_LIKELY(address <= lds.size() && bytes <= lds.size() - address)) {
    if (LLVM_UNLIKELY(wave.machine.watchesShared()) &&
        !checkShared(wave, instruction, lane, address, bytes, isStore))
      return nullptr;
    return lds.data() + address;
  }
  failOutside(wave, lane, address, bytes);
  return nullptr;
}

/// Whether all lanes are active, and access `bytes` inside of LDS.
static IRIS_INLINE bool areAllInside(Wave &wave, const uint32_t *addresses,
                                     uint32_t offset, unsigned bytes) {
  if (!wave.isFull() || wave.machine.watchesShared())
    return false;
  uint32_t most = 0;
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    most = std::max(most, addresses[lane] + offset);
  size_t size = wave.group.lds.size();
  return bytes <= size && most <= size - bytes;
}

/// Counts and records a store of all active lanes.
static IRIS_INLINE void recordSharedStore(Wave &wave,
                                          const Instruction &instruction,
                                          const uint32_t *addresses,
                                          uint32_t offset, unsigned bytes) {
  uint32_t least = ~0u, most = 0;
  auto include = [&](unsigned lane) {
    least = std::min(least, addresses[lane] + offset);
    most = std::max(most, addresses[lane] + offset);
  };
  if (wave.isFull())
    for (unsigned lane = 0; lane < wave.waveSize; ++lane)
      include(lane);
  else
    forLanes(wave.exec(), include);
  if (least <= most)
    recordStore(wave, instruction, least, uint64_t(most) + bytes,
                /*isShared=*/true);
}

template <unsigned kBytes>
static IRIS_INLINE void loadLanes(Wave &wave, const Instruction &instruction) {
  const uint32_t *addresses = wave.row(instruction.sources[0].index);
  uint32_t *rows = wave.row(instruction.result.index);
  uint32_t offset = uint32_t(instruction.offset);
  if (areAllInside(wave, addresses, offset, kBytes)) {
    const uint8_t *lds = wave.group.lds.data();
    loadAllLanes<kBytes / 4>(rows, wave.waveSize, [&](unsigned lane) {
      return lds + uint32_t(addresses[lane] + offset);
    });
  } else {
    forLanes(wave.exec(), [&](unsigned lane) {
      const uint8_t *data = locate(wave, instruction, lane,
                                   addresses[lane] + offset, kBytes, false);
      if (!data)
        return;
      uint32_t words[kBytes / 4];
      std::memcpy(words, data, kBytes);
      for (unsigned i = 0; i < kBytes / 4; ++i)
        rows[i * kLanes + lane] = words[i];
    });
  }
  issueShared(wave, instruction, kBytes / 4);
}

template <unsigned kBytes, unsigned kFlags>
static IRIS_INLINE void loadSharedPart(Wave &wave,
                                       const Instruction &instruction) {
  const uint32_t *addresses = wave.row(instruction.sources[0].index);
  uint32_t *row = wave.row(instruction.result.index);
  forLanes(wave.exec(), [&](unsigned lane) {
    const uint8_t *data =
        locate(wave, instruction, lane,
               addresses[lane] + uint32_t(instruction.offset), kBytes, false);
    if (!data)
      return;
    uint32_t value = 0;
    std::memcpy(&value, data, kBytes);
    row[lane] = mergePart(row[lane], value, kBytes, kFlags);
  });
  issueShared(wave, instruction, 1);
}

template <unsigned kBytes, unsigned kFlags = 0>
static IRIS_INLINE void storeLanes(Wave &wave, const Instruction &instruction) {
  constexpr unsigned words = (kBytes + 3) / 4, shift = kFlags & kHigh ? 16 : 0;
  const uint32_t *addresses = wave.row(instruction.sources[0].index);
  const uint32_t *rows = wave.row(instruction.sources[1].index);
  uint32_t offset = uint32_t(instruction.offset);
  if (kBytes >= 4 && areAllInside(wave, addresses, offset, kBytes)) {
    uint8_t *lds = wave.group.lds.data();
    storeAllLanes<words>(rows, wave.waveSize, [&](unsigned lane) {
      return lds + uint32_t(addresses[lane] + offset);
    });
  } else {
    forLanes(wave.exec(), [&](unsigned lane) {
      uint8_t *data = locate(wave, instruction, lane, addresses[lane] + offset,
                             kBytes, true);
      if (!data)
        return;
      uint32_t values[words];
      for (unsigned i = 0; i < words; ++i)
        values[i] = rows[i * kLanes + lane] >> shift;
      std::memcpy(data, values, kBytes);
    });
  }
  recordSharedStore(wave, instruction, addresses, offset, kBytes);
  issueShared(wave, instruction, 0);
}

/// Two accesses of kWords; `detail` and `detail2` are their offsets.
template <unsigned kWords>
static IRIS_INLINE void loadTwo(Wave &wave, const Instruction &instruction) {
  // The result may be in the row of the addresses.
  Row addresses;
  std::memcpy(addresses.lanes, wave.row(instruction.sources[0].index),
              sizeof(Row));
  const uint32_t offsets[] = {instruction.detail, instruction.detail2};
  uint32_t *rows = wave.row(instruction.result.index);
  constexpr unsigned bytes = 4 * kWords;
  if (areAllInside(wave, addresses.lanes, offsets[0], bytes) &&
      areAllInside(wave, addresses.lanes, offsets[1], bytes)) {
    const uint8_t *lds = wave.group.lds.data();
    for (unsigned i = 0; i < 2; ++i)
      loadAllLanes<kWords>(
          rows + i * kWords * kLanes, wave.waveSize, [&](unsigned lane) {
            return lds + uint32_t(addresses.lanes[lane] + offsets[i]);
          });
  } else {
    forLanes(wave.exec(), [&](unsigned lane) {
      uint32_t words[2 * kWords];
      for (unsigned i = 0; i < 2; ++i) {
        const uint8_t *data =
            locate(wave, instruction, lane, addresses.lanes[lane] + offsets[i],
                   bytes, false);
        if (!data)
          return;
        std::memcpy(words + i * kWords, data, bytes);
      }
      for (unsigned i = 0; i < 2 * kWords; ++i)
        rows[i * kLanes + lane] = words[i];
    });
  }
  issueShared(wave, instruction, 2 * kWords);
}

template <unsigned kWords>
static IRIS_INLINE void storeTwo(Wave &wave, const Instruction &instruction) {
  const uint32_t *addresses = wave.row(instruction.sources[0].index);
  forLanes(wave.exec(), [&](unsigned lane) {
    for (unsigned i = 0; i < 2; ++i) {
      const uint32_t *rows = wave.row(instruction.sources[1 + i].index);
      uint32_t offset = i ? instruction.detail2 : instruction.detail;
      uint8_t *data = locate(wave, instruction, lane, addresses[lane] + offset,
                             4 * kWords, true);
      if (!data)
        return;
      uint32_t words[kWords];
      for (unsigned k = 0; k < kWords; ++k)
        words[k] = rows[k * kLanes + lane];
      std::memcpy(data, words, 4 * kWords);
    }
  });
  for (uint32_t offset : {instruction.detail, instruction.detail2})
    recordSharedStore(wave, instruction, addresses, offset, 4 * kWords);
  issueShared(wave, instruction, 0);
}

/// The address, and `count` operands of data.
static Error buildShared(InstructionBuilder &builder, Handler run,
                         unsigned resultWords, unsigned count,
                         unsigned dataWords) {
  Instruction &instruction = builder.instruction;
  instruction.run = run;
  instruction.offset = builder.parsed.getNumber("offset", 0);
  if (builder.parsed.has("gds"))
    return builder.error("the emulator does not know GDS");
  unsigned next = 0;
  if (Error error = builder.expectOperands((resultWords ? 1 : 0) + 1 + count))
    return error;
  if (resultWords) {
    if (Error error = builder.result(next++, instruction.result,
                                     {resultWords, 32, false}))
      return error;
    // Accesses of one order may write a register after each other.
    --instruction.numRanges;
  }
  for (unsigned i = 0; i < 1 + count; ++i) {
    Operand &source = instruction.sources[i];
    if (Error error =
            builder.source(next++, source, {i ? dataWords : 1, 32, false}))
      return error;
    if (source.kind != Operand::Vector)
      return builder.error("the emulator expects vector registers");
  }
  return Error::success();
}

/// A load of a byte or two, by its names.
template <unsigned kBytes, unsigned kFlags = 0>
static void addPart(InstructionTable &table, StringRef old, StringRef name) {
  for (StringRef each : {old, name})
    table.add(each, [](InstructionBuilder &builder) {
      return buildShared(builder, widest<loadSharedPart<kBytes, kFlags>>(), 1,
                         0, 0);
    });
}

static void addPlain(InstructionTable &table) {
  auto load = [&](std::initializer_list<StringRef> names, Handler run,
                  unsigned words) {
    for (StringRef name : names)
      table.add(name, [=](InstructionBuilder &builder) {
        return buildShared(builder, run, words, 0, 0);
      });
  };
  load({"ds_read_b32", "ds_load_b32"}, widest<loadLanes<4>>(), 1);
  load({"ds_read_b64", "ds_load_b64"}, widest<loadLanes<8>>(), 2);
  load({"ds_read_b96", "ds_load_b96"}, widest<loadLanes<12>>(), 3);
  load({"ds_read_b128", "ds_load_b128"}, widest<loadLanes<16>>(), 4);
  addPart<1>(table, "ds_read_u8", "ds_load_u8");
  addPart<1, kSigned>(table, "ds_read_i8", "ds_load_i8");
  addPart<2>(table, "ds_read_u16", "ds_load_u16");
  addPart<2, kSigned>(table, "ds_read_i16", "ds_load_i16");
  addPart<1, kHalf>(table, "ds_read_u8_d16", "ds_load_u8_d16");
  addPart<1, kHalf | kHigh>(table, "ds_read_u8_d16_hi", "ds_load_u8_d16_hi");
  addPart<1, kSigned | kHalf>(table, "ds_read_i8_d16", "ds_load_i8_d16");
  addPart<1, kSigned | kHalf | kHigh>(table, "ds_read_i8_d16_hi",
                                      "ds_load_i8_d16_hi");
  addPart<2, kHalf>(table, "ds_read_u16_d16", "ds_load_u16_d16");
  addPart<2, kHalf | kHigh>(table, "ds_read_u16_d16_hi", "ds_load_u16_d16_hi");

  auto store = [&](std::initializer_list<StringRef> names, Handler run,
                   unsigned words) {
    for (StringRef name : names)
      table.add(name, [=](InstructionBuilder &builder) {
        return buildShared(builder, run, 0, 1, words);
      });
  };
  store({"ds_write_b8", "ds_store_b8"}, widest<storeLanes<1>>(), 1);
  store({"ds_write_b8_d16_hi", "ds_store_b8_d16_hi"},
        widest<storeLanes<1, kHigh>>(), 1);
  store({"ds_write_b16", "ds_store_b16"}, widest<storeLanes<2>>(), 1);
  store({"ds_write_b16_d16_hi", "ds_store_b16_d16_hi"},
        widest<storeLanes<2, kHigh>>(), 1);
  store({"ds_write_b32", "ds_store_b32"}, widest<storeLanes<4>>(), 1);
  store({"ds_write_b64", "ds_store_b64"}, widest<storeLanes<8>>(), 2);
  store({"ds_write_b96", "ds_store_b96"}, widest<storeLanes<12>>(), 3);
  store({"ds_write_b128", "ds_store_b128"}, widest<storeLanes<16>>(), 4);
}

static void addTwo(InstructionTable &table) {
  struct Kind {
    StringRef name;
    Handler run;
    unsigned words, unit;
    bool isLoad;
  };
  const Kind kinds[] = {
      {"ds_read2_b32", widest<loadTwo<1>>(), 1, 4, true},
      {"ds_read2_b64", widest<loadTwo<2>>(), 2, 8, true},
      {"ds_read2st64_b32", widest<loadTwo<1>>(), 1, 256, true},
      {"ds_read2st64_b64", widest<loadTwo<2>>(), 2, 512, true},
      {"ds_load_2addr_b32", widest<loadTwo<1>>(), 1, 4, true},
      {"ds_load_2addr_b64", widest<loadTwo<2>>(), 2, 8, true},
      {"ds_load_2addr_stride64_b32", widest<loadTwo<1>>(), 1, 256, true},
      {"ds_load_2addr_stride64_b64", widest<loadTwo<2>>(), 2, 512, true},
      {"ds_write2_b32", widest<storeTwo<1>>(), 1, 4, false},
      {"ds_write2_b64", widest<storeTwo<2>>(), 2, 8, false},
      {"ds_write2st64_b32", widest<storeTwo<1>>(), 1, 256, false},
      {"ds_write2st64_b64", widest<storeTwo<2>>(), 2, 512, false},
      {"ds_store_2addr_b32", widest<storeTwo<1>>(), 1, 4, false},
      {"ds_store_2addr_b64", widest<storeTwo<2>>(), 2, 8, false},
      {"ds_store_2addr_stride64_b32", widest<storeTwo<1>>(), 1, 256, false},
      {"ds_store_2addr_stride64_b64", widest<storeTwo<2>>(), 2, 512, false}};
  for (const Kind &kind : kinds)
    table.add(kind.name, [kind](InstructionBuilder &builder) {
      const ParsedInstruction &parsed = builder.parsed;
      builder.instruction.detail =
          uint32_t(parsed.getNumber("offset0", 0)) * kind.unit;
      builder.instruction.detail2 =
          uint32_t(parsed.getNumber("offset1", 0)) * kind.unit;
      return buildShared(builder, kind.run, kind.isLoad ? 2 * kind.words : 0,
                         kind.isLoad ? 0 : 2, kind.words);
    });
}

//===----------------------------------------------------------------------===//
// Exchanges between lanes
//===----------------------------------------------------------------------===//

/// Each lane reads the lane that its address names; 0 from inactive ones.
static void readOtherLanes(Wave &wave, const Instruction &instruction) {
  const uint32_t *addresses = wave.row(instruction.sources[0].index);
  const uint32_t *data = wave.row(instruction.sources[1].index);
  uint64_t exec = wave.exec();
  Row result;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned from = (addresses[lane] + uint32_t(instruction.offset)) / 4 &
                    (wave.waveSize - 1);
    result.lanes[lane] = exec >> from & 1 ? data[from] : 0;
  }
  wave.writeRow(instruction.result.index, result.lanes);
  issueShared(wave, instruction, 1);
}

/// Each lane writes to the lane that its address names; the last one counts.
static void writeOtherLanes(Wave &wave, const Instruction &instruction) {
  const uint32_t *addresses = wave.row(instruction.sources[0].index);
  const uint32_t *data = wave.row(instruction.sources[1].index);
  Row result = {};
  forLanes(wave.exec(), [&](unsigned lane) {
    unsigned to = (addresses[lane] + uint32_t(instruction.offset)) / 4 &
                  (wave.waveSize - 1);
    result.lanes[to] = data[lane];
  });
  wave.writeRow(instruction.result.index, result.lanes);
  issueShared(wave, instruction, 1);
}

/// `detail`: the encoded pattern.
static void swizzle(Wave &wave, const Instruction &instruction) {
  const uint32_t *data = wave.row(instruction.sources[0].index);
  uint32_t pattern = instruction.detail;
  uint64_t exec = wave.exec();
  Row result;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned from;
    if (pattern & 0x8000) {
      // A permutation of each four lanes.
      from = (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);
    } else {
      unsigned masked = lane & pattern & 31;
      from = (lane & ~31u) |
             ((masked | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
    }
    result.lanes[lane] = exec >> from & 1 ? data[from] : 0;
  }
  wave.writeRow(instruction.result.index, result.lanes);
  issueShared(wave, instruction, 1);
}

static void addExchanges(InstructionTable &table) {
  for (auto [name, run] :
       {std::pair<StringRef, Handler>{"ds_bpermute_b32", readOtherLanes},
        {"ds_permute_b32", writeOtherLanes}})
    table.add(name, [run = run](InstructionBuilder &builder) {
      return buildShared(builder, run, 1, 1, 1);
    });
  table.add("ds_swizzle_b32", [](InstructionBuilder &builder) {
    // The assembly spells patterns out; the encoding has them as they are.
    builder.instruction.detail =
        builder.encoding[0] | uint32_t(builder.encoding[1]) << 8;
    return buildShared(builder, swizzle, 1, 0, 0);
  });
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// `detail`: whether the result is the value before; `detail2`: the source of
/// the compared value, or 0.
template <class T, class Combine>
static void runSharedAtomic(Wave &wave, const Instruction &instruction,
                            const Combine &combine) {
  constexpr unsigned words = sizeof(T) / 4;
  const uint32_t *addresses = wave.row(instruction.sources[0].index);
  auto read = [&](unsigned source, unsigned lane) {
    return readLane<T>(wave, instruction.sources[source].index, lane);
  };
  unsigned compared = instruction.detail2;
  bool changes = false;
  forLanes(wave.exec(), [&](unsigned lane) {
    uint32_t address = addresses[lane] + uint32_t(instruction.offset);
    uint8_t *memory = locate(wave, instruction, lane, address, sizeof(T), true);
    if (!memory)
      return;
    if (address % sizeof(T)) {
      wave.fail("an atomic's address in LDS is not a multiple of its size");
      return;
    }
    T old;
    std::memcpy(&old, memory, sizeof(T));
    T updated = combine(old, read(compared == 1 ? 2 : 1, lane),
                        compared ? read(compared, lane) : T());
    changes |= std::memcmp(memory, &updated, sizeof(T)) != 0;
    std::memcpy(memory, &updated, sizeof(T));
    if (instruction.detail)
      writeLane(wave, instruction.result.index, lane, old);
  });
  // Otherwise no wave that polls goes on because of it.
  if (changes)
    recordSharedStore(wave, instruction, addresses,
                      uint32_t(instruction.offset), sizeof(T));
  issueShared(wave, instruction, instruction.detail ? words : 0);
}

static void addSharedAtomics(InstructionTable &table) {
  forAtomics([&](StringRef, StringRef name, bool compares, auto type,
                 auto combine) {
    using T = decltype(type);
    using Combine = decltype(combine);
    static Combine stateless = combine;
    Handler run = [](Wave &wave, const Instruction &instruction) {
      runSharedAtomic<T>(wave, instruction, stateless);
    };
    constexpr unsigned words = sizeof(T) / 4;
    auto add = [&](const llvm::Twine &full, bool returns, unsigned compared) {
      table.add(full.str(), [=](InstructionBuilder &builder) {
        builder.instruction.isAtomic = true;
        builder.instruction.detail = returns;
        builder.instruction.detail2 = compared;
        return buildShared(builder, run, returns ? words : 0, compared ? 2 : 1,
                           words);
      });
    };
    if (compares) {
      // Up to gfx10 the first operand is the compared value.
      StringRef bits = name.substr(name.size() - 2);
      add("ds_cmpst_b" + bits, false, 1);
      add("ds_cmpst_rtn_b" + bits, true, 1);
      add("ds_cmpstore_b" + bits, false, 2);
      add("ds_cmpstore_rtn_b" + bits, true, 2);
      return;
    }
    auto [operation, kind] = name.rsplit('_');
    if (operation == "swap") {
      add("ds_wrxchg_rtn_" + kind, true, 0);
      add("ds_storexchg_rtn_" + kind, true, 0);
      return;
    }
    add("ds_" + operation + "_" + kind, false, 0);
    add("ds_" + operation + "_rtn_" + kind, true, 0);
  });
}

void mlir::iris::emulator::addSharedMemory(InstructionTable &table) {
  addPlain(table);
  addTwo(table);
  addExchanges(table);
  addSharedAtomics(table);
}
