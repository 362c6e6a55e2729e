// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Registers.h - Registers of a wave as text ----------------*- C++ -*-===//
#ifndef IRIS_EMULATOR_REGISTERS_H
#define IRIS_EMULATOR_REGISTERS_H

#include "Wave.h"
#include <string>

namespace mlir::iris::emulator {

/// What registers hold before a wave writes them: values that no kernel
/// expects.
constexpr uint32_t kInitialVector = 0x7FBADBAD;
constexpr uint32_t initialScalar(unsigned index) { return 0xDEAD0000 + index; }

/// The name of a register, numbered as in `RegisterRange`: s3, vcc_lo, v17, ...
std::string nameOf(unsigned number);

/// A line for each register: its value, or those of the lanes of the wave.
std::string describeRegisters(Wave &wave, RegisterRange range);
/// The same of all registers that an instruction reads or writes.
std::string describeOperands(Wave &wave, const Instruction &instruction);
/// The same of all registers that do not hold what they did at first.
std::string describeAllRegisters(Wave &wave);
/// What an instruction has written, in one line: of vectors, the first active
/// lanes.
std::string describeResults(Wave &wave, const Instruction &instruction);

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_REGISTERS_H
