// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_ACTIVELANES_H
#define IRIS_TARGET_ACTIVELANES_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/CodeGen/LiveIntervals.h"
#include "llvm/CodeGen/MachineDominators.h"
#include "llvm/CodeGen/MachineFunction.h"

namespace mlir::iris {

/// What is known of the mask of active lanes (EXEC) of an AMD GPU after the
/// lowering of control flow.
///
/// LLVM narrows the mask at a divergent branch by S_AND, or by S_MOV of such a
/// result, and skips the code if it is empty. It widens the mask by S_OR where
/// the lanes meet again, which leaves it not empty.
class ActiveLanes {
public:
  ActiveLanes(llvm::MachineFunction &function,
              const llvm::LiveIntervals &intervals,
              const llvm::MachineDominatorTree &dominators);

  /// Whether a lane is active in front of the instruction.
  bool hasLane(const llvm::MachineInstr &instruction) const {
    return !maybeEmpty.contains(&instruction);
  }
  /// Whether all lanes that are active while the value is alive, after
  /// `start`, are active at `start`: where the mask becomes wider, it has been
  /// saved after `start`.
  bool areActiveAt(const llvm::MachineInstr &start,
                   const llvm::LiveInterval &value) const;

private:
  bool writesMask(const llvm::MachineInstr &instruction) const;
  bool isNarrowing(const llvm::MachineInstr &write) const;
  bool hasLaneAfter(const llvm::MachineInstr &write) const;
  void findEmpty(llvm::MachineFunction &function);
  llvm::StringRef getName(const llvm::MachineInstr &instruction) const;

  const llvm::LiveIntervals &intervals;
  const llvm::MachineDominatorTree &dominators;
  const llvm::MachineRegisterInfo &registers;
  const llvm::TargetRegisterInfo &target;
  const llvm::TargetInstrInfo &opcodes;
  llvm::MCRegister mask;
  llvm::SmallVector<const llvm::MachineInstr *> writes;
  llvm::DenseSet<const llvm::MachineInstr *> maybeEmpty;
};

} // namespace mlir::iris

#endif // IRIS_TARGET_ACTIVELANES_H
