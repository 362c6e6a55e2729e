// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "InitCheck.h"
#include "DualIssue.h"
#include "Lines.h"
#include "Program.h"
#include "Registers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::iris::emulator;
using llvm::StringRef;
using Sources = InitState::Sources;

constexpr uint64_t kAll = ~uint64_t(0);

static StringRef mnemonicOf(const Instruction &instruction) {
  return StringRef(instruction.text).split(' ').first;
}

static bool hasPrefix(StringRef name, llvm::ArrayRef<StringRef> prefixes) {
  return llvm::any_of(
      prefixes, [&](StringRef prefix) { return name.starts_with(prefix); });
}

/// Ends the wave with an error. False.
static bool failFor(Wave &wave, const llvm::Twine &what,
                    const InitState::Origin &origin) {
  std::string text = what.str() + " depends on ";
  text += origin.load
              ? "bytes of LDS that nothing has written, loaded by " +
                    describeInstruction(wave.program, *origin.load)
              : nameOf(origin.number) + ", which the wave has not written";
  wave.fail(text);
  return false;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The bits of a scalar operand that have values.
static uint64_t bitsOf(const InitState &state, const Operand &operand) {
  if (operand.kind != Operand::Scalar)
    return kAll;
  uint64_t upper = operand.count > 1 ? state.scalars[operand.index + 1] : ~0u;
  return state.scalars[operand.index] | upper << 32;
}

static uint64_t valueOf(const Wave &wave, const Operand &operand) {
  if (operand.kind != Operand::Scalar)
    return operand.constant;
  return operand.count > 1 ? wave.scalar64(operand.index)
                           : wave.scalars[operand.index];
}

/// Reads an operand in each lane. \param isMask whether a scalar one has a bit
/// for each lane, and not a value that all lanes read
static void read(const InitState &state, const Operand &operand, bool isMask,
                 Sources &sources) {
  uint64_t lanes = kAll;
  unsigned missing = 0;
  auto combine = [&](uint64_t part, unsigned number) {
    if (part != kAll && lanes == kAll)
      missing = number;
    lanes &= part;
  };
  if (operand.kind == Operand::Scalar && isMask)
    combine(bitsOf(state, operand), operand.index);
  else if (operand.kind == Operand::Scalar)
    for (unsigned i = operand.index; i < operand.index + operand.count; ++i)
      combine(state.scalars[i] == ~0u ? kAll : 0, i);
  else if (operand.kind == Operand::Vector)
    for (unsigned i = operand.index; i < operand.index + operand.count; ++i)
      combine(state.rows[i], kFirstRowBit + i);
  if (lanes != kAll && sources.lanes == kAll)
    sources.origin = state.origins[missing];
  sources.lanes &= lanes;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static bool isBitwise(StringRef name) {
  return hasPrefix(
      name, {"s_and", "s_or", "s_xor", "s_nand", "s_nor", "s_xnor", "s_not_b"});
}

/// The bits of a scalar operation on bits that have values: also those that the
/// value of one operand decides.
static uint64_t bitsOfBitwise(StringRef name, uint64_t a, uint64_t hasA,
                              uint64_t b, uint64_t hasB) {
  if (hasPrefix(name, {"s_andn1", "s_orn1", "s_and_not0", "s_or_not0"}))
    a = ~a;
  if (hasPrefix(name, {"s_andn2", "s_orn2", "s_and_not1", "s_or_not1"}))
    b = ~b;
  uint64_t both = hasA & hasB;
  if (hasPrefix(name, {"s_and", "s_nand"}))
    return both | (hasA & ~a) | (hasB & ~b);
  if (hasPrefix(name, {"s_or", "s_nor"}))
    return both | (hasA & a) | (hasB & b);
  return both;
}

/// Whether the third source of a vector operation is a mask.
static bool hasMask(StringRef name) {
  return hasPrefix(name, {"v_cndmask", "v_addc", "v_subb", "v_add_co_ci",
                          "v_sub_co_ci", "v_subrev_co_ci"});
}

/// Whether results have values whatever the sources have.
static bool isOpaque(const Instruction &instruction, StringRef name) {
  return instruction.permutation || instruction.selection ||
         instruction.keepsOtherHalf ||
         hasPrefix(name, {"v_mfma", "v_smfmac", "v_wmma", "v_swmmac",
                          "v_permlane", "v_writelane", "v_readlane", "v_movrel",
                          "v_swap", "ds_permute", "ds_bpermute", "ds_swizzle",
                          // On parts of registers.
                          "v_perm_b32", "v_and_or", "v_and_b32", "v_or_b32",
                          "v_or3_b32", "v_lshl_or", "v_pack", "v_bfi",
                          "v_alignb", "v_pk_"});
}

/// What a selection reads: of each lane, only what it selects.
static Sources readSelection(const Wave &wave, const Instruction &selection) {
  const InitState &state = *wave.init;
  const Operand &mask = selection.sources[2];
  Sources result, no, yes;
  read(state, mask, /*isMask=*/true, result);
  read(state, selection.sources[0], /*isMask=*/false, no);
  read(state, selection.sources[1], /*isMask=*/false, yes);
  uint64_t chosen = valueOf(wave, mask);
  if (result.lanes == kAll)
    result.origin = chosen & ~yes.lanes ? yes.origin : no.origin;
  result.lanes &= (chosen & yes.lanes) | (~chosen & no.lanes);
  return result;
}

static Sources readOperation(const Wave &wave, const Instruction &operation) {
  StringRef name = mnemonicOf(operation);
  Sources result;
  if (isOpaque(operation, name))
    return result;
  if (name.starts_with("v_cndmask"))
    return readSelection(wave, operation);
  for (unsigned i = 0; i < std::size(operation.sources); ++i)
    read(*wave.init, operation.sources[i], i == 2 && hasMask(name), result);
  return result;
}

/// What the lower word of a sum or shift of two words depends on: carries go
/// up.
static Sources readLowerWord(const Wave &wave, const Instruction &operation) {
  Sources result;
  for (Operand source : operation.sources) {
    source.count = 1;
    read(*wave.init, source, /*isMask=*/false, result);
  }
  return result;
}

static bool hasLowerWord(StringRef name) {
  return hasPrefix(name,
                   {"v_mad_u64", "v_mad_i64", "v_mad_co_u64", "v_mad_co_i64",
                    "v_lshl_add_u64", "v_lshlrev_b64", "v_mov_b64"});
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool isAccess(StringRef name) {
  return hasPrefix(name, {"global_", "flat_", "buffer_", "scratch_", "ds_"});
}

/// Of an access: its addresses, and what it stores to memory.
static bool checkAccess(Wave &wave, const Instruction &access, StringRef name) {
  InitState &state = *wave.init;
  bool isShared = name.starts_with("ds_");
  Sources address, data;
  for (unsigned i = 0; i < std::size(access.sources); ++i)
    read(state, access.sources[i], /*isMask=*/false,
         (isShared ? i > 0 : i == 2) ? data : address);
  state.sources = data;
  if (hasPrefix(name, {"ds_permute", "ds_bpermute", "ds_swizzle"}))
    return true;
  uint64_t active = wave.exec();
  if (uint64_t missing = active & ~address.lanes)
    return failFor(
        wave, "the address of lane " + llvm::Twine(llvm::countr_zero(missing)),
        address.origin);
  if (uint64_t missing = active & ~data.lanes;
      missing && name.starts_with("global_"))
    return failFor(wave,
                   "what lane " + llvm::Twine(llvm::countr_zero(missing)) +
                       " stores",
                   data.origin);
  return true;
}

static bool checkBranch(Wave &wave, StringRef name) {
  const InitState &state = *wave.init;
  if (name.contains("scc") && !state.scc)
    return failFor(wave, "the branch", state.originOfScc);
  if (name.contains("vcc"))
    for (unsigned i = kVcc; i < kVcc + wave.waveSize / 32; ++i)
      if (state.scalars[i] != ~0u)
        return failFor(wave, "the branch", state.origins[i]);
  return true;
}

/// The bits of the operand that SCC selects.
static void selectBits(Wave &wave, const Operand &a, const Operand &b) {
  InitState &state = *wave.init;
  state.sources = {};
  read(state, wave.scc ? a : b, /*isMask=*/false, state.sources);
  state.bits = bitsOf(state, wave.scc ? a : b);
  if (!state.scc) {
    state.bits = 0;
    state.sources.origin = state.originOfScc;
  }
}

/// The bits that a scalar shift or field has, if all of its amounts have
/// values.
static uint64_t bitsOfShift(const Wave &wave, StringRef name, const Operand &a,
                            const Operand &b) {
  const InitState &state = *wave.init;
  bool isWide = name.ends_with("64");
  uint64_t all = isWide ? kAll : 0xFFFFFFFF, amount = valueOf(wave, b);
  uint64_t missing = ~bitsOf(state, a) & all;
  if (uint32_t(bitsOf(state, b)) != ~0u)
    return 0;
  unsigned shift = amount & (isWide ? 63 : 31);
  if (name.starts_with("s_bfe")) {
    unsigned width = amount >> 16 & 0x7F;
    uint64_t field = width >= 64 ? kAll : (uint64_t(1) << width) - 1;
    return missing >> shift & field ? 0 : kAll;
  }
  if (name.starts_with("s_lshl"))
    return ~(missing << shift & all);
  // The sign is in all upper bits.
  bool hasSign = !(missing & (isWide ? uint64_t(1) << 63 : 1u << 31));
  return name.starts_with("s_ashr") && !hasSign ? 0 : ~(missing >> shift);
}

static bool checkScalar(Wave &wave, const Instruction &operation,
                        StringRef name) {
  if (name.starts_with("s_cbranch"))
    return checkBranch(wave, name);
  InitState &state = *wave.init;
  const Operand &a = operation.sources[0], &b = operation.sources[1];
  state.sources = readOperation(wave, operation);
  state.bits = state.sources.lanes ? kAll : 0;
  if (name.contains("saveexec") || name.contains("wrexec")) {
    uint64_t bits = bitsOfBitwise(name, valueOf(wave, a), bitsOf(state, a),
                                  wave.exec(), kAll);
    if (~bits & wave.fullMask)
      return failFor(wave, "which lanes are active", state.sources.origin);
    state.bits = kAll; // EXEC as it was
    return true;
  }
  // Two loads of bytes that nothing has written are equal, whatever is there:
  // a wait that fails changes such a word, and waves look whether it did.
  if (hasPrefix(name, {"s_cmp_eq", "s_cmp_lg"}) && state.sources.origin.load &&
      valueOf(wave, a) == valueOf(wave, b))
    state.sources = {};
  if (isBitwise(name))
    state.bits = bitsOfBitwise(name, valueOf(wave, a), bitsOf(state, a),
                               valueOf(wave, b), bitsOf(state, b));
  else if (hasPrefix(name, {"s_bfe", "s_lshl_b", "s_lshr_b", "s_ashr_i"}))
    state.bits = bitsOfShift(wave, name, a, b);
  else if (name.starts_with("s_mov_b"))
    state.bits = bitsOf(state, a);
  else if (name.starts_with("s_cselect"))
    selectBits(wave, a, b);
  if (hasPrefix(name, {"s_load", "s_buffer_load"}) && !state.bits)
    return failFor(wave, "the address", state.sources.origin);
  bool writesExec = llvm::any_of(
      llvm::ArrayRef(operation.results).take_front(operation.numResults),
      [](RegisterRange range) { return range.first == kExec; });
  if (writesExec && (~state.bits & wave.fullMask))
    return failFor(wave, "which lanes are active", state.sources.origin);
  return true;
}

void mlir::iris::emulator::startInitCheck(Wave &wave) {
  auto state = std::make_unique<InitState>();
  for (unsigned i = 0; i < kNumScalars; ++i)
    state->scalars[i] = wave.scalars[i] == initialScalar(i) ? 0 : ~0u;
  unsigned numVectors = wave.program.kernel.numVectors;
  state->rows.resize(numVectors + kNumTemporaries, kAll);
  for (unsigned i = 0; i < numVectors; ++i)
    if (wave.row(i)[0] == kInitialVector)
      state->rows[i] = 0;
  state->origins.resize(kFirstRowBit + state->rows.size());
  for (unsigned i = 0; i < state->origins.size(); ++i)
    state->origins[i].number = i;
  wave.init = std::move(state);
}

bool mlir::iris::emulator::checkSources(Wave &wave,
                                        const Instruction &instruction) {
  InitState &state = *wave.init;
  StringRef name = mnemonicOf(instruction);
  state.sources = state.second = {};
  state.loaded = kAll;
  if (instruction.dual) {
    state.sources = readOperation(wave, instruction.dual->first);
    state.second = readOperation(wave, instruction.dual->second);
    return true;
  }
  if (isAccess(name))
    return checkAccess(wave, instruction, name);
  if (name.starts_with("s_"))
    return checkScalar(wave, instruction, name);
  state.sources = readOperation(wave, instruction);
  state.low =
      hasLowerWord(name) ? readLowerWord(wave, instruction) : state.sources;
  if (name.starts_with("v_cmpx") && (wave.exec() & ~state.sources.lanes))
    return failFor(wave, "which lanes are active", state.sources.origin);
  return true;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static void setRow(InitState &state, unsigned row, uint64_t lanes,
                   const Sources &sources) {
  if (lanes & ~sources.lanes)
    state.origins[kFirstRowBit + row] = sources.origin;
  state.rows[row] = (state.rows[row] & ~lanes) | (sources.lanes & lanes);
}

/// SCC has a value after comparisons of values, and after all other operations
/// that write it.
static void recordCondition(InitState &state, StringRef name) {
  if (hasPrefix(name, {"s_cmp", "s_bitcmp"})) {
    state.scc = state.sources.lanes != 0;
    state.originOfScc = state.sources.origin;
  } else if (!hasPrefix(name, {"s_mov", "s_cselect", "s_cbranch", "s_wait",
                               "s_nop", "s_load", "s_delay"})) {
    state.scc = true;
  }
}

void mlir::iris::emulator::recordResults(Wave &wave,
                                         const Instruction &instruction) {
  InitState &state = *wave.init;
  StringRef name = mnemonicOf(instruction);
  uint64_t active = wave.exec();
  if (instruction.dual) {
    setRow(state, instruction.dual->result, active, state.sources);
    setRow(state, instruction.dual->second.result.index, active, state.second);
    return;
  }
  Sources sources = state.sources, low = state.low;
  if (isAccess(name))
    sources = low = {state.loaded, {&instruction, 0}};
  // A mask of lanes, the value of the first active one, or of a scalar
  // operation.
  uint64_t bits = sources.lanes | ~active;
  if (name.starts_with("v_readfirstlane"))
    bits = sources.lanes >> (active ? llvm::countr_zero(active) : 0) & 1 ? kAll
                                                                         : 0;
  if (name.starts_with("s_")) {
    bits = state.bits;
    recordCondition(state, name);
  }
  // What moves values between lanes may write inactive ones, too.
  uint64_t lanes = isOpaque(instruction, name) ? kAll : active;
  for (unsigned i = 0; i < instruction.numResults; ++i)
    for (unsigned j = 0; j < instruction.results[i].count; ++j) {
      unsigned number = instruction.results[i].first + j;
      if (number >= kFirstRowBit) {
        setRow(state, number - kFirstRowBit, lanes, j == 0 ? low : sources);
        continue;
      }
      state.scalars[number] = uint32_t(j % 2 ? bits >> 32 : bits);
      state.origins[number] = sources.origin;
    }
}

bool mlir::iris::emulator::checkShared(Wave &wave,
                                       const Instruction &instruction,
                                       unsigned lane, uint32_t offset,
                                       unsigned bytes, bool isStore) {
  MachineState &machine = wave.machine;
  if (machine.checksInit) {
    llvm::BitVector &written = wave.group.ldsWritten;
    uint64_t bit = uint64_t(1) << lane;
    // From memory to LDS.
    bool isLoad = mnemonicOf(instruction).contains("_load");
    if (instruction.isAtomic || (isStore && isLoad))
      written.set(offset, offset + bytes);
    else if (isStore && (wave.init->sources.lanes & bit))
      written.set(offset, offset + bytes);
    else if (isStore)
      written.reset(offset, offset + bytes);
    else if (written.find_first_unset_in(offset, offset + bytes) >= 0)
      wave.init->loaded &= ~bit;
  }
  return !machine.order ||
         machine.order->accessShared(wave, instruction, offset, bytes, isStore);
}
