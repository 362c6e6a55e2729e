// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorMixed.cpp - Fused operations on f16 and f32 ------------------===//
//
// op_sel_hi says which sources are f16, and op_sel in which half. The result is
// rounded to f32, and then to f16 where it is in one half of its register,
// whose other half is kept.
#include "Decoder.h"

using namespace mlir::iris::emulator;
using llvm::Error;

/// `detail`: a bit for each source that is f16.
static IRIS_INLINE LaneValues<float> loadMixed(Wave &wave,
                                               const Instruction &instruction,
                                               unsigned i,
                                               LaneBuffer<float> &buffer) {
  const Operand &operand = instruction.sources[i];
  return instruction.detail >> i & 1 ? F16::load(wave, operand, buffer)
                                     : F32::load(wave, operand, buffer);
}

template <class Result, float (*fused)(float, float, float)>
static IRIS_INLINE void fuseMixed(Wave &wave, const Instruction &instruction) {
  LaneBuffer<float> buffers[3], results;
  LaneValues<float> a = loadMixed(wave, instruction, 0, buffers[0]);
  LaneValues<float> b = loadMixed(wave, instruction, 1, buffers[1]);
  LaneValues<float> c = loadMixed(wave, instruction, 2, buffers[2]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    results.values[lane] = fused(a[lane], b[lane], c[lane]);
  Result::store(wave, instruction, instruction.result, results.values);
}

template <class Result>
static Handler handlerOfMixed() {
  return widest<fuseMixed<Result, fuse>, fuseMixed<Result, fuseSlowly>>();
}

static Error buildMixed(InstructionBuilder &builder, Handler run,
                        OperandType type, bool isHigh) {
  Instruction &instruction = builder.instruction;
  instruction.run = run;
  if (Error error = builder.expectOperands(4))
    return error;
  if (Error error = builder.result(0, instruction.result, type))
    return error;
  if (instruction.result.kind != Operand::Vector)
    return builder.error("the emulator expects a vector register");
  instruction.result.isHigh = isHigh;
  instruction.keepsOtherHalf = true;
  instruction.clamps = builder.parsed.has("clamp");
  auto halves = builder.parsed.getList("op_sel");
  auto isHalf = builder.parsed.getList("op_sel_hi");
  for (unsigned i = 0; i < 3; ++i) {
    bool isShort = i < isHalf.size() && isHalf[i];
    Operand &source = instruction.sources[i];
    if (Error error =
            builder.source(1 + i, source, isShort ? F16::type : F32::type))
      return error;
    source.isHigh |= isShort && i < halves.size() && halves[i];
    instruction.detail |= isShort ? 1u << i : 0;
  }
  return Error::success();
}

void mlir::iris::emulator::addVectorMixed(InstructionTable &table) {
  table.add("v_fma_mix_f32", [](InstructionBuilder &builder) {
    return buildMixed(builder, handlerOfMixed<F32>(), F32::type, false);
  });
  table.add("v_fma_mixlo_f16", [](InstructionBuilder &builder) {
    return buildMixed(builder, handlerOfMixed<F16>(), F16::type, false);
  });
  table.add("v_fma_mixhi_f16", [](InstructionBuilder &builder) {
    return buildMixed(builder, handlerOfMixed<F16>(), F16::type, true);
  });
}
