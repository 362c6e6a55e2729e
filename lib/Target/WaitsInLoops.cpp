// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WaitsInLoops.h"

#include "MachineOpcodes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/CodeGen/MachineCycleAnalysis.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-waits-in-loops"

using llvm::MachineFunction;

namespace {
class KeepWaitsInLoops : public llvm::MachineFunctionPass {
public:
  static char ID;
  KeepWaitsInLoops() : MachineFunctionPass(ID) {}

  llvm::StringRef getPassName() const override {
    return "Iris: keep the waits of fences in loops";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.addRequired<llvm::MachineCycleInfoWrapperPass>();
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    const llvm::TargetInstrInfo &instructions =
        *function.getSubtarget().getInstrInfo();
    const llvm::MachineCycleInfo &cycles =
        getAnalysis<llvm::MachineCycleInfoWrapperPass>().getCycleInfo();
    bool changed = false;
    for (llvm::MachineBasicBlock &block : function) {
      if (!cycles.getCycle(&block))
        continue;
      // Ordinary waits after which nothing has been accessed: the same wait
      // again, as after a barrier, remains soft, and is removed.
      llvm::SmallVector<const llvm::MachineInstr *> done;
      for (llvm::MachineInstr &instruction : block) {
        if (instruction.mayLoadOrStore() || instruction.isCall())
          done.clear();
        auto found = getOrdinary(instructions).find(instruction.getOpcode());
        if (found == ordinary.end() ||
            llvm::any_of(done, [&](const llvm::MachineInstr *wait) {
              return wait->getOpcode() == found->second &&
                     haveSameOperands(*wait, instruction);
            }))
          continue;
        LDBG() << function.getName() << ", block " << block.getNumber()
               << ": keep " << instructions.getName(found->second);
        instruction.setDesc(instructions.get(found->second));
        done.push_back(&instruction);
        changed = true;
      }
    }
    return changed;
  }

private:
  static bool haveSameOperands(const llvm::MachineInstr &a,
                               const llvm::MachineInstr &b) {
    return a.getNumOperands() == b.getNumOperands() &&
           llvm::all_of_zip(a.operands(), b.operands(),
                            [](const llvm::MachineOperand &x,
                               const llvm::MachineOperand &y) {
                              return x.isIdenticalTo(y);
                            });
  }

  /// The opcodes of soft waits, and of the ordinary ones that they stand for.
  /// LLVM installs no header with AMD GPUs' opcodes, so they are found by name.
  const llvm::DenseMap<unsigned, unsigned> &
  getOrdinary(const llvm::TargetInstrInfo &instructions) {
    if (known == &instructions)
      return ordinary;
    known = &instructions;
    ordinary.clear();
    llvm::StringMap<unsigned> waits;
    for (unsigned opcode = 0; opcode < instructions.getNumOpcodes(); ++opcode)
      if (instructions.getName(opcode).starts_with("S_WAIT"))
        waits[instructions.getName(opcode)] = opcode;
    for (const auto &wait : waits) {
      llvm::StringRef name = wait.getKey();
      if (!name.consume_back("_soft"))
        continue;
      if (auto found = waits.find(name); found != waits.end())
        ordinary[wait.getValue()] = found->second;
    }
    return ordinary;
  }

  const llvm::TargetInstrInfo *known = nullptr;
  llvm::DenseMap<unsigned, unsigned> ordinary;
};
} // namespace

char KeepWaitsInLoops::ID = 0;

void mlir::iris::keepWaitsInLoops(llvm::TargetPassConfig &config) {
  config.insertPass(getCodegenPass("si-memory-legalizer", "expands fences"),
                    new KeepWaitsInLoops());
}
