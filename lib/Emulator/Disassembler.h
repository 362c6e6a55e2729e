// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Disassembler.h - The text of instructions ----------------*- C++ -*-===//
#ifndef IRIS_EMULATOR_DISASSEMBLER_H
#define IRIS_EMULATOR_DISASSEMBLER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace mlir::iris::emulator {

/// LLVM's disassembler for one chip.
class Disassembler {
public:
  static llvm::Expected<std::unique_ptr<Disassembler>>
  create(llvm::StringRef chip);
  ~Disassembler();

  struct Text {
    std::string text;
    unsigned bytes = 0;
  };
  /// The instruction at the start of `code`; `bytes` is 0 if there is none.
  Text disassemble(llvm::ArrayRef<uint8_t> code, uint64_t address);

private:
  struct Parts;
  explicit Disassembler(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts;
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_DISASSEMBLER_H
