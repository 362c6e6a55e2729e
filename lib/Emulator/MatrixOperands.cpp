// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixOperands.h"
#include "Decoder.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::iris::emulator;
using llvm::Error;

// The inner loop takes most of the time of a matmul: wider instructions where
// the host has them. The roundings are the same.
#if defined(__x86_64__) && defined(__ELF__)
#define IRIS_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define IRIS_WIDE
#endif

/// A vector of the compiler's, in as many registers as it takes.
typedef float Floats8 __attribute__((vector_size(32)));

/// Eight columns of four rows: independent sums hide the latency of additions.
IRIS_WIDE void mlir::iris::emulator::addFloats(float *sums, const float *a,
                                               unsigned rowStep, const float *b,
                                               unsigned groups,
                                               unsigned groupLanes,
                                               unsigned count) {
  Floats8 local[kRowsAtOnce];
  for (unsigned row = 0; row < kRowsAtOnce; ++row)
    std::memcpy(&local[row], sums + row * kLanes, sizeof(Floats8));
  Floats8 sum0 = local[0], sum1 = local[1], sum2 = local[2], sum3 = local[3];
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned j = 0; j < count; ++j) {
      unsigned first = j * kLanes + group * groupLanes;
      const float *factors = a + first;
      Floats8 columns;
      std::memcpy(&columns, b + first, sizeof(columns));
      sum0 += factors[0] * columns;
      sum1 += factors[rowStep] * columns;
      sum2 += factors[2 * rowStep] * columns;
      sum3 += factors[3 * rowStep] * columns;
    }
  local[0] = sum0, local[1] = sum1, local[2] = sum2, local[3] = sum3;
  for (unsigned row = 0; row < kRowsAtOnce; ++row)
    std::memcpy(sums + row * kLanes, &local[row], sizeof(Floats8));
}

/// Sixteen columns: half as many accesses to `a`. The sums are variables, which
/// the compiler keeps in registers.
IRIS_WIDE void
mlir::iris::emulator::addFloats16(float *sums, const float *a, unsigned rowStep,
                                  const float *b, unsigned groups,
                                  unsigned groupLanes, unsigned count) {
  Floats8 local[kRowsAtOnce][2];
  for (unsigned row = 0; row < kRowsAtOnce; ++row)
    std::memcpy(local[row], sums + row * kLanes, sizeof(local[row]));
  Floats8 low0 = local[0][0], low1 = local[1][0], low2 = local[2][0];
  Floats8 low3 = local[3][0], high0 = local[0][1], high1 = local[1][1];
  Floats8 high2 = local[2][1], high3 = local[3][1];
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned j = 0; j < count; ++j) {
      unsigned first = j * kLanes + group * groupLanes;
      const float *factors = a + first;
      Floats8 low, high;
      std::memcpy(&low, b + first, sizeof(low));
      std::memcpy(&high, b + first + 8, sizeof(high));
      low0 += factors[0] * low;
      high0 += factors[0] * high;
      low1 += factors[rowStep] * low;
      high1 += factors[rowStep] * high;
      low2 += factors[2 * rowStep] * low;
      high2 += factors[2 * rowStep] * high;
      low3 += factors[3 * rowStep] * low;
      high3 += factors[3 * rowStep] * high;
    }
  local[0][0] = low0, local[1][0] = low1, local[2][0] = low2;
  local[3][0] = low3, local[0][1] = high0, local[1][1] = high1;
  local[2][1] = high2, local[3][1] = high3;
  for (unsigned row = 0; row < kRowsAtOnce; ++row)
    std::memcpy(sums + row * kLanes, local[row], sizeof(local[row]));
}

Error mlir::iris::emulator::buildMatrixOperands(InstructionBuilder &builder,
                                                unsigned operandWords,
                                                unsigned resultWords,
                                                bool isFloat) {
  Instruction &instruction = builder.instruction;
  if (Error error = builder.expectOperands(4))
    return error;
  if (Error error =
          builder.result(0, instruction.result, {resultWords, 32, false}))
    return error;
  for (unsigned i = 0; i < 2; ++i) {
    if (Error error = builder.source(1 + i, instruction.sources[i],
                                     {operandWords, 32, false}))
      return error;
    if (instruction.sources[i].kind != Operand::Vector)
      return builder.error("the emulator expects operands in vectors");
  }
  // A constant is the same in all elements.
  bool isConstant = parseInteger(builder.parsed.operands[3]).has_value() ||
                    !llvm::isAlpha(builder.parsed.operands[3].front());
  return builder.source(3, instruction.sources[2],
                        {isConstant ? 1 : resultWords, 32, isFloat});
}
