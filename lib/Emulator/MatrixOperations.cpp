// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixOperations.cpp - Matrix multiplications of a wave (MFMA) -----===//
//
// v_mfma_TYPE_MxNxK: D = A B + C, where each lane has consecutive values of k
// of one row of A, or column of B. All lanes take part, active or not. Terms
// are added one after the other, in the order of k, by fused multiply-adds.
#include "Decoder.h"
#include "MatrixOperands.h"

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;

namespace {

/// kRows by kRows results, with kBlocks independent multiplications.
template <unsigned kRows, unsigned kDepth, unsigned kBlocks = 1>
struct Shape {
  static constexpr unsigned rows = kRows, depth = kDepth, blocks = kBlocks;
};

} // namespace

//===----------------------------------------------------------------------===//
// Multiplications
//===----------------------------------------------------------------------===//

/// The row of a result: register r of a group of lanes (32, or 16, lanes have
/// the columns).
template <unsigned kRows>
constexpr unsigned rowOf(unsigned reg, unsigned group) {
  if (kRows == 4)
    return reg;
  return kRows == 16 ? 4 * group + reg : 8 * (reg / 4) + 4 * group + reg % 4;
}

/// D = A B + C by vectors of kColumns. `Sum` is float or uint32_t.
template <class Shape, class Sum, LoadFunction<Sum> loadA,
          LoadFunction<Sum> loadB, unsigned kColumns>
static IRIS_INLINE void multiply(Wave &wave, const Instruction &instruction) {
  constexpr unsigned rows = Shape::rows;
  // Lanes with the rows of one block, each with `count` values of k.
  constexpr unsigned groups = kLanes / rows / Shape::blocks;
  constexpr unsigned count = Shape::depth / groups;
  // Registers of the result may be those of A and B.
  alignas(64) Sum a[count][kLanes], b[count][kLanes];
  loadA(wave, instruction.sources[0], count, a);
  loadB(wave, instruction.sources[1], count, b);
  // Registers of a block's result: each has one row in each group of `rows`
  // lanes. The blocks of 4 by 4 results share registers.
  constexpr bool isShared = rows == 4;
  constexpr unsigned perBlock = isShared ? 4 : rows * rows / kLanes;
  constexpr unsigned total = isShared ? 4 : perBlock * Shape::blocks;
  startSums(wave, instruction, total);
  // Four consecutive registers have consecutive rows; of 16 rows, the next
  // group of lanes has the next four.
  constexpr unsigned rowsAtOnce =
      rows == 16 ? SumShape<rows, kColumns>::rows : 4;
  for (unsigned reg = 0; reg < total; reg += 4)
    for (unsigned group = 0; group < kLanes / rows; group += rowsAtOnce / 4) {
      unsigned block = isShared ? group : reg / perBlock;
      unsigned row = isShared ? reg : rowOf<rows>(reg % perBlock, group);
      unsigned first = block * groups * rows;
      auto *sums = reinterpret_cast<Sum *>(
          wave.row(instruction.result.index + reg) + group * rows);
      addRows<rowsAtOnce, rows, kColumns>(sums, a[0] + first + row, {1, rows},
                                          b[0] + first, groups, count);
    }
}

/// 16 by 16 results of f64: one value of k in each group of 16 lanes.
static void multiplyDoubles(Wave &wave, const Instruction &instruction) {
  auto pair = [&](const Operand &operand, unsigned index, unsigned lane) {
    if (operand.kind != Operand::Vector)
      return bitCast<double>(operand.constant);
    return bitCast<double>(
        wave.row(operand.index + 2 * index)[lane] |
        uint64_t(wave.row(operand.index + 2 * index + 1)[lane]) << 32);
  };
  double sums[4][kLanes];
  for (unsigned reg = 0; reg < 4; ++reg)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned row = 4 * reg + lane / 16, column = lane % 16;
      double sum = pair(instruction.sources[2], reg, lane);
      for (unsigned k = 0; k < 4; ++k)
        sum = std::fma(pair(instruction.sources[0], 0, 16 * k + row),
                       pair(instruction.sources[1], 0, 16 * k + column), sum);
      sums[reg][lane] = sum;
    }
  for (unsigned reg = 0; reg < 4; ++reg)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint64_t bits = bitCast<uint64_t>(sums[reg][lane]);
      wave.row(instruction.result.index + 2 * reg)[lane] = uint32_t(bits);
      wave.row(instruction.result.index + 2 * reg + 1)[lane] =
          uint32_t(bits >> 32);
    }
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static Error buildMultiplication(InstructionBuilder &builder, Handler run,
                                 unsigned operandWords, unsigned resultWords,
                                 bool isFloat) {
  for (StringRef modifier : {"cbsz", "abid", "blgp", "neg"})
    if (builder.parsed.has(modifier))
      return builder.error("the emulator does not know '" + modifier + "'");
  builder.instruction.run = run;
  return buildMatrixOperands(builder, operandWords, resultWords, isFloat);
}

