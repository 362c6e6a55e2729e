// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ShortShifts.h"

#include "CopyOperand.h"
#include "MachineOpcodes.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

using llvm::MachineFunction;
using llvm::MachineInstr;

namespace {
class KeepShortShifts : public llvm::MachineFunctionPass {
public:
  static char ID;
  KeepShortShifts() : MachineFunctionPass(ID) {}

  llvm::StringRef getPassName() const override {
    return "Iris: keep arithmetic shifts of 16 bits";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    const llvm::TargetInstrInfo &instructions =
        *function.getSubtarget().getInstrInfo();
    llvm::SmallVector<MachineInstr *> shifts;
    for (llvm::MachineBasicBlock &block : function)
      for (MachineInstr &instruction : block)
        if (isShortShift(instructions.getName(instruction.getOpcode())))
          shifts.push_back(&instruction);
    for (MachineInstr *shift : shifts)
      hideAmount(*shift, instructions);
    return !shifts.empty();
  }

private:
  static bool isShortShift(llvm::StringRef name) {
    return name == "V_ASHRREV_I16_e32" || name == "V_ASHRREV_I16_e64";
  }

  /// The amount is the first source.
  static void hideAmount(MachineInstr &shift,
                         const llvm::TargetInstrInfo &instructions) {
    llvm::MachineRegisterInfo &registers = shift.getMF()->getRegInfo();
    const llvm::TargetRegisterClass *vectors =
        registers.getRegClass(shift.getOperand(0).getReg());
    llvm::MachineOperand &amount = shift.getOperand(1);
    // A copy takes registers only.
    if (!amount.isReg()) {
      llvm::Register moved = registers.createVirtualRegister(vectors);
      llvm::BuildMI(*shift.getParent(), shift, shift.getDebugLoc(),
                    mlir::iris::getInstruction(instructions, "V_MOV_B32_e32"),
                    moved)
          .add(amount);
      amount.ChangeToRegister(moved, /*isDef=*/false);
    }
    mlir::iris::copyOperand(amount, vectors, instructions);
  }
};
} // namespace

char KeepShortShifts::ID = 0;

void mlir::iris::keepShortShifts(llvm::TargetPassConfig &config) {
  config.insertPass(
      getCodegenPass("si-load-store-opt", "comes before operands become bytes"),
      new KeepShortShifts());
}
