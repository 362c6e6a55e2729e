// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WmmaOperations.cpp - Matrix multiplications of waves of 32 (WMMA) --===//
//
// v_wmma_TYPE_16x16x16_OPERANDS: D = A B + C. Lane l has values of k of row, or
// column, l % 16. The two halves of the wave have the same values, or each half
// of them: see AMDExecution. All lanes take part, active or not. Terms are
// added one after the other, in the order of k, by fused multiply-adds.
#include "Decoder.h"
#include "MatrixOperands.h"

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;

constexpr unsigned kSide = 16, kResultRegisters = 8;

template <class Sum, LoadFunction<Sum> loadA, LoadFunction<Sum> loadB,
          unsigned kColumns>
static IRIS_INLINE void multiplyTiles(Wave &wave,
                                      const Instruction &instruction) {
  bool isSplit = wave.execution.splitsMatrixDepth;
  unsigned groups = isSplit ? 2 : 1, count = kSide / groups;
  // Registers of the result may be those of A and B.
  alignas(64) Sum a[kSide][kLanes], b[kSide][kLanes];
  loadA(wave, instruction.sources[0], count, a);
  loadB(wave, instruction.sources[1], count, b);
  startSums(wave, instruction, kResultRegisters);
  constexpr unsigned rowsAtOnce = SumShape<kSide, kColumns>::rows;
  RowSteps steps{isSplit ? 1u : 2u, 4 * kLanes};
  for (unsigned reg = 0; reg < kResultRegisters; reg += rowsAtOnce)
    for (unsigned half = 0; half < 2; ++half) {
      unsigned row = isSplit ? reg + kResultRegisters * half : 2 * reg + half;
      auto *sums = reinterpret_cast<Sum *>(
          wave.row(instruction.result.index + reg) + kSide * half);
      addRows<rowsAtOnce, kSide, kColumns>(sums, a[0] + row, steps, b[0],
                                           groups, count);
    }
}

template <class Sum, LoadFunction<Sum> loadA, LoadFunction<Sum> loadB>
static Handler multiplication() {
  return widestOfSizes<multiplyTiles<Sum, loadA, loadB, kWideColumns>,
                       multiplyTiles<Sum, loadA, loadB, kWidestColumns>>();
}

/// The instruction for elements of this many bits. `signs` is what neg_lo has
/// to be: of integers, which operands are signed.
static void add(InstructionTable &table, StringRef name, Handler run,
                unsigned bitsOfElement, bool isFloat, StringRef signs) {
  table.add(name, [=](InstructionBuilder &builder) -> Error {
    if (builder.parsed.getText("neg_lo").value_or("") != signs)
      return builder.error("the emulator expects neg_lo:" +
                           (signs.empty() ? "[0,0,0]" : signs));
    if (builder.parsed.has("neg_hi") || builder.parsed.has("clamp"))
      return builder.error("the emulator does not know the modifiers");
    unsigned values = builder.execution.splitsMatrixDepth ? 8 : 16;
    builder.instruction.run = run;
    return buildMatrixOperands(builder, values * bitsOfElement / 32,
                               kResultRegisters, isFloat);
  });
}

void mlir::iris::emulator::addWmmaOperations(InstructionTable &table) {
  constexpr LoadFunction<float> halves = loadHalfValues<fromHalf>;
  constexpr LoadFunction<float> brains = loadHalfValues<fromBrain>;
  constexpr LoadFunction<float> e4m3 = loadFloat8s<3, false>;
  constexpr LoadFunction<float> e5m2 = loadFloat8s<2, false>;
  auto addFloats = [&](StringRef operands, Handler run, unsigned bits) {
    add(table, ("v_wmma_f32_16x16x16_" + operands).str(), run, bits, true, "");
  };
  addFloats("f16", multiplication<float, halves, halves>(), 16);
  addFloats("bf16", multiplication<float, brains, brains>(), 16);
  addFloats("fp8_fp8", multiplication<float, e4m3, e4m3>(), 8);
  addFloats("fp8_bf8", multiplication<float, e4m3, e5m2>(), 8);
  addFloats("bf8_fp8", multiplication<float, e5m2, e4m3>(), 8);
  addFloats("bf8_bf8", multiplication<float, e5m2, e5m2>(), 8);
  add(table, "v_wmma_i32_16x16x16_iu8",
      multiplication<uint32_t, loadSignedBytes, loadSignedBytes>(), 8, false,
      "[1,1,0]");
}
