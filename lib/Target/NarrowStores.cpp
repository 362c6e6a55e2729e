// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NarrowStores.h"

#include "MachineOpcodes.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

using llvm::MachineInstr;

namespace {
class CopyNarrowlyStored : public llvm::MachineFunctionPass {
public:
  static char ID;
  CopyNarrowlyStored() : MachineFunctionPass(ID) {}

  llvm::StringRef getPassName() const override {
    return "Iris: copy registers that are wider than their store";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(llvm::MachineFunction &function) override {
    bool changed = false;
    for (llvm::MachineBasicBlock &block : function)
      for (MachineInstr &instruction : block)
        changed |= isStore(instruction) && copyWideValues(instruction);
    return changed;
  }

private:
  /// Behind a store's values: memory order, scope, address space, width in
  /// bits, address, offset.
  static constexpr unsigned kNumOtherOperands = 6;
  static constexpr unsigned kWidth = 3;

  /// `st` of one value or of several. Atomics take registers of their width
  /// only.
  static bool isStore(const MachineInstr &instruction) {
    const llvm::TargetInstrInfo &instructions =
        *instruction.getMF()->getSubtarget().getInstrInfo();
    llvm::StringRef name = instructions.getName(instruction.getOpcode());
    return name.starts_with("ST_i") || name.starts_with("STV_i");
  }

  static bool copyWideValues(MachineInstr &store) {
    bool changed = false;
    unsigned numValues = store.getNumExplicitOperands() - kNumOtherOperands;
    int64_t width = store.getOperand(numValues + kWidth).getImm();
    for (unsigned i = 0; i < numValues; ++i) {
      llvm::MachineOperand &value = store.getOperand(i);
      if (!value.isReg() || getWidth(store, value.getReg()) == width)
        continue;
      value.setReg(copy(store, value.getReg()));
      value.setIsKill();
      changed = true;
    }
    return changed;
  }

  static int64_t getWidth(const MachineInstr &user, llvm::Register value) {
    const llvm::MachineFunction &function = *user.getMF();
    return function.getSubtarget().getRegisterInfo()->getRegSizeInBits(
        value, function.getRegInfo());
  }

  /// A copy by `mov`: LLVM would remove its own kind of copy.
  static llvm::Register copy(MachineInstr &user, llvm::Register value) {
    llvm::MachineFunction &function = *user.getMF();
    llvm::MachineRegisterInfo &registers = function.getRegInfo();
    llvm::Register result =
        registers.createVirtualRegister(registers.getRegClass(value));
    function.getSubtarget().getInstrInfo()->copyPhysReg(
        *user.getParent(), user, user.getDebugLoc(), result, value,
        /*KillSrc=*/false);
    registers.clearKillFlags(value);
    return result;
  }
};
} // namespace

char CopyNarrowlyStored::ID = 0;

void mlir::iris::copyNarrowlyStored(llvm::TargetPassConfig &config) {
  config.insertPass(getCodegenPass("nvptx-proxyreg-erasure",
                                   "comes after optimizations of stores"),
                    new CopyNarrowlyStored());
}
