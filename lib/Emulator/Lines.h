// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Lines.h - Source lines of instructions -------------------*- C++ -*-===//
#ifndef IRIS_EMULATOR_LINES_H
#define IRIS_EMULATOR_LINES_H

#include "Program.h"

namespace mlir::iris::emulator {

/// " (file.mlir:12:3)" for an instruction with debug information, or nothing.
std::string describeLine(const Program &program, uint32_t position);

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_LINES_H
