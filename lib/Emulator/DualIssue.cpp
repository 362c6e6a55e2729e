// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DualIssue.cpp - Two operations in one instruction (VOPD) -----------===//
//
// Both operations read their operands before either writes its result. So the
// first one writes to a temporary row.
#include "DualIssue.h"
#include "Decoder.h"

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;

static void runDual(Wave &wave, const Instruction &instruction) {
  const DualOperation &dual = *instruction.dual;
  dual.first.run(wave, dual.first);
  dual.second.run(wave, dual.second);
  wave.writeRow(dual.result, wave.row(dual.first.result.index));
}

/// v_dual_NAME is v_NAME; a selection is by VCC, which is not in the text.
static std::string spellAlone(StringRef text) {
  text = text.trim();
  bool isDual = text.consume_front("v_dual_");
  std::string alone = ((isDual ? "v_" : "") + text).str();
  if (text.starts_with("cndmask_b32"))
    alone += ", vcc_lo";
  return alone;
}

Error mlir::iris::emulator::decodeDual(
    Instruction &instruction, llvm::ArrayRef<uint8_t> encoding,
    const Kernel &kernel, const irischips::AMDExecution &execution) {
  auto [first, second] = StringRef(instruction.text).split("::");
  auto dual = std::make_shared<DualOperation>();
  for (auto [part, text] :
       {std::pair(&dual->first, first), std::pair(&dual->second, second)}) {
    part->text = spellAlone(text);
    part->position = instruction.position;
    if (Error error = decode(*part, encoding, kernel, execution))
      return error;
    if (part->result.kind != Operand::Vector || part->result.count != 1 ||
        part->result2.kind != Operand::None)
      return llvm::createStringError(
          "the emulator expects one register as the result of '" + part->text +
          "'");
    for (unsigned i = 0; i < part->numRanges; ++i) {
      if (instruction.numRanges == std::size(instruction.ranges))
        return llvm::createStringError("too many registers in '" +
                                       instruction.text + "'");
      instruction.ranges[instruction.numRanges++] = part->ranges[i];
    }
    instruction.results[instruction.numResults++] = part->results[0];
  }
  dual->result = dual->first.result.index;
  dual->first.result.index = uint16_t(kernel.numVectors);
  instruction.run = runDual;
  instruction.dual = std::move(dual);
  return Error::success();
}
