// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Program.h - The decoded instructions of a kernel ---------*- C++ -*-===//
#ifndef IRIS_EMULATOR_PROGRAM_H
#define IRIS_EMULATOR_PROGRAM_H

#include "Disassembler.h"
#include "Instruction.h"
#include "iris/Emulator/CodeObject.h"
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mlir::iris::emulator {

/// Decodes instructions when they are first executed. Positions are words from
/// the start of the image.
class Program {
public:
  /// Instructions at the positions `removed` do nothing.
  Program(const CodeObject &code, const Kernel &kernel,
          Disassembler &disassembler, llvm::ArrayRef<uint32_t> removed = {});

  /// The instruction at each position, or null if it is not decoded. The table
  /// does not move, and has no instructions with offsets.
  llvm::ArrayRef<const Instruction *> getTable() const { return table; }
  llvm::Expected<const Instruction *> decodeAt(uint32_t position);
  /// The instruction with offsets, which is decoded once for all the same ones.
  llvm::Expected<const Instruction *> decodeAt(uint32_t position,
                                               const RegisterOffsets &offsets);

  /// Decodes all instructions from the kernel's first one up to a position, and
  /// returns why some cannot be decoded. Words without an instruction are
  /// padding.
  std::vector<std::string> listUnknown(uint32_t end);

  /// The address of a position.
  uint64_t addressOf(uint32_t position) const {
    return reinterpret_cast<uintptr_t>(code.getImage().data()) +
           uint64_t(position) * 4;
  }

  const std::deque<Instruction> &getInstructions() const {
    return instructions;
  }

  const CodeObject &code;
  const Kernel &kernel;

private:
  llvm::Expected<const Instruction *> decode(uint32_t position,
                                             const RegisterOffsets *offsets);
  llvm::ArrayRef<uint8_t> bytesAt(uint32_t position) const;
  /// A row of a constant, so that handlers do not fill one.
  const Row *rowOf(uint32_t constant);

  Disassembler &disassembler;
  std::vector<uint32_t> removed;
  std::vector<const Instruction *> table;
  std::deque<Instruction> instructions;
  std::map<std::pair<uint32_t, RegisterOffsets>, const Instruction *> indexed;
  std::map<uint32_t, Row> constants;
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_PROGRAM_H
