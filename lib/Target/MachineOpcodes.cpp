// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MachineOpcodes.h"

#include "llvm/PassRegistry.h"

const llvm::MCInstrDesc &
mlir::iris::getInstruction(const llvm::TargetInstrInfo &instructions,
                           llvm::StringRef name) {
  for (unsigned opcode = 0; opcode < instructions.getNumOpcodes(); ++opcode)
    if (instructions.getName(opcode) == name)
      return instructions.get(opcode);
  llvm::reportFatalInternalError("LLVM has no instruction '" + name +
                                 "' for this target");
}

const llvm::TargetRegisterClass *
mlir::iris::getRegisterClass(const llvm::TargetRegisterInfo &registers,
                             llvm::StringRef name) {
  for (const llvm::TargetRegisterClass *each : registers.regclasses())
    if (name == registers.getRegClassName(each))
      return each;
  llvm::reportFatalInternalError("LLVM has no register class '" + name +
                                 "' for this target");
}

llvm::MCRegister
mlir::iris::getRegister(const llvm::TargetRegisterInfo &registers,
                        llvm::StringRef name) {
  for (unsigned each = 1; each < registers.getNumRegs(); ++each)
    if (name == registers.getName(each))
      return each;
  llvm::reportFatalInternalError("LLVM has no register '" + name +
                                 "' for this target");
}

llvm::AnalysisID mlir::iris::getCodegenPass(llvm::StringRef name,
                                            llvm::StringRef purpose) {
  const llvm::PassInfo *found =
      llvm::PassRegistry::getPassRegistry()->getPassInfo(name);
  if (!found)
    llvm::reportFatalInternalError("LLVM has no pass '" + name + "', which " +
                                   purpose);
  return found->getTypeInfo();
}
