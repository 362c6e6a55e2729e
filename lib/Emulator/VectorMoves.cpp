// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorMoves.cpp - Moves within and between lanes -------------------===//
#include "Scalars.h"

using namespace mlir::iris::emulator;
using llvm::Error;

static void addRegisterMoves(InstructionTable &table) {
  for (auto name : {"v_mov_b32", "v_accvgpr_write_b32", "v_accvgpr_read_b32",
                    "v_accvgpr_mov_b32", "v_accvgpr_write", "v_accvgpr_read",
                    "v_accvgpr_mov"})
    table.add(name, lanes<U32(U32)>([](uint32_t a) { return a; }));
  table.add("v_mov_b64", lanes<U64(U64)>([](uint64_t a) { return a; }));
  table.add("v_mov_b16", lanes<U16(U16)>([](int32_t a) { return a; }));
  table.add("v_cndmask_b32", lanes<B32(B32, B32, Mask)>(
                                 [](uint32_t a, uint32_t b, uint8_t selects) {
                                   return selects ? b : a;
                                 }));
  table.add("v_cndmask_b16", lanes<U16(B16, B16, Mask)>(
                                 [](int32_t a, int32_t b, uint8_t selects) {
                                   return selects ? b : a;
                                 }));
  // The bits of the operands, of which op_sel selects halves.
  table.add("v_pack_b32_f16", lanes<U32(B16, B16)>([](int32_t a, int32_t b) {
              return uint32_t(a) | uint32_t(b) << 16;
            }));
  table.add("v_nop", [](InstructionBuilder &builder) {
    builder.instruction.run = [](Wave &, const Instruction &) {};
    return Error::success();
  });
}

/// The number of lanes below each lane whose bit in the first source is set, in
/// one half of the wave, and the second source.
template <unsigned kFirstLane>
static IRIS_INLINE void countBelow(Wave &wave, const Instruction &instruction) {
  LaneBuffer<uint32_t> buffers[2];
  auto bits = U32::load(wave, instruction.sources[0], buffers[0]);
  auto base = U32::load(wave, instruction.sources[1], buffers[1]);
  alignas(64) uint32_t counts[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned below = lane < kFirstLane ? 0 : std::min(lane - kFirstLane, 32u);
    uint32_t mask = uint32_t((uint64_t(1) << below) - 1);
    counts[lane] = uint32_t(__builtin_popcount(bits[lane] & mask)) + base[lane];
  }
  U32::store(wave, instruction, instruction.result, counts);
}

static unsigned firstLane(const Wave &wave) {
  return wave.exec() ? unsigned(__builtin_ctzll(wave.exec())) : 0;
}

static void addCrossLane(InstructionTable &table) {
  table.add("v_mbcnt_lo_u32_b32",
            Describe<U32(U32, U32)>::semantics(widest<countBelow<0>>()));
  table.add("v_mbcnt_hi_u32_b32",
            Describe<U32(U32, U32)>::semantics(widest<countBelow<32>>()));

  table.add("v_readfirstlane_b32", [](InstructionBuilder &builder) -> Error {
    Instruction &instruction = builder.instruction;
    if (Error error = builder.result(0, instruction.result, U32::type))
      return error;
    instruction.run = [](Wave &wave, const Instruction &instruction) {
      const Operand &source = instruction.sources[0];
      wave.scalars[instruction.result.index] =
          source.kind == Operand::Vector
              ? wave.row(source.index)[firstLane(wave)]
              : readScalar<uint32_t>(wave, source);
    };
    return builder.source(1, instruction.sources[0], U32::type);
  });
  table.add("v_readlane_b32", [](InstructionBuilder &builder) -> Error {
    Instruction &instruction = builder.instruction;
    if (Error error = builder.result(0, instruction.result, U32::type))
      return error;
    if (Error error = builder.source(1, instruction.sources[0], U32::type))
      return error;
    if (instruction.sources[0].kind != Operand::Vector)
      return builder.error("the emulator expects a vector register");
    instruction.run = [](Wave &wave, const Instruction &instruction) {
      uint32_t lane = readScalar<uint32_t>(wave, instruction.sources[1]);
      wave.scalars[instruction.result.index] =
          wave.row(instruction.sources[0].index)[lane & (wave.waveSize - 1)];
    };
    return builder.source(2, instruction.sources[1], U32::type);
  });
  // Writes one lane, active or not.
  table.add("v_writelane_b32", [](InstructionBuilder &builder) -> Error {
    Instruction &instruction = builder.instruction;
    if (Error error = builder.result(0, instruction.result, U32::type))
      return error;
    if (Error error = builder.source(1, instruction.sources[0], U32::type))
      return error;
    instruction.run = [](Wave &wave, const Instruction &instruction) {
      uint32_t lane = readScalar<uint32_t>(wave, instruction.sources[1]);
      wave.row(instruction.result.index)[lane & (wave.waveSize - 1)] =
          readScalar<uint32_t>(wave, instruction.sources[0]);
    };
    return builder.source(2, instruction.sources[1], U32::type);
  });

  // The upper half of each group of lanes of the first register, and the lower
  // half of the second, active or not.
  auto addSwap = [&table](llvm::StringRef name, Handler run) {
    table.add(name, [run](InstructionBuilder &builder) -> Error {
      builder.instruction.run = run;
      if (Error error =
              builder.result(0, builder.instruction.result, U32::type))
        return error;
      return builder.result(1, builder.instruction.result2, U32::type);
    });
  };
  addSwap("v_permlane32_swap_b32",
          [](Wave &wave, const Instruction &instruction) {
            uint32_t *first = wave.row(instruction.result.index);
            uint32_t *second = wave.row(instruction.result2.index);
            std::swap_ranges(first + 32, first + 64, second);
          });
  addSwap("v_permlane16_swap_b32", [](Wave &wave,
                                      const Instruction &instruction) {
    uint32_t *first = wave.row(instruction.result.index);
    uint32_t *second = wave.row(instruction.result2.index);
    for (unsigned group = 0; group < kLanes; group += 32)
      std::swap_ranges(first + group + 16, first + group + 32, second + group);
  });
  addSwap("v_swap_b32", [](Wave &wave, const Instruction &instruction) {
    uint32_t *first = wave.row(instruction.result.index);
    uint32_t *second = wave.row(instruction.result2.index);
    const uint32_t *active = wave.activeWords();
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (active[lane])
        std::swap(first[lane], second[lane]);
  });
}

void mlir::iris::emulator::addVectorMoves(InstructionTable &table) {
  addRegisterMoves(table);
  addCrossLane(table);
}
