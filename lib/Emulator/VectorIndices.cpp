// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorIndices.cpp - Vector registers by an index in M0 -------------===//
//
// gfx9 has a mode in which M0 is added to the numbers of vector registers: the
// instructions that set it are here, and each instruction in it is decoded once
// for each M0 (Program::decodeAt). Later chips have moves that add M0.
#include "Lines.h"
#include "Scalars.h"

using namespace mlir::iris::emulator;
using llvm::Error;

//===----------------------------------------------------------------------===//
// The mode
//===----------------------------------------------------------------------===//

static void setBits(uint32_t &word, uint32_t mask, uint32_t bits) {
  word = (word & ~mask) | (bits & mask);
}

static void setIndex(Wave &wave, const Instruction &instruction) {
  setBits(wave.scalars[kM0], 0xFF,
          readScalar<uint32_t>(wave, instruction.sources[0]));
}

/// `detail`: the operands to whose registers the index is added.
static void setIndexed(Wave &wave, const Instruction &instruction) {
  setBits(wave.scalars[kM0], 0xF000, instruction.detail << 12);
}

static Error buildIndex(InstructionBuilder &builder, Handler run) {
  builder.instruction.run = run;
  if (Error error = builder.usesM0())
    return error;
  return builder.source(0, builder.instruction.sources[0],
                        scalarType<uint32_t>());
}

static void addMode(InstructionTable &table) {
  table.add("s_set_gpr_idx_on", [](InstructionBuilder &builder) -> Error {
    // What the encoding has instead of a second source.
    builder.instruction.detail = builder.encoding[1] & 15;
    return buildIndex(builder, [](Wave &wave, const Instruction &instruction) {
      setIndex(wave, instruction);
      setIndexed(wave, instruction);
      wave.mode |= kIndexMode;
    });
  });
  table.add("s_set_gpr_idx_off", [](InstructionBuilder &builder) {
    builder.instruction.run = [](Wave &wave, const Instruction &) {
      wave.mode &= ~kIndexMode;
    };
    return Error::success();
  });
  table.add("s_set_gpr_idx_mode", [](InstructionBuilder &builder) {
    builder.instruction.detail = builder.encoding[0] & 15;
    builder.instruction.run = setIndexed;
    return builder.usesM0();
  });
  table.add("s_set_gpr_idx_idx", [](InstructionBuilder &builder) {
    return buildIndex(builder, setIndex);
  });
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// Moves whose number of the result, or of the source, is relative to M0.
enum Relative : uint32_t {
  RelativeSource = 1,
  RelativeResult = 2,
  RelativeBoth = RelativeSource | RelativeResult,
  /// To two indices in M0.
  RelativeToTwo = 4,
};

static RegisterOffsets getMoveOffsets(uint32_t m0, uint32_t relative) {
  if (relative == RelativeToTwo)
    return {m0 >> 16 & 0x3FF, m0 & 0x3FF, 0, 0};
  return {relative & RelativeResult ? m0 : 0,
          relative & RelativeSource ? m0 : 0, 0, 0};
}

static void moveRelative(Wave &wave, const Instruction &instruction) {
  // Nothing is written, whatever the index.
  if (!wave.exec())
    return;
  RegisterOffsets offsets =
      getMoveOffsets(wave.scalars[kM0], instruction.detail);
  auto decoded = wave.program.decodeAt(instruction.position, offsets);
  if (!decoded)
    return wave.fail(llvm::toString(decoded.takeError()));
  const Instruction &move = **decoded;
  if (const Instruction *issuer = wave.outstanding.findPending(move))
    return wave.fail(describeMissingWait(wave.program, *issuer));
  move.run(wave, move);
}

static void addMoves(InstructionTable &table) {
  Semantics move = lanes<U32(U32)>([](uint32_t a) { return a; });
  auto add = [&](llvm::StringRef name, uint32_t relative) {
    table.add(name, [move, relative](InstructionBuilder &builder) -> Error {
      if (Error error = builder.operation(move))
        return error;
      // What `moveRelative` executes.
      if (builder.offsets)
        return Error::success();
      builder.instruction.run = moveRelative;
      builder.instruction.detail = relative;
      // Its registers are those of the moves with offsets.
      builder.instruction.numRanges = 0;
      return builder.usesM0();
    });
  };
  add("v_movrels_b32", RelativeSource);
  add("v_movreld_b32", RelativeResult);
  add("v_movrelsd_b32", RelativeBoth);
  add("v_movrelsd_2_b32", RelativeToTwo);
}

void mlir::iris::emulator::addVectorIndices(InstructionTable &table) {
  addMode(table);
  addMoves(table);
}
