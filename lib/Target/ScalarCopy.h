// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SCALARCOPY_H
#define IRIS_TARGET_SCALARCOPY_H

#include "ActiveLanes.h"
#include "ScalarLiveness.h"
#include "llvm/CodeGen/MachineBlockFrequencyInfo.h"
#include "llvm/CodeGen/MachineCycleAnalysis.h"
#include "llvm/CodeGen/MachineDominators.h"

namespace mlir::iris {

/// The function, and the analyses that plans of copies use.
struct ScalarContext {
  llvm::MachineFunction &function;
  llvm::LiveIntervals &intervals;
  const llvm::MachineCycleInfo &cycles;
  const llvm::MachineDominatorTree &dominators;
  const llvm::MachineBlockFrequencyInfo &frequencies;
  ScalarLiveness liveness;
  ActiveLanes lanes;
  /// VGPR_32, V_MOV_B32 and V_READFIRSTLANE_B32, which take long to find.
  const llvm::TargetRegisterClass *vectors;
  const llvm::MCInstrDesc &move, &read;
};

/// A plan to copy a scalar to vector registers, and back in front of its uses
/// (V_READFIRSTLANE) where there were too few scalar registers since the use
/// before. Instructions that also take a vector register read the copy.
class ScalarCopy {
public:
  /// Finds the best plan for the value, if there is one.
  ScalarCopy(ScalarContext &context, llvm::Register value);

  bool isUseful() const { return isPossible && gain > 0; }
  /// Of two useful plans.
  bool operator<(const ScalarCopy &other) const {
    return cost * other.gain < other.cost * gain;
  }
  llvm::Register getValue() const { return value; }

  /// Applies the plan; returns the scalars that the value becomes.
  llvm::SmallVector<llvm::Register> apply();

private:
  using Numbers = llvm::SmallVector<unsigned, 4>;
  using Range = ScalarLiveness::Range;

  /// One 32-bit register of the value: its index, and its copy.
  struct Word {
    unsigned index;
    llvm::Register copy;
  };

  bool findDefinition();
  bool findUses();
  bool findUse(const llvm::MachineOperand &operand);
  bool takesVector(const llvm::MachineInstr &user) const;
  bool takesVector(const llvm::MachineOperand &operand) const;
  void findBlocks();
  void hoistUses();
  const llvm::MachineCycle *
  findLowPressureCycle(const llvm::MachineBasicBlock &block);
  void findAvailable();
  bool isAvailableAtStart(const llvm::MachineBasicBlock &block) const;
  bool walk(const llvm::MachineBasicBlock &block, bool records);
  bool isReader(unsigned user) const;
  void estimateCost();
  double getWeight(const llvm::MachineBasicBlock &block) const;

  const llvm::TargetRegisterClass *findClass() const;
  bool isCondition() const;
  unsigned countWords() const;
  unsigned getIndex(unsigned word) const;
  llvm::SmallVector<Word, 4> copyOut(llvm::SmallVector<llvm::Register> &copies);
  void copyBack(llvm::MachineInstr &user, llvm::ArrayRef<Word> words);
  void readCopies(llvm::MachineInstr &user, llvm::ArrayRef<Word> words);
  llvm::MachineInstr &insert(llvm::MachineInstr &instruction);

  ScalarContext &context;
  llvm::Register value;
  const llvm::MachineRegisterInfo &registers;
  const llvm::TargetRegisterInfo &target;
  const llvm::TargetInstrInfo &opcodes;
  /// The last instruction that defines the value.
  llvm::MachineInstr *definition = nullptr;
  /// The lanes of the value that are used after it.
  llvm::LaneBitmask used;
  /// Of each block, in order.
  llvm::DenseMap<const llvm::MachineBasicBlock *, Numbers> uses;
  /// Where the value is alive after its definition.
  llvm::SmallVector<const llvm::MachineBasicBlock *> blocks;
  llvm::DenseSet<const llvm::MachineBasicBlock *> isAlive;
  /// At whose end the value is in scalar registers.
  llvm::DenseSet<const llvm::MachineBasicBlock *> isAvailable;
  /// In front of which instructions it is copied back, and which read the copy.
  Numbers reloads, readers;
  bool isPossible = false;
  double cost = 0;
  double gain = 0;
};

} // namespace mlir::iris

#endif // IRIS_TARGET_SCALARCOPY_H
