// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lines.h"
#include "iris/Emulator/Emulator.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir::iris::emulator;

namespace {
/// The debug information of a code object.
struct DebugInfo {
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> context;
};
} // namespace

static DebugInfo readDebugInfo(const CodeObject &code) {
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> object =
      llvm::object::ObjectFile::createELFObjectFile(
          llvm::MemoryBufferRef(code.getFile(), code.getName()));
  if (!object) {
    llvm::consumeError(object.takeError());
    return {};
  }
  auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  auto context = llvm::DWARFContext::create(
      **object, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr,
      "", ignore, ignore);
  return {std::move(*object), std::move(context)};
}

std::string mlir::iris::emulator::describeLine(const Program &program,
                                               uint32_t position) {
  DebugInfo debug = readDebugInfo(program.code);
  if (!debug.context)
    return "";
  std::optional<llvm::DILineInfo> line = debug.context->getLineInfoForAddress(
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

llvm::Expected<std::vector<uint32_t>>
mlir::iris::emulator::findPositions(const CodeObject &code,
                                    llvm::StringRef text) {
  uint64_t address, line;
  if (text.starts_with("0x") && !text.getAsInteger(0, address)) {
    if (address % 4 != 0 || address >= code.getCodeEnd())
      return llvm::createStringError("no instruction is at " + text);
    return std::vector<uint32_t>{uint32_t(address / 4)};
  }
  auto [file, number] = text.rsplit(':');
  if (number.empty())
    std::swap(file, number);
  if (number.getAsInteger(10, line))
    return llvm::createStringError("'" + text +
                                   "' is no place in the code; expected an "
                                   "address, such as 0x2010, or [FILE:]LINE");
  std::vector<uint32_t> positions;
  DebugInfo debug = readDebugInfo(code);
  using Kind = llvm::DILineInfoSpecifier::FileLineInfoKind;
  if (debug.context)
    for (const auto &unit : debug.context->compile_units()) {
      const auto *table = debug.context->getLineTableForUnit(unit.get());
      if (!table)
        continue;
      for (const auto &row : table->Rows) {
        std::string name;
        table->getFileNameByIndex(row.File, unit->getCompilationDir(),
                                  Kind::RawValue, name);
        if (row.Line == line && row.IsStmt && !row.EndSequence &&
            (file.empty() || llvm::sys::path::filename(name) == file ||
             name == file))
          positions.push_back(uint32_t(row.Address.Address / 4));
      }
    }
  if (positions.empty())
    return llvm::createStringError("no instruction is of line " + text);
  return positions;
}
