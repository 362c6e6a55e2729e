// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lines.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::iris::emulator;

std::string mlir::iris::emulator::describeLine(const Program &program,
                                               uint32_t position) {
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> object =
      llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(
          program.code.getFile(), program.code.getName()));
  if (!object) {
    llvm::consumeError(object.takeError());
    return "";
  }
  std::unique_ptr<llvm::DWARFContext> context = llvm::DWARFContext::create(
      **object, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr,
      "", [](llvm::Error error) { llvm::consumeError(std::move(error)); },
      [](llvm::Error error) { llvm::consumeError(std::move(error)); });
  std::optional<llvm::DILineInfo> line = context->getLineInfoForAddress(
      {uint64_t(position) * 4, llvm::object::SectionedAddress::UndefSection});
  if (!line || line->Line == 0)
    return "";
  return llvm::formatv(" ({0}:{1}:{2})", line->FileName, line->Line,
                       line->Column);
}

std::string
mlir::iris::emulator::describeInstruction(const Program &program,
                                          const Instruction &instruction) {
  return llvm::formatv("'{0}' at {1:x}{2}", instruction.text,
                       uint64_t(instruction.position) * 4,
                       describeLine(program, instruction.position));
}

std::string
mlir::iris::emulator::describeMissingWait(const Program &program,
                                          const Instruction &issuer) {
  return "missing wait: it uses a register of " +
         describeInstruction(program, issuer) +
         ", whose result has not been waited for";
}
