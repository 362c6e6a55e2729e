// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SCALARLIVENESS_H
#define IRIS_TARGET_SCALARLIVENESS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/CodeGen/LiveIntervals.h"
#include "llvm/CodeGen/MachineFunction.h"

namespace mlir::iris {

/// How many scalar registers (SGPRs, of 32 bits) of an AMD GPU are in use in
/// front of each instruction, before their allocation.
///
/// Instructions have consecutive numbers, in the order of the blocks. Those
/// inserted later have none.
class ScalarLiveness {
public:
  /// A half-open interval of numbers.
  struct Range {
    unsigned begin = 0, end = 0;
  };

  ScalarLiveness(llvm::MachineFunction &function,
                 llvm::LiveIntervals &intervals);

  /// The registers that the allocator may use.
  unsigned getAvailable() const { return available; }
  /// From then on, a use of more registers is an excess.
  void setLimit(unsigned limit);
  /// The sum over the instructions.
  unsigned getExcess(Range range) const;
  unsigned getExcess() const { return excessBefore.back(); }
  /// The most registers that are in use in front of an instruction.
  unsigned getMostUsed() const;

  /// The size of a scalar virtual register; 0 if it is no scalar.
  unsigned getWidth(llvm::Register value) const;
  /// Every scalar that is used.
  llvm::SmallVector<llvm::Register> getScalars() const;
  /// Adds the lives of `value` to the count, or takes them away.
  void add(llvm::Register value, int sign);
  /// To be called after `add`.
  void update();

  Range getRange(const llvm::MachineBasicBlock &block) const {
    return blocks[block.getNumber()];
  }
  unsigned getNumber(const llvm::MachineInstr &instruction) const {
    return numbers.lookup(&instruction);
  }
  llvm::MachineInstr &getInstruction(unsigned number) const {
    return *instructions[number];
  }

private:
  unsigned findNumber(llvm::SlotIndex index) const;
  void add(const llvm::LiveRange &lives, int registers);

  llvm::LiveIntervals &intervals;
  const llvm::MachineRegisterInfo &registers;
  const llvm::TargetRegisterInfo &target;
  unsigned pressureSet, available, limit = 0;
  llvm::SmallVector<llvm::MachineInstr *> instructions;
  llvm::DenseMap<const llvm::MachineInstr *, unsigned> numbers;
  llvm::SmallVector<Range> blocks;
  /// By how many registers more are in use than in front of the instruction
  /// before.
  llvm::SmallVector<int> steps;
  llvm::SmallVector<unsigned> excessBefore;
};

} // namespace mlir::iris

#endif // IRIS_TARGET_SCALARLIVENESS_H
