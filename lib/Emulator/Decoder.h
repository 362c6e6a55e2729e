// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Decoder.h - From assembly to handlers --------------------*- C++ -*-===//
#ifndef IRIS_EMULATOR_DECODER_H
#define IRIS_EMULATOR_DECODER_H

#include "Lanes.h"
#include "Parse.h"
#include "iris/Chips/AMDExecution.h"
#include "iris/Emulator/CodeObject.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <functional>

namespace mlir::iris::emulator {

/// Builds one instruction.
class InstructionBuilder {
public:
  InstructionBuilder(Instruction &instruction, const ParsedInstruction &parsed,
                     llvm::ArrayRef<uint8_t> encoding, const Kernel &kernel,
                     const irischips::AMDExecution &execution,
                     const RegisterOffsets *offsets)
      : instruction(instruction), parsed(parsed), encoding(encoding),
        kernel(kernel), execution(execution), offsets(offsets) {}

  /// Fails unless there are this many operands.
  llvm::Error expectOperands(unsigned count) const;
  unsigned numOperands() const { return parsed.operands.size(); }
  /// Whether an operand of an address is absent.
  bool isOff(unsigned operand) const {
    return parsed.operands[operand] == "off";
  }

  /// Reads an operand of the assembly.
  llvm::Error source(unsigned operand, Operand &into, OperandType type);
  /// As above, for a register that is written.
  llvm::Error result(unsigned operand, Operand &into, OperandType type);
  /// An integer of the encoding.
  llvm::Expected<int64_t> integer(unsigned operand) const;

  /// All results, then all sources of an operation on lanes.
  llvm::Error operation(const Semantics &semantics);
  /// Records that M0 is read or written.
  llvm::Error usesM0();
  /// Whether all offsets have been added, or there is nothing to add them to.
  bool hasAddedOffsets() const;

  llvm::Error error(const llvm::Twine &message) const;

  Instruction &instruction;
  const ParsedInstruction &parsed;
  llvm::ArrayRef<uint8_t> encoding;
  const Kernel &kernel;
  const irischips::AMDExecution &execution;
  /// Null outside of the mode that has them.
  const RegisterOffsets *offsets;

private:
  llvm::Error registers(llvm::StringRef text, Operand &into);
  llvm::Error number(llvm::StringRef text, Operand &into, OperandType type);
  llvm::Error range(const Operand &operand, unsigned words);

  /// Of the operand that is read.
  uint32_t offset = 0;
  bool isOperation = false;
};

using BuildFunction = std::function<llvm::Error(InstructionBuilder &)>;

/// The instructions that the emulator knows, by name.
class InstructionTable {
public:
  InstructionTable();

  void add(llvm::StringRef name, BuildFunction build) {
    functions[name] = std::move(build);
  }
  /// An operation on the lanes of vector registers.
  void add(llvm::StringRef name, Semantics semantics);

  const BuildFunction *find(llvm::StringRef name) const {
    auto found = functions.find(name);
    return found == functions.end() ? nullptr : &found->second;
  }
  llvm::SmallVector<llvm::StringRef> getNames() const;

private:
  llvm::StringMap<BuildFunction> functions;
};

// One function for each family of instructions.
void addScalarArithmetic(InstructionTable &table);
void addScalarControl(InstructionTable &table);
void addVectorIntegers(InstructionTable &table);
void addVectorFloats(InstructionTable &table);
void addVectorComparisons(InstructionTable &table);
void addVectorConversions(InstructionTable &table);
void addVectorMixed(InstructionTable &table);
void addVectorDots(InstructionTable &table);
void addVectorPacked(InstructionTable &table);
void addVectorMoves(InstructionTable &table);
void addVectorIndices(InstructionTable &table);
void addGlobalMemory(InstructionTable &table);
void addSharedMemory(InstructionTable &table);
void addMatrixOperations(InstructionTable &table);
void addWmmaOperations(InstructionTable &table);
void addScalarFloats(InstructionTable &table);

/// Replaces the first source by its permutation (DPP).
llvm::Error buildPermuted(InstructionBuilder &builder);
/// Replaces sources, and the result, by parts of registers (SDWA).
llvm::Error buildSelected(InstructionBuilder &builder);

/// The operands of D = A B + C: registers of A and B, and of C and D.
llvm::Error buildMatrixOperands(InstructionBuilder &builder,
                                unsigned operandWords, unsigned resultWords,
                                bool isFloat);
/// Two operations in one instruction (VOPD), whose text is `A :: B`.
llvm::Error decodeDual(Instruction &instruction,
                       llvm::ArrayRef<uint8_t> encoding, const Kernel &kernel,
                       const irischips::AMDExecution &execution);

/// Decodes the instructions of a kernel.
llvm::Error decode(Instruction &instruction, llvm::ArrayRef<uint8_t> encoding,
                   const Kernel &kernel,
                   const irischips::AMDExecution &execution,
                   const RegisterOffsets *offsets = nullptr);

/// The table of all instructions, built when first used.
const InstructionTable &getInstructionTable();

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_DECODER_H