/// The instruction of a shape, for elements of this many bits.
template <class Shape, class Sum, LoadFunction<Sum> loadA,
          LoadFunction<Sum> loadB>
static BuildFunction makeBuild(unsigned bitsOfElement) {
  Handler run =
      widestOfSizes<multiply<Shape, Sum, loadA, loadB, kWideColumns>,
                    multiply<Shape, Sum, loadA, loadB, kWidestColumns>>();
  constexpr unsigned elements = Shape::rows * Shape::blocks;
  unsigned values = elements * Shape::depth / kLanes;
  unsigned operandWords = std::max(1u, values * bitsOfElement / 32);
  unsigned resultWords = elements * Shape::rows / kLanes;
  return [=](InstructionBuilder &builder) {
    return buildMultiplication(builder, run, operandWords, resultWords,
                               std::is_same_v<Sum, float>);
  };
}

/// All names of a shape and type: 32x32x8_f16, 32x32x8f16, 32x32x8_f16_1k, ...
template <class Shape>
static void addNames(InstructionTable &table, StringRef result, StringRef type,
                     const BuildFunction &build) {
  using llvm::Twine;
  std::string prefix = ("v_mfma_" + result + "_" + Twine(Shape::rows) + "x" +
                        Twine(Shape::rows) + "x" + Twine(Shape::depth))
                           .str();
  std::string blocks =
      Shape::blocks > 1 ? ("_" + Twine(Shape::blocks) + "b").str() : "";
  for (StringRef suffix : {"", "_1k"}) {
    table.add((prefix + blocks + "_" + type + suffix).str(), build);
    table.add((prefix + type + suffix).str(), build);
  }
}

/// Multiplications of one type.
template <class Sum, LoadFunction<Sum> load, class... Shapes>
static void addShapes(InstructionTable &table, StringRef result, StringRef type,
                      unsigned bitsOfElement) {
  (addNames<Shapes>(table, result, type,
                    makeBuild<Shapes, Sum, load, load>(bitsOfElement)),
   ...);
}

template <LoadFunction<float> load>
static void addMultiplicationsOfHalves(InstructionTable &table,
                                       StringRef type) {
  addShapes<float, load, Shape<32, 8>, Shape<16, 16>, Shape<32, 4, 2>,
            Shape<16, 4, 4>, Shape<4, 4, 16>, Shape<32, 16>, Shape<16, 32>>(
      table, "f32", type, 16);
}

/// One combination of 8-bit formats. The chip decides which variant they are.
template <class Shape, unsigned kMantissaA, unsigned kMantissaB>
static void addFloat8Shape(InstructionTable &table, StringRef type) {
  auto fnuz = makeBuild<Shape, float, loadFloat8s<kMantissaA, true>,
                        loadFloat8s<kMantissaB, true>>(8);
  auto ocp = makeBuild<Shape, float, loadFloat8s<kMantissaA, false>,
                       loadFloat8s<kMantissaB, false>>(8);
  addNames<Shape>(table, "f32", type, [=](InstructionBuilder &builder) {
    return builder.execution.hasFnuzFloats ? fnuz(builder) : ocp(builder);
  });
}

template <unsigned kMantissaA, unsigned kMantissaB>
static void addFloat8s(InstructionTable &table, StringRef type) {
  addFloat8Shape<Shape<32, 16>, kMantissaA, kMantissaB>(table, type);
  addFloat8Shape<Shape<16, 32>, kMantissaA, kMantissaB>(table, type);
}

void mlir::iris::emulator::addMatrixOperations(InstructionTable &table) {
  addMultiplicationsOfHalves<loadHalfValues<fromHalf>>(table, "f16");
  addMultiplicationsOfHalves<loadHalfValues<fromBrain>>(table, "bf16");
  addShapes<float, loadSingles, Shape<32, 2>, Shape<16, 4>, Shape<32, 1, 2>,
            Shape<16, 1, 4>, Shape<4, 1, 16>>(table, "f32", "f32", 32);
  addShapes<uint32_t, loadSignedBytes, Shape<32, 8>, Shape<16, 16>,
            Shape<32, 4, 2>, Shape<16, 4, 4>, Shape<4, 4, 16>, Shape<32, 16>,
            Shape<16, 32>, Shape<32, 32>, Shape<16, 64>>(table, "i32", "i8", 8);
  addFloat8s<3, 3>(table, "fp8_fp8");
  addFloat8s<3, 2>(table, "fp8_bf8");
  addFloat8s<2, 3>(table, "bf8_fp8");
  addFloat8s<2, 2>(table, "bf8_bf8");
  addNames<Shape<16, 4>>(table, "f64", "f64", [](InstructionBuilder &builder) {
    return buildMultiplication(builder, multiplyDoubles, 2, 8, true);
  });
}
