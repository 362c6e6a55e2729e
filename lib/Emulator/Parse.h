// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Parse.h - The parts of an instruction's assembly ---------*- C++ -*-===//
//
// LLVM's disassembler prints instructions in AMD's documented syntax. It is
// read back here: names and modifiers are stable and self-explanatory, while
// the numbers of LLVM's internal operands are neither.
#ifndef IRIS_EMULATOR_PARSE_H
#define IRIS_EMULATOR_PARSE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <utility>

namespace mlir::iris::emulator {

/// The parts of one instruction; all refer to its text.
struct ParsedInstruction {
  explicit ParsedInstruction(llvm::StringRef text);

  bool has(llvm::StringRef modifier) const {
    return getText(modifier).has_value();
  }
  /// The text after the colon of a modifier.
  std::optional<llvm::StringRef> getText(llvm::StringRef modifier) const;
  /// The number after it, or `otherwise` if there is no such modifier.
  int64_t getNumber(llvm::StringRef modifier, int64_t otherwise) const;
  /// The numbers of a modifier such as op_sel:[0,1]; empty without one.
  llvm::SmallVector<unsigned, 4> getList(llvm::StringRef modifier) const;

  /// Without what names the encoding: e32, e64, dpp, sdwa.
  llvm::StringRef name;
  bool isDpp = false, isSdwa = false;
  /// The long encoding of a vector operation.
  bool isLong = false;
  llvm::SmallVector<llvm::StringRef, 6> operands;
  llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>, 4> modifiers;
};

/// Reads 12, -5, 0x1f; none if it is something else.
std::optional<int64_t> parseInteger(llvm::StringRef text);

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_PARSE_H
