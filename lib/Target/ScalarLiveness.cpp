// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScalarLiveness.h"

#include "MachineOpcodes.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

using llvm::Register;
using mlir::iris::ScalarLiveness;

/// The set that scalar registers count in, and no vector register.
static unsigned findPressureSet(const llvm::TargetRegisterInfo &target) {
  for (unsigned set = 0; set < target.getNumRegPressureSets(); ++set)
    if (target.getRegPressureSetName(set) == llvm::StringRef("SReg_32"))
      return set;
  llvm::reportFatalInternalError("LLVM has no pressure set 'SReg_32'");
}

/// A lane of a mask is half a register.
static unsigned countRegisters(llvm::LaneBitmask lanes) {
  return llvm::divideCeil(lanes.getNumLanes(), 2);
}

ScalarLiveness::ScalarLiveness(llvm::MachineFunction &function,
                               llvm::LiveIntervals &intervals)
    : intervals(intervals), registers(function.getRegInfo()),
      target(*function.getSubtarget().getRegisterInfo()),
      pressureSet(findPressureSet(target)),
      available(
          target
              .getAllocatableSet(function, getRegisterClass(target, "SGPR_32"))
              .count()) {
  blocks.resize(function.getNumBlockIDs());
  for (llvm::MachineBasicBlock &block : function) {
    Range &range = blocks[block.getNumber()];
    range.begin = instructions.size();
    for (llvm::MachineInstr &instruction : block) {
      if (instruction.isDebugInstr())
        continue;
      numbers[&instruction] = instructions.size();
      instructions.push_back(&instruction);
    }
    range.end = instructions.size();
  }
  steps.resize(instructions.size() + 1);
  for (Register value : getScalars())
    add(value, 1);
  setLimit(available);
}

void ScalarLiveness::setLimit(unsigned newLimit) {
  limit = newLimit;
  update();
}

void ScalarLiveness::update() {
  excessBefore.assign(1, 0);
  unsigned used = 0;
  for (unsigned number = 0; number < instructions.size(); ++number) {
    used += steps[number];
    excessBefore.push_back(excessBefore.back() +
                           (used > limit ? used - limit : 0));
  }
}

unsigned ScalarLiveness::getExcess(Range range) const {
  return range.begin < range.end
             ? excessBefore[range.end] - excessBefore[range.begin]
             : 0;
}

unsigned ScalarLiveness::getMostUsed() const {
  unsigned used = 0, most = 0;
  for (int step : steps)
    most = std::max(most, used += step);
  return most;
}

unsigned ScalarLiveness::getWidth(Register value) const {
  const llvm::TargetRegisterClass *kind = registers.getRegClass(value);
  for (const int *set = target.getRegClassPressureSets(kind); *set != -1; ++set)
    if (static_cast<unsigned>(*set) == pressureSet)
      return target.getRegSizeInBits(*kind) / 32;
  return 0;
}

llvm::SmallVector<Register> ScalarLiveness::getScalars() const {
  llvm::SmallVector<Register> found;
  for (unsigned index = 0; index < registers.getNumVirtRegs(); ++index) {
    Register value = Register::index2VirtReg(index);
    if (!registers.reg_nodbg_empty(value) && intervals.hasInterval(value) &&
        getWidth(value) > 0)
      found.push_back(value);
  }
  return found;
}

void ScalarLiveness::add(Register value, int sign) {
  int width = getWidth(value);
  const llvm::LiveInterval &lives = intervals.getInterval(value);
  if (!lives.hasSubRanges())
    return add(lives, sign * width);
  for (const llvm::LiveInterval::SubRange &part : lives.subranges())
    add(part, sign * std::min<int>(width, countRegisters(part.LaneMask)));
}

/// The first numbered instruction at or after the index.
unsigned ScalarLiveness::findNumber(llvm::SlotIndex index) const {
  llvm::SlotIndexes &indexes = *intervals.getSlotIndexes();
  if (index >= indexes.getLastIndex())
    return instructions.size();
  Range block = getRange(*intervals.getMBBFromIndex(index));
  auto begin = instructions.begin();
  return std::lower_bound(begin + block.begin, begin + block.end, index,
                          [&](llvm::MachineInstr *each, llvm::SlotIndex at) {
                            return indexes.getInstructionIndex(*each) < at;
                          }) -
         begin;
}

void ScalarLiveness::add(const llvm::LiveRange &lives, int count) {
  for (const llvm::LiveRange::Segment &segment : lives) {
    steps[findNumber(segment.start)] += count;
    steps[findNumber(segment.end)] -= count;
  }
}
