// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScalarConditions.h"

#include "MachineOpcodes.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-scalar-conditions"

using llvm::MachineFunction;
using llvm::MachineInstr;

namespace {
class KeepScalarConditions : public llvm::MachineFunctionPass {
public:
  static char ID;
  KeepScalarConditions() : MachineFunctionPass(ID) {}

  llvm::StringRef getPassName() const override {
    return "Iris: keep scalar conditions of comparisons of vectors";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    llvm::SmallVector<MachineInstr *> found;
    for (llvm::MachineBasicBlock &block : function)
      for (MachineInstr &op : block)
        if (isConditionOfMask(op))
          found.push_back(&op);
    for (MachineInstr *op : found) {
      LDBG() << function.getName() << ": keep" << *op;
      MachineInstr *copy = function.CloneMachineInstr(op);
      op->getParent()->insert(op, copy);
    }
    return !found.empty();
  }

private:
  /// Whether `op` limits the mask of lanes in vcc to the active ones, and its
  /// SCC is used.
  static bool isConditionOfMask(const MachineInstr &op) {
    const llvm::TargetSubtargetInfo &target = op.getMF()->getSubtarget();
    const llvm::TargetRegisterInfo &registers = *target.getRegisterInfo();
    llvm::StringRef name = target.getInstrInfo()->getName(op.getOpcode());
    if (name != "S_AND_B64" && name != "S_AND_B32")
      return false;
    auto is = [&](unsigned operand, llvm::StringRef prefix) {
      const llvm::MachineOperand &read = op.getOperand(operand);
      return read.isReg() && llvm::StringRef(registers.getName(read.getReg()))
                                 .starts_with(prefix);
    };
    return is(0, "VCC") &&
           ((is(1, "EXEC") && is(2, "VCC")) ||
            (is(1, "VCC") && is(2, "EXEC"))) &&
           !op.allImplicitDefsAreDead();
  }
};
} // namespace

char KeepScalarConditions::ID = 0;

void mlir::iris::keepScalarConditions(llvm::TargetPassConfig &config) {
  // SIPreEmitPeephole comes after it.
  config.insertPass(
      getCodegenPass("si-late-branch-lowering", "makes branches final"),
      new KeepScalarConditions());
}
