// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Registers.h"
#include "Program.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::iris::emulator;

std::string mlir::iris::emulator::nameOf(unsigned number) {
  if (number >= kFirstRowBit)
    return llvm::formatv("v{0}", number - kFirstRowBit);
  switch (number) {
  case kVcc:
    return "vcc_lo";
  case kVcc + 1:
    return "vcc_hi";
  case kM0:
    return "m0";
  case kExec:
    return "exec_lo";
  case kExec + 1:
    return "exec_hi";
  default:
    return number < kNumPlainScalars
               ? llvm::formatv("s{0}", number).str()
               : llvm::formatv("ttmp{0}", number - kTrapRegisters).str();
  }
}

static std::string describeLanes(llvm::ArrayRef<uint32_t> lanes) {
  if (llvm::all_equal(lanes))
    return llvm::formatv(" {0:x} in all lanes", lanes.front());
  std::string text;
  constexpr size_t perLine = 8;
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    if (lane % perLine == 0)
      text += llvm::formatv("\n    lane {0,2}:", lane);
    text += llvm::formatv(" {0:x}", lanes[lane]);
  }
  return text;
}

std::string mlir::iris::emulator::describeRegisters(Wave &wave,
                                                    RegisterRange range) {
  std::string text;
  for (unsigned number = range.first; number < range.first + range.count;
       ++number) {
    text += "\n  " + nameOf(number) + " =";
    if (number < kFirstRowBit)
      text += llvm::formatv(" {0:x}", wave.scalars[number]);
    else
      text += describeLanes({wave.row(number - kFirstRowBit), wave.waveSize});
  }
  return text;
}

std::string
mlir::iris::emulator::describeOperands(Wave &wave,
                                       const Instruction &instruction) {
  std::string text;
  llvm::BitVector done(kFirstRowBit + wave.program.kernel.numVectors);
  auto add = [&](RegisterRange range) {
    for (unsigned i = 0; i < range.count; ++i) {
      unsigned number = range.first + i;
      // Rows behind those are no registers.
      if (number >= done.size() || done.test(number))
        continue;
      done.set(number);
      text += describeRegisters(wave, {uint16_t(number), 1});
    }
  };
  for (unsigned i = 0; i < instruction.numResults; ++i)
    add(instruction.results[i]);
  for (unsigned i = 0; i < instruction.numRanges; ++i)
    add(instruction.ranges[i]);
  add({uint16_t(kExec), uint16_t(wave.waveSize / 32)});
  return text;
}

std::string mlir::iris::emulator::describeAllRegisters(Wave &wave) {
  std::string text;
  for (unsigned i = 0; i < kNumScalars; ++i)
    if (wave.scalars[i] != initialScalar(i) && i != kNull && i != kNull + 1)
      text += describeRegisters(wave, {uint16_t(i), 1});
  text += llvm::formatv("\n  scc = {0}", wave.scc);
  for (unsigned i = 0; i < wave.program.kernel.numVectors; ++i)
    if (llvm::any_of(llvm::ArrayRef(wave.row(i), wave.waveSize),
                     [](uint32_t word) { return word != kInitialVector; }))
      text += describeRegisters(wave, {uint16_t(kFirstRowBit + i), 1});
  return text;
}

std::string
mlir::iris::emulator::describeResults(Wave &wave,
                                      const Instruction &instruction) {
  constexpr unsigned kFew = 4;
  std::string text;
  for (unsigned i = 0; i < instruction.numResults; ++i)
    for (unsigned j = 0; j < instruction.results[i].count; ++j) {
      unsigned number = instruction.results[i].first + j;
      text += (text.empty() ? "  " : ", ") + nameOf(number) + " =";
      if (number < kFirstRowBit) {
        text += llvm::formatv(" {0:x}", wave.scalars[number]);
        continue;
      }
      unsigned count = 0;
      forLanes(wave.exec(), [&](unsigned lane) {
        if (++count <= kFew)
          text +=
              llvm::formatv(" {0:x}", wave.row(number - kFirstRowBit)[lane]);
      });
      if (count > kFew)
        text += " ...";
    }
  return text;
}
