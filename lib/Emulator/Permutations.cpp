// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Permutations.cpp - Operands from other lanes (DPP) -----------------===//
#include "Scalars.h"

using namespace mlir::iris::emulator;
using llvm::Error;

/// Fills in the permutation that a modifier of the assembly names. Rows have 16
/// lanes.
static bool parsePermutation(const ParsedInstruction &parsed, unsigned waveSize,
                             Permutation &permutation) {
  auto set = [&](auto function) {
    for (int lane = 0; lane < int(kLanes); ++lane) {
      int source = function(lane);
      if (source < 0 || source >= int(waveSize))
        continue;
      permutation.from[lane] = uint8_t(source);
      permutation.hasSource |= uint64_t(1) << lane;
    }
    return true;
  };
  /// The same row, or none.
  auto inRow = [](int lane, int source) {
    return (source & ~15) == (lane & ~15) ? source : -1;
  };
  auto quad = parsed.getList("quad_perm");
  if (quad.size() == 4)
    return set([&](int lane) { return (lane & ~3) + int(quad[lane & 3] & 3); });
  auto eight = parsed.getList("dpp8");
  if (eight.size() == 8)
    return set(
        [&](int lane) { return (lane & ~7) + int(eight[lane & 7] & 7); });
  if (parsed.has("row_shl")) {
    int n = int(parsed.getNumber("row_shl", 0));
    return set([=](int lane) { return inRow(lane, lane + n); });
  }
  if (parsed.has("row_shr")) {
    int n = int(parsed.getNumber("row_shr", 0));
    return set(
        [=](int lane) { return lane >= n ? inRow(lane, lane - n) : -1; });
  }
  if (parsed.has("row_ror")) {
    int n = int(parsed.getNumber("row_ror", 0));
    return set([=](int lane) { return (lane & ~15) | ((lane - n) & 15); });
  }
  if (parsed.has("row_newbcast") || parsed.has("row_share")) {
    int n = int(parsed.has("row_share") ? parsed.getNumber("row_share", 0)
                                        : parsed.getNumber("row_newbcast", 0));
    return set([=](int lane) { return (lane & ~15) | n; });
  }
  if (parsed.has("row_xmask")) {
    int n = int(parsed.getNumber("row_xmask", 0));
    return set([=](int lane) { return lane ^ n; });
  }
  if (parsed.has("row_mirror"))
    return set([](int lane) { return lane ^ 15; });
  if (parsed.has("row_half_mirror"))
    return set([](int lane) { return lane ^ 7; });
  if (parsed.has("wave_shl"))
    return set([](int lane) { return lane + 1; });
  if (parsed.has("wave_shr"))
    return set([](int lane) { return lane - 1; });
  if (parsed.has("wave_rol"))
    return set([=](int lane) { return (lane + 1) & int(waveSize - 1); });
  if (parsed.has("wave_ror"))
    return set([=](int lane) { return (lane - 1) & int(waveSize - 1); });
  // The last lane of a row, or of the first half, for the next one.
  if (parsed.has("row_bcast"))
    return parsed.getNumber("row_bcast", 0) == 15
               ? set([](int lane) { return lane < 16 ? -1 : (lane & ~15) - 1; })
               : set([](int lane) { return lane < 32 ? -1 : 31; });
  return false;
}

/// Permutes the first source into a temporary row, and then runs the operation
/// where lanes are enabled. `detail`: the row of the source; `detail2`: whether
/// lanes without a source read 0, and then (2) whether inactive lanes are read.
static void runPermuted(Wave &wave, const Instruction &instruction) {
  const uint32_t *source = wave.row(instruction.detail);
  uint32_t *permuted = wave.row(instruction.sources[0].index);
  const std::array<uint8_t, kLanes> &from = instruction.permutation->from;
  uint64_t exec = wave.exec(), valid = instruction.permutation->hasSource;
  bool readsInactive = instruction.detail2 & 2;
  if (!readsInactive && !wave.isFull()) {
    uint64_t active = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      active |= (exec >> from[lane] & 1) << lane;
    valid &= active;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane)
    permuted[lane] = source[from[lane]];
  forLanes(~valid, [&](unsigned lane) { permuted[lane] = 0; });
  uint64_t written = instruction.detail2 & 1 ? ~uint64_t(0) : valid;
  wave.setScalar64(kExec, exec & written & instruction.enabledLanes);
  instruction.inner(wave, instruction);
  wave.setScalar64(kExec, exec);
}

