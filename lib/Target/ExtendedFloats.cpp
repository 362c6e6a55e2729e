// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ExtendedFloats.h"

#include "CopyOperand.h"
#include "MachineOpcodes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

using llvm::MachineFunction;
using llvm::MachineInstr;
using llvm::MachineOperand;

namespace {
class KeepExtendedFloats : public llvm::MachineFunctionPass {
public:
  static char ID;
  KeepExtendedFloats() : MachineFunctionPass(ID) {}

  llvm::StringRef getPassName() const override {
    return "Iris: keep sign extensions that float instructions read";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    const llvm::TargetInstrInfo &instructions =
        *function.getSubtarget().getInstrInfo();
    llvm::SmallVector<MachineOperand *> found;
    for (llvm::MachineBasicBlock &block : function)
      for (MachineInstr &instruction : block)
        if (extendsSign(instructions.getName(instruction.getOpcode())))
          findFloats(instruction, instructions, found);
    const llvm::MachineRegisterInfo &registers = function.getRegInfo();
    for (MachineOperand *operand : found)
      mlir::iris::copyOperand(
          *operand, registers.getRegClass(operand->getReg()), instructions);
    return !found.empty();
  }

private:
  static bool extendsSign(llvm::StringRef name) {
    return name.starts_with("V_BFE_I32_") ||
           name.starts_with("V_ASHRREV_I32_") ||
           name.starts_with("V_ASHRREV_I16_") ||
           name.starts_with("V_ASHR_I32_");
  }

  /// Whether the type of the sources, the last one of the name in front of its
  /// encoding, is one of floats: V_CVT_I32_F32_e32.
  static bool readsFloats(llvm::StringRef name) {
    llvm::StringRef type = name.rsplit('_').first.rsplit('_').second;
    if (!type.consume_front("BF") && !type.consume_front("F"))
      return false;
    return !type.empty() && llvm::all_of(type, llvm::isDigit);
  }

  /// The operands of float instructions that are the result of `extension`.
  static void findFloats(MachineInstr &extension,
                         const llvm::TargetInstrInfo &instructions,
                         llvm::SmallVectorImpl<MachineOperand *> &found) {
    llvm::Register result = extension.getOperand(0).getReg();
    if (!result.isVirtual())
      return;
    for (MachineOperand &use :
         extension.getMF()->getRegInfo().use_nodbg_operands(result))
      if (readsFloats(instructions.getName(use.getParent()->getOpcode())))
        found.push_back(&use);
  }
};
} // namespace

char KeepExtendedFloats::ID = 0;

void mlir::iris::keepExtendedFloats(llvm::TargetPassConfig &config) {
  config.insertPass(
      getCodegenPass("si-load-store-opt", "comes before operands become bytes"),
      new KeepExtendedFloats());
}
