// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Disassembler.h"
#include "iris/Chips/AMDExecution.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Endian.h"
#include <array>

using namespace mlir::iris::emulator;

// From LLVM's library for AMD GPUs: its descriptions and its disassembler, and
// not its code generator.
extern "C" void LLVMInitializeAMDGPUTargetInfo();
extern "C" void LLVMInitializeAMDGPUTargetMC();
extern "C" void LLVMInitializeAMDGPUDisassembler();

struct Disassembler::Parts {
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  bool hasLongLiterals = false;
};

Disassembler::Disassembler(std::unique_ptr<Parts> parts)
    : parts(std::move(parts)) {}
Disassembler::~Disassembler() = default;

llvm::Expected<std::unique_ptr<Disassembler>>
Disassembler::create(llvm::StringRef chip) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
  llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError("LLVM has no disassembler for amdgcn: " +
                                   message);
  auto parts = std::make_unique<Parts>();
  // The generation with two wait counters has none.
  const irischips::AMDExecution *execution =
      irischips::findExecution(std::string_view(chip.data(), chip.size()));
  parts->hasLongLiterals =
      execution &&
      execution->counters != irischips::WaitCounters::VectorAndScalar;
  parts->registers.reset(target->createMCRegInfo(triple));
  llvm::MCTargetOptions options;
  parts->assembly.reset(
      target->createMCAsmInfo(*parts->registers, triple, options));
  parts->instructions.reset(target->createMCInstrInfo());
  parts->subtarget.reset(target->createMCSubtargetInfo(triple, chip, ""));
  if (!parts->subtarget || !parts->subtarget->isCPUStringValid(chip))
    return llvm::createStringError("LLVM does not know the chip '" + chip +
                                   "'");
  parts->context = std::make_unique<llvm::MCContext>(
      triple, parts->assembly.get(), parts->registers.get(),
      parts->subtarget.get());
  parts->disassembler.reset(
      target->createMCDisassembler(*parts->subtarget, *parts->context));
  parts->printer.reset(target->createMCInstPrinter(
      triple, parts->assembly->getAssemblerDialect(), *parts->assembly,
      *parts->instructions, *parts->registers));
  if (!parts->disassembler || !parts->printer)
    return llvm::createStringError("LLVM has no disassembler for amdgcn");
  return std::unique_ptr<Disassembler>(new Disassembler(std::move(parts)));
}

/// Whether a vector operation of the long encoding (VOP3), or the offset of a
/// buffer's access, is a literal. LLVM 22 crashes where the chip has none.
static bool hasLongLiteral(llvm::ArrayRef<uint8_t> code) {
  constexpr uint32_t literal = 255;
  uint32_t second = llvm::support::endian::read32le(code.data() + 4);
  switch (llvm::support::endian::read32le(code.data()) >> 26) {
  case 0b110100: // VOP3
    return (second & 511) == literal || (second >> 9 & 511) == literal ||
           (second >> 18 & 511) == literal;
  case 0b111000: // MUBUF
  case 0b111010: // MTBUF
    return second >> 24 == literal;
  default:
    return false;
  }
}

Disassembler::Text Disassembler::disassemble(llvm::ArrayRef<uint8_t> code,
                                             uint64_t address) {
  Text result;
  // LLVM 22 crashes if an instruction's literal is past the end of the code.
  // No instruction is longer than this.
  std::array<uint8_t, 32> padded = {};
  size_t available = code.size();
  if (available < padded.size()) {
    llvm::copy(code, padded.begin());
    code = padded;
  }
  if (!parts->hasLongLiterals && hasLongLiteral(code))
    return result;
  llvm::MCInst instruction;
  uint64_t size = 0;
  if (parts->disassembler->getInstruction(instruction, size, code, address,
                                          llvm::nulls()) !=
          llvm::MCDisassembler::Success ||
      size > available)
    return result;
  llvm::raw_string_ostream os(result.text);
  parts->printer->printInst(&instruction, address, "", *parts->subtarget, os);
  result.bytes = unsigned(size);
  llvm::StringRef trimmed = llvm::StringRef(result.text).trim();
  result.text = trimmed.str();
  return result;
}
