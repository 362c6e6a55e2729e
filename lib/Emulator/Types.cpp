// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Types.h"

using namespace mlir::iris::emulator;

/// Applies |x| and -x to the top bits.
template <class Word>
static void modifySigns(const Operand &operand, Word *values, Word sign) {
  Word keep = operand.isAbsolute ? ~sign : ~Word(0);
  Word flip = operand.isNegated ? sign : 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    values[lane] = (values[lane] & keep) ^ flip;
}

const uint32_t *mlir::iris::emulator::loadWords(Wave &wave,
                                                const Operand &operand,
                                                unsigned word, Row &buffer) {
  if (operand.kind == Operand::Vector)
    return wave.row(operand.index + word);
  uint32_t value = operand.kind == Operand::Constant
                       ? uint32_t(operand.constant >> (32 * word))
                   : operand.kind == Operand::Scc
                       ? wave.scc
                       : wave.scalars[operand.index + word];
  std::fill_n(buffer.lanes, kLanes, value);
  return buffer.lanes;
}

const uint32_t *mlir::iris::emulator::loadFloatWords(Wave &wave,
                                                     const Operand &operand,
                                                     Row &buffer) {
  const uint32_t *words = loadWords(wave, operand, 0, buffer);
  if (!operand.hasModifiers())
    return words;
  if (words != buffer.lanes)
    std::memcpy(buffer.lanes, words, sizeof(Row));
  modifySigns<uint32_t>(operand, buffer.lanes, 1u << 31);
  return buffer.lanes;
}

void mlir::iris::emulator::loadPairs(Wave &wave, const Operand &operand,
                                     bool isFloat, uint64_t *values) {
  Row lowBuffer, highBuffer;
  const uint32_t *low = loadWords(wave, operand, 0, lowBuffer);
  const uint32_t *high = loadWords(wave, operand, 1, highBuffer);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    values[lane] = low[lane] | uint64_t(high[lane]) << 32;
  if (isFloat && operand.hasModifiers())
    modifySigns<uint64_t>(operand, values, uint64_t(1) << 63);
}

void mlir::iris::emulator::loadHalves(Wave &wave, const Operand &operand,
                                      bool isFloat, uint32_t *values) {
  Row buffer;
  const uint32_t *words = loadWords(wave, operand, 0, buffer);
  unsigned shift = operand.isHigh ? 16 : 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    values[lane] = words[lane] >> shift & 0xFFFF;
  if (isFloat && operand.hasModifiers())
    modifySigns<uint32_t>(operand, values, 0x8000);
}

void mlir::iris::emulator::storePairs(Wave &wave, const Operand &result,
                                      const uint64_t *values) {
  Row low, high;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    low.lanes[lane] = uint32_t(values[lane]);
    high.lanes[lane] = uint32_t(values[lane] >> 32);
  }
  wave.writeRow(result.index, low.lanes);
  wave.writeRow(result.index + 1, high.lanes);
}

void mlir::iris::emulator::storeHalves(Wave &wave,
                                       const Instruction &instruction,
                                       const Operand &result,
                                       uint32_t *values) {
  const uint32_t *old = wave.row(result.index);
  if (result.isHigh)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] = values[lane] << 16 | (old[lane] & 0xFFFF);
  else if (instruction.keepsOtherHalf)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] |= old[lane] & 0xFFFF0000;
  wave.writeRow(result.index, values);
}

template <class T>
static void modify(const Instruction &instruction, T *values) {
  if (instruction.outputScale) {
    T scale = T(std::ldexp(1.0, instruction.outputScale));
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] *= scale;
  }
  if (instruction.clamps)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      T value = values[lane];
      values[lane] = value > 0 ? (value < 1 ? value : T(1)) : T(0);
    }
}

void mlir::iris::emulator::modifyResult(const Instruction &instruction,
                                        float *values) {
  modify(instruction, values);
}
void mlir::iris::emulator::modifyResult(const Instruction &instruction,
                                        double *values) {
  modify(instruction, values);
}
