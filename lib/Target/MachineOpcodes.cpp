// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MachineOpcodes.h"

const llvm::MCInstrDesc &
mlir::iris::getInstruction(const llvm::TargetInstrInfo &instructions,
                           llvm::StringRef name) {
  for (unsigned opcode = 0; opcode < instructions.getNumOpcodes(); ++opcode)
    if (instructions.getName(opcode) == name)
      return instructions.get(opcode);
  llvm::reportFatalInternalError("LLVM has no instruction '" + name +
                                 "' for this target");
}
