// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixOperations.cpp - Matrix multiplications of a wave (MFMA) -----===//
//
// v_mfma_TYPE_MxNxK: D = A B + C, where each lane has consecutive values of k
// of one row of A, or column of B. All lanes take part, active or not. Terms
// are added one after the other, in the order of k, each sum rounded.
#include "Decoder.h"
#include "MatrixOperands.h"

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;

namespace {

/// The shape, with `blocks` independent multiplications.
struct Shape {
  unsigned rows, columns, depth, blocks;
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

/// D = A B + C for kRows by kRows results. `Sum` is float or int32_t.
template <unsigned kRows, class Sum>
static void multiply(Wave &wave, const Instruction &instruction,
                     LoadFunction loadA, LoadFunction loadB) {
  unsigned depth = instruction.detail, blocks = instruction.detail2;
  // Lanes with the rows of one block, each with `count` values of k.
  unsigned groups = kLanes / kRows / blocks;
  unsigned count = depth / groups;
  alignas(64) float a[32][kLanes], b[32][kLanes];
  loadA(wave, instruction.sources[0], count, a);
  loadB(wave, instruction.sources[1], count, b);
  // Registers of a block's result: each has one row in each group of kRows
  // lanes. The blocks of 4 by 4 results share registers.
  constexpr bool isShared = kRows == 4;
  unsigned perBlock = isShared ? 4 : kRows * kRows / kLanes;
  unsigned total = isShared ? 4 : perBlock * blocks;
  alignas(64) Sum sums[32][kLanes];
  for (unsigned reg = 0; reg < total; ++reg)
    loadSums(wave, instruction.sources[2], reg, sums[reg]);
  // Four consecutive registers have consecutive rows.
  for (unsigned reg = 0; reg < total; reg += kRowsAtOnce)
    for (unsigned group = 0; group < kLanes / kRows; ++group) {
      unsigned block = isShared ? group : reg / perBlock;
      unsigned row = isShared ? reg : rowOf<kRows>(reg % perBlock, group);
      unsigned first = block * groups * kRows;
      addRows<kRows>(sums[reg] + group * kRows, a[0] + first + row, 1,
                     b[0] + first, groups, count);
    }
  for (unsigned reg = 0; reg < total; ++reg)
    std::memcpy(wave.row(instruction.result.index + reg), sums[reg],
                sizeof(Row));
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
                                 Shape shape, unsigned operandWords,
                                 unsigned resultWords, bool isFloat) {
  Instruction &instruction = builder.instruction;
  for (StringRef modifier : {"cbsz", "abid", "blgp", "neg"})
    if (builder.parsed.has(modifier))
      return builder.error("the emulator does not know '" + modifier + "'");
  instruction.run = run;
  instruction.detail = shape.depth;
  instruction.detail2 = shape.blocks;
  return buildMatrixOperands(builder, operandWords, resultWords, isFloat);
}

template <class Sum, LoadFunction loadA, LoadFunction loadB>
static Handler handlerOf(unsigned rows) {
  if (rows == 4)
    return [](Wave &wave, const Instruction &instruction) {
      multiply<4, Sum>(wave, instruction, loadA, loadB);
    };
  if (rows == 16)
    return [](Wave &wave, const Instruction &instruction) {
      multiply<16, Sum>(wave, instruction, loadA, loadB);
    };
  return [](Wave &wave, const Instruction &instruction) {
    multiply<32, Sum>(wave, instruction, loadA, loadB);
  };
}

/// The instruction of a shape, for elements of this many bits.
template <class Sum, LoadFunction loadA, LoadFunction loadB>
static BuildFunction makeBuild(Shape shape, unsigned bitsOfElement) {
  Handler run = handlerOf<Sum, loadA, loadB>(shape.rows);
  unsigned values = shape.rows * shape.depth * shape.blocks / kLanes;
  unsigned operandWords = std::max(1u, values * bitsOfElement / 32);
  unsigned resultWords = shape.rows * shape.columns * shape.blocks / kLanes;
  return [=](InstructionBuilder &builder) {
    return buildMultiplication(builder, run, shape, operandWords, resultWords,
                               std::is_same_v<Sum, float>);
  };
}

/// All names of a shape and type: 32x32x8_f16, 32x32x8f16, 32x32x8_f16_1k, ...
static void addNames(InstructionTable &table, StringRef result, StringRef type,
                     Shape shape, const BuildFunction &build) {
  using llvm::Twine;
  std::string prefix = ("v_mfma_" + result + "_" + Twine(shape.rows) + "x" +
                        Twine(shape.columns) + "x" + Twine(shape.depth))
                           .str();
  std::string blocks =
      shape.blocks > 1 ? ("_" + Twine(shape.blocks) + "b").str() : "";
  for (StringRef suffix : {"", "_1k"}) {
    table.add((prefix + blocks + "_" + type + suffix).str(), build);
    table.add((prefix + type + suffix).str(), build);
  }
}

template <LoadFunction load>
static void addMultiplicationsOfHalves(InstructionTable &table,
                                       StringRef type) {
  for (Shape shape :
       {Shape{32, 32, 8, 1}, Shape{16, 16, 16, 1}, Shape{32, 32, 4, 2},
        Shape{16, 16, 4, 4}, Shape{4, 4, 4, 16}, Shape{32, 32, 16, 1},
        Shape{16, 16, 32, 1}})
    addNames(table, "f32", type, shape,
             makeBuild<float, load, load>(shape, 16));
}

/// One combination of 8-bit formats. The chip decides which variant they are.
template <unsigned kMantissaA, unsigned kMantissaB>
static void addFloat8s(InstructionTable &table, StringRef type) {
  for (Shape shape : {Shape{32, 32, 16, 1}, Shape{16, 16, 32, 1}}) {
    auto fnuz = makeBuild<float, loadFloat8s<kMantissaA, true>,
                          loadFloat8s<kMantissaB, true>>(shape, 8);
    auto ocp = makeBuild<float, loadFloat8s<kMantissaA, false>,
                         loadFloat8s<kMantissaB, false>>(shape, 8);
    addNames(table, "f32", type, shape, [=](InstructionBuilder &builder) {
      return builder.execution.hasFnuzFloats ? fnuz(builder) : ocp(builder);
    });
  }
}

void mlir::iris::emulator::addMatrixOperations(InstructionTable &table) {
  addMultiplicationsOfHalves<loadHalfValues<fromHalf>>(table, "f16");
  addMultiplicationsOfHalves<loadHalfValues<fromBrain>>(table, "bf16");
  for (Shape shape :
       {Shape{32, 32, 2, 1}, Shape{16, 16, 4, 1}, Shape{32, 32, 1, 2},
        Shape{16, 16, 1, 4}, Shape{4, 4, 1, 16}})
    addNames(table, "f32", "f32", shape,
             makeBuild<float, loadSingles, loadSingles>(shape, 32));
  for (Shape shape : {Shape{32, 32, 16, 1}, Shape{16, 16, 32, 1},
                      Shape{32, 32, 32, 1}, Shape{16, 16, 64, 1}})
    addNames(table, "i32", "i8", shape,
             makeBuild<int32_t, loadBytes, loadBytes>(shape, 8));
  addFloat8s<3, 3>(table, "fp8_fp8");
  addFloat8s<3, 2>(table, "fp8_bf8");
  addFloat8s<2, 3>(table, "bf8_fp8");
  addFloat8s<2, 2>(table, "bf8_bf8");
  Shape doubles{16, 16, 4, 1};
  addNames(table, "f64", "f64", doubles, [=](InstructionBuilder &builder) {
    return buildMultiplication(builder, multiplyDoubles, doubles, 2, 8, true);
  });
}