Error mlir::iris::emulator::buildPermuted(InstructionBuilder &builder) {
  Instruction &instruction = builder.instruction;
  Operand &source = instruction.sources[0];
  const ParsedInstruction &parsed = builder.parsed;
  if (source.kind != Operand::Vector || source.count != 1)
    return builder.error("the emulator only permutes single registers");
  if (instruction.inner)
    return builder.error("the emulator does not permute operands");
  auto permutation = std::make_shared<Permutation>();
  if (!parsePermutation(parsed, builder.kernel.waveSize, *permutation))
    return builder.error("the emulator does not know the permutation");
  instruction.permutation = std::move(permutation);
  // Bits for rows, and for groups of four lanes in each row.
  uint64_t rows = uint64_t(parsed.getNumber("row_mask", 15));
  uint64_t banks = uint64_t(parsed.getNumber("bank_mask", 15));
  uint64_t enabled = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (rows >> (lane / 16) & 1 && banks >> (lane / 4 % 4) & 1)
      enabled |= uint64_t(1) << lane;
  instruction.enabledLanes = enabled;
  bool isEight = parsed.has("dpp8");
  instruction.detail = source.index;
  instruction.detail2 = (isEight || parsed.has("bound_ctrl") ? 1 : 0) |
                        (parsed.getNumber("fi", 0) ? 2 : 0);
  source.index = uint16_t(builder.kernel.numVectors);
  instruction.inner = instruction.run;
  instruction.run = runPermuted;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Parts of registers (SDWA)
//===----------------------------------------------------------------------===//

/// A part of a word: shift in bits 0 to 4, width in bits 8 to 13, sign
/// extension in bit 16.
static uint32_t parsePart(llvm::StringRef name, bool isSigned) {
  uint32_t number = name.empty() ? 0 : uint32_t(name.back() - '0');
  uint32_t part = 32 << 8;
  if (name.starts_with("BYTE_"))
    part = 8 << 8 | number * 8;
  else if (name.starts_with("WORD_"))
    part = 16 << 8 | number * 16;
  return part | (isSigned ? 1 << 16 : 0);
}

static uint32_t extract(uint32_t word, uint32_t part) {
  unsigned shift = part & 31, unused = 32 - (part >> 8 & 63);
  uint32_t top = (word >> shift) << unused;
  return part >> 16 ? uint32_t(int32_t(top) >> unused) : top >> unused;
}

/// Puts the selected parts into temporary rows, runs the operation on these,
/// and puts its result into a part of the register.
static void runSelected(Wave &wave, const Instruction &instruction) {
  const Selection &selection = *instruction.selection;
  for (unsigned i = 0; i < 2; ++i) {
    if (selection.sources[i].kind == Operand::None)
      continue;
    Row buffer;
    const uint32_t *words =
        loadWords(wave, selection.sources[i], 0, buffer.lanes);
    uint32_t *part = wave.row(instruction.sources[i].index);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      part[lane] = extract(words[lane], selection.parts[i]);
  }
  instruction.inner(wave, instruction);
  if (selection.result.kind == Operand::None)
    return;
  unsigned shift = selection.resultPart & 31;
  unsigned width = selection.resultPart >> 8 & 63;
  uint32_t mask = uint32_t((uint64_t(1) << width) - 1) << shift;
  const uint32_t *old = wave.row(selection.result.index);
  const uint32_t *computed = wave.row(instruction.result.index);
  Row merged;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t bits = computed[lane] << shift & mask, rest = 0;
    if (selection.unused == Selection::Preserve)
      rest = old[lane] & ~mask;
    else if (selection.unused == Selection::SignExtend)
      rest = uint32_t(int32_t(bits << (32 - shift - width)) >>
                      (32 - shift - width)) &
             ~(mask | (mask - 1));
    merged.lanes[lane] = bits | rest;
  }
  wave.writeRow(selection.result.index, merged.lanes);
}

Error mlir::iris::emulator::buildSelected(InstructionBuilder &builder) {
  Instruction &instruction = builder.instruction;
  const ParsedInstruction &parsed = builder.parsed;
  if (instruction.inner)
    return builder.error("the emulator does not select parts of operands");
  auto selection = std::make_shared<Selection>();
  unsigned temporary = builder.kernel.numVectors;
  // The operands of the assembly that are sources come after the results.
  unsigned numResults = instruction.result2.kind == Operand::None ? 1 : 2;
  for (unsigned i = 0; i < 2; ++i) {
    Operand &source = instruction.sources[i];
    auto name = parsed.getText(i == 0 ? "src0_sel" : "src1_sel");
    if (!name)
      continue;
    if (source.kind == Operand::None || source.count != 1)
      return builder.error("the emulator only selects parts of one register");
    bool isSigned = numResults + i < builder.numOperands() &&
                    parsed.operands[numResults + i].starts_with("sext(");
    selection->sources[i] = source;
    selection->parts[i] = parsePart(*name, isSigned);
    source.kind = Operand::Vector;
    source.index = uint16_t(temporary++);
    source.isHigh = false;
  }
  if (auto name = parsed.getText("dst_sel"); name && *name != "DWORD") {
    selection->result = instruction.result;
    selection->resultPart = parsePart(*name, false);
    llvm::StringRef unused = parsed.getText("dst_unused").value_or("");
    selection->unused = unused == "UNUSED_PRESERVE" ? Selection::Preserve
                        : unused == "UNUSED_SEXT"   ? Selection::SignExtend
                                                    : Selection::Clear;
    // An operation that adds to its result reads it as well.
    for (const Operand &source : instruction.sources)
      if (source.kind == Operand::Vector &&
          source.index == instruction.result.index &&
          &source >= instruction.sources + 2)
        return builder.error("the emulator does not accumulate into parts");
    instruction.result.index = uint16_t(temporary++);
  }
  instruction.selection = std::move(selection);
  instruction.inner = instruction.run;
  instruction.run = runSelected;
  return Error::success();
}
