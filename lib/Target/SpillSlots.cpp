// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SpillSlots.h"

#include "MachineOpcodes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/TargetPassConfig.h"

namespace {
class RemoveUnusedSpillSlots : public llvm::MachineFunctionPass {
public:
  static char ID;
  RemoveUnusedSpillSlots() : MachineFunctionPass(ID) {}

  llvm::StringRef getPassName() const override {
    return "Iris: remove unused spill slots";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(llvm::MachineFunction &function) override {
    llvm::MachineFrameInfo &frame = function.getFrameInfo();
    llvm::BitVector unused(frame.getObjectIndexEnd());
    for (int i = 0; i < frame.getObjectIndexEnd(); ++i)
      unused[i] =
          frame.isSpillSlotObjectIndex(i) && !frame.isDeadObjectIndex(i);
    for (const llvm::MachineBasicBlock &block : function)
      for (const llvm::MachineInstr &op : block)
        for (const llvm::MachineOperand &operand : op.operands())
          if (operand.isFI() && operand.getIndex() >= 0)
            unused.reset(operand.getIndex());
    for (unsigned slot : unused.set_bits())
      frame.RemoveStackObject(static_cast<int>(slot));
    return unused.any();
  }
};
} // namespace

char RemoveUnusedSpillSlots::ID = 0;

void mlir::iris::removeUnusedSpillSlots(llvm::TargetPassConfig &config) {
  config.insertPass(getCodegenPass("si-fix-vgpr-copies",
                                   "comes after the allocation of registers"),
                    new RemoveUnusedSpillSlots());
}
