// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ActiveLanes.h"

#include "MachineOpcodes.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

using llvm::MachineBasicBlock;
using llvm::MachineInstr;
using mlir::iris::ActiveLanes;

ActiveLanes::ActiveLanes(llvm::MachineFunction &function,
                         const llvm::LiveIntervals &intervals,
                         const llvm::MachineDominatorTree &dominators)
    : intervals(intervals), dominators(dominators),
      registers(function.getRegInfo()),
      target(*function.getSubtarget().getRegisterInfo()),
      opcodes(*function.getSubtarget().getInstrInfo()),
      mask(getRegister(target, "EXEC")) {
  for (MachineBasicBlock &block : function)
    for (MachineInstr &instruction : block)
      if (writesMask(instruction))
        writes.push_back(&instruction);
  findEmpty(function);
}

llvm::StringRef ActiveLanes::getName(const MachineInstr &instruction) const {
  return opcodes.getName(instruction.getOpcode());
}

bool ActiveLanes::writesMask(const MachineInstr &instruction) const {
  // A copy of the mask has it as an implicit result too, and leaves it alone.
  auto writes = [&](const llvm::MachineOperand &operand) {
    return operand.isReg() && operand.isDef() &&
           operand.getReg().isPhysical() &&
           target.regsOverlap(operand.getReg(), mask) &&
           !(instruction.isCopy() && operand.isImplicit());
  };
  return llvm::any_of(instruction.operands(), writes);
}

//===----------------------------------------------------------------------===//
// Lanes that become active
//===----------------------------------------------------------------------===//

bool ActiveLanes::isNarrowing(const MachineInstr &write) const {
  llvm::StringRef name = getName(write);
  if (name.starts_with("S_AND"))
    return true;
  if (!name.starts_with("S_MOV_") || !write.getOperand(1).isReg() ||
      !write.getOperand(1).getReg().isVirtual())
    return false;
  const MachineInstr *source =
      registers.getUniqueVRegDef(write.getOperand(1).getReg());
  return source && getName(*source).starts_with("S_AND");
}

bool ActiveLanes::areActiveAt(const MachineInstr &start,
                              const llvm::LiveInterval &value) const {
  auto isSavedAfter = [&](const llvm::MachineOperand &operand) {
    if (!operand.isReg())
      return false;
    if (!operand.getReg().isVirtual())
      return true;
    return llvm::all_of(registers.def_instructions(operand.getReg()),
                        [&](MachineInstr &each) {
                          return dominators.dominates(&start, &each);
                        });
  };
  return llvm::all_of(writes, [&](const MachineInstr *write) {
    return !value.liveAt(intervals.getInstructionIndex(*write)) ||
           !dominators.dominates(&start, write) || isNarrowing(*write) ||
           llvm::all_of(write->uses(), isSavedAfter);
  });
}

//===----------------------------------------------------------------------===//
// No lane
//===----------------------------------------------------------------------===//

bool ActiveLanes::hasLaneAfter(const MachineInstr &write) const {
  return getName(write).starts_with("S_OR_");
}

/// The successor that the block branches to if the opcode's condition holds.
static const MachineBasicBlock *findTarget(const MachineBasicBlock &block,
                                           const llvm::TargetInstrInfo &opcodes,
                                           llvm::StringRef opcode) {
  for (const MachineInstr &branch : block.terminators())
    if (opcodes.getName(branch.getOpcode()) == opcode)
      return branch.getOperand(0).getMBB();
  return nullptr;
}

void ActiveLanes::findEmpty(llvm::MachineFunction &function) {
  llvm::DenseSet<const MachineBasicBlock *> empty; // at their starts
  auto walk = [&](const MachineBasicBlock &block,
                  llvm::function_ref<void(const MachineInstr &, bool)> visit) {
    bool hasLane = !empty.contains(&block);
    for (const MachineInstr &instruction : block) {
      visit(instruction, hasLane);
      if (writesMask(instruction))
        hasLane = hasLaneAfter(instruction);
    }
    return hasLane;
  };
  auto propagate = [&](const MachineBasicBlock &block) {
    bool hasLane = walk(block, [](const MachineInstr &, bool) {});
    const MachineBasicBlock *ifNone =
        findTarget(block, opcodes, "S_CBRANCH_EXECZ");
    const MachineBasicBlock *ifAny =
        findTarget(block, opcodes, "S_CBRANCH_EXECNZ");
    bool changed = false;
    for (const MachineBasicBlock *next : block.successors()) {
      bool reaches = ifNone ? next != ifNone : ifAny ? next == ifAny : hasLane;
      changed |= !reaches && empty.insert(next).second;
    }
    return changed;
  };
  llvm::ReversePostOrderTraversal<llvm::MachineFunction *> order(&function);
  bool changed = true;
  while (changed) {
    changed = false;
    for (const MachineBasicBlock *block : order)
      changed |= propagate(*block);
  }
  for (const MachineBasicBlock &block : function)
    walk(block, [&](const MachineInstr &instruction, bool hasLane) {
      if (!hasLane)
        maybeEmpty.insert(&instruction);
    });
}
