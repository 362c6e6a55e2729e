// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program.h"
#include "Decoder.h"
#include "Waits.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::iris::emulator;

Program::Program(const CodeObject &code, const Kernel &kernel,
                 Disassembler &disassembler, llvm::ArrayRef<uint32_t> removed)
    : code(code), kernel(kernel), disassembler(disassembler), removed(removed),
      table(code.getCodeEnd() / 4) {}

llvm::ArrayRef<uint8_t> Program::bytesAt(uint32_t position) const {
  uint64_t begin = uint64_t(position) * 4;
  return {code.getImage().data() + begin, code.getCodeEnd() - begin};
}

llvm::Expected<const Instruction *> Program::decodeAt(uint32_t position) {
  auto decoded = decode(position, nullptr);
  if (decoded)
    table[position] = *decoded;
  return decoded;
}

llvm::Expected<const Instruction *>
Program::decodeAt(uint32_t position, const RegisterOffsets &offsets) {
  auto [entry, isNew] = indexed.try_emplace({position, offsets}, nullptr);
  if (!isNew)
    return entry->second;
  auto decoded = decode(position, &offsets);
  if (decoded)
    entry->second = *decoded;
  else
    indexed.erase(entry);
  return decoded;
}

llvm::Expected<const Instruction *>
Program::decode(uint32_t position, const RegisterOffsets *offsets) {
  uint64_t begin = uint64_t(position) * 4;
  if (begin < code.getCodeBegin() || begin >= code.getCodeEnd())
    return llvm::createStringError(
        "the program counter is outside of the code");
  llvm::ArrayRef<uint8_t> bytes = bytesAt(position);
  Disassembler::Text text =
      disassembler.disassemble(bytes, addressOf(position));
  if (text.bytes == 0)
    return llvm::createStringError("there is no instruction of " +
                                   code.getChip());
  Instruction &instruction = instructions.emplace_back();
  instruction.text = std::move(text.text);
  instruction.position = position;
  instruction.end = position + text.bytes / 4;
  if (llvm::Error error = mlir::iris::emulator::decode(
          instruction, bytes.take_front(text.bytes), kernel,
          code.getExecution(), offsets)) {
    instructions.pop_back();
    return std::move(error);
  }
  if (llvm::is_contained(removed, position)) {
    instruction.run = [](Wave &, const Instruction &) {};
    instruction.numRanges = 0;
  }
  OutstandingAccesses::collectRegisters(instruction);
  for (Operand &source : instruction.sources)
    if (source.kind == Operand::Constant)
      source.row = rowOf(uint32_t(source.constant));
  return &instruction;
}

const Row *Program::rowOf(uint32_t constant) {
  auto [entry, isNew] = constants.try_emplace(constant);
  if (isNew)
    std::fill_n(entry->second.lanes, kLanes, constant);
  return &entry->second;
}

std::vector<std::string> Program::listUnknown(uint32_t end) {
  std::vector<std::string> reasons;
  for (uint32_t position = uint32_t(kernel.entry / 4); position < end;) {
    unsigned bytes =
        disassembler.disassemble(bytesAt(position), addressOf(position)).bytes;
    if (bytes != 0)
      if (auto decoded = decodeAt(position); !decoded)
        reasons.push_back(llvm::toString(decoded.takeError()));
    position += std::max(1u, bytes / 4);
  }
  return reasons;
}
