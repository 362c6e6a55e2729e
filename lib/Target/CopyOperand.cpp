// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CopyOperand.h"

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetOpcodes.h"

void mlir::iris::copyOperand(llvm::MachineOperand &operand,
                             const llvm::TargetRegisterClass *vectors,
                             const llvm::TargetInstrInfo &instructions) {
  llvm::MachineInstr &user = *operand.getParent();
  llvm::Register copied =
      user.getMF()->getRegInfo().createVirtualRegister(vectors);
  llvm::BuildMI(*user.getParent(), user, user.getDebugLoc(),
                instructions.get(llvm::TargetOpcode::COPY), copied)
      .addReg(operand.getReg(), 0, operand.getSubReg());
  operand.ChangeToRegister(copied, /*isDef=*/false);
}
