// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Lines.h - Source lines of instructions -------------------*- C++ -*-===//
#ifndef IRIS_EMULATOR_LINES_H
#define IRIS_EMULATOR_LINES_H

#include "Program.h"

namespace mlir::iris::emulator {

/// " (file.mlir:12:3)" for an instruction with debug information, or nothing.
std::string describeLine(const Program &program, uint32_t position);

/// An instruction with its position and source line.
std::string describeInstruction(const Program &program,
                                const Instruction &instruction);
/// The error of using a register before `issuer` has been waited for.
std::string describeMissingWait(const Program &program,
                                const Instruction &issuer);

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_LINES_H
