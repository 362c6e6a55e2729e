// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScalarCopy.h"

#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

using llvm::MachineBasicBlock;
using llvm::MachineInstr;
using llvm::MachineOperand;
using llvm::Register;
using mlir::iris::ScalarCopy;

ScalarCopy::ScalarCopy(ScalarContext &context, Register value)
    : context(context), value(value), registers(context.function.getRegInfo()),
      target(*context.function.getSubtarget().getRegisterInfo()),
      opcodes(*context.function.getSubtarget().getInstrInfo()) {
  if (!findDefinition() || !findUses() ||
      !context.lanes.areActiveAt(*definition,
                                 context.intervals.getInterval(value)) ||
      !findClass())
    return;
  findBlocks();
  hoistUses();
  findAvailable();
  isPossible = llvm::all_of(reloads, [&](unsigned user) {
    return context.lanes.hasLane(context.liveness.getInstruction(user));
  });
  estimateCost();
}

//===----------------------------------------------------------------------===//
// The value
//===----------------------------------------------------------------------===//

/// Finds the instruction after which the whole value is defined. In a loop all
/// of it is defined by one block, without a value from the iteration before.
bool ScalarCopy::findDefinition() {
  const MachineBasicBlock *only = nullptr;
  bool hasSeveral = false;
  for (MachineInstr &each : registers.def_instructions(value)) {
    if (each.isImplicitDef() || each.isBundled())
      return false;
    hasSeveral |= only && only != each.getParent();
    only = each.getParent();
    if (!definition || context.dominators.dominates(definition, &each))
      definition = &each;
    else if (!context.dominators.dominates(&each, definition))
      return false;
  }
  if (!definition || definition->isTerminator())
    return false;
  bool isInCycle =
      llvm::any_of(registers.def_instructions(value), [&](MachineInstr &each) {
        return context.cycles.getCycle(each.getParent());
      });
  const llvm::LiveInterval &lives = context.intervals.getInterval(value);
  return !isInCycle || (!hasSeveral && !context.intervals.isLiveInToMBB(
                                           lives, definition->getParent()));
}

/// Finds the uses after the definition. Lanes leave a loop in different
/// iterations, so there is none after the loop of the definition.
bool ScalarCopy::findUses() {
  for (const MachineOperand &operand : registers.use_nodbg_operands(value))
    if (!operand.isUndef() && !findUse(operand))
      return false;
  for (auto &[block, numbers] : uses) {
    llvm::sort(numbers);
    numbers.erase(llvm::unique(numbers), numbers.end());
  }
  return !uses.empty();
}

bool ScalarCopy::findUse(const MachineOperand &operand) {
  const MachineInstr &user = *operand.getParent();
  const MachineBasicBlock *block = user.getParent();
  const MachineBasicBlock *home = definition->getParent();
  const llvm::MachineCycle *cycle = context.cycles.getCycle(home);
  if (user.isBundled())
    return false;
  if (&user == definition || !context.dominators.dominates(definition, &user))
    return block == home ||
           (!cycle && context.dominators.dominates(block, home));
  if (cycle && !cycle->contains(block))
    return false;
  used |= operand.getSubReg()
              ? target.getSubRegIndexLaneMask(operand.getSubReg())
              : registers.getMaxLaneMaskForVReg(value);
  uses[block].push_back(context.liveness.getNumber(user));
  return true;
}

/// Whether it reads no more of the value than vector registers can hold.
bool ScalarCopy::takesVector(const MachineInstr &user) const {
  return llvm::all_of(user.operands(), [&](const MachineOperand &operand) {
    return !operand.isReg() || operand.getReg() != value ||
           takesVector(operand);
  });
}

bool ScalarCopy::takesVector(const MachineOperand &operand) const {
  unsigned bits = operand.getSubReg()
                      ? target.getSubRegIdxSize(operand.getSubReg())
                      : target.getRegSizeInBits(*registers.getRegClass(value));
  if (operand.isDef() || operand.isTied() || bits != 32)
    return false;
  const MachineInstr &user = *operand.getParent();
  if (user.isCopy()) {
    Register result = user.getOperand(0).getReg();
    return result.isVirtual() && !user.getOperand(0).getSubReg() &&
           context.vectors->hasSubClassEq(registers.getRegClass(result));
  }
  if (operand.getOperandNo() >= user.getDesc().getNumOperands())
    return false;
  const llvm::TargetRegisterClass *taken =
      opcodes.getRegClass(user.getDesc(), operand.getOperandNo());
  return taken && taken->hasSubClassEq(context.vectors);
}

void ScalarCopy::findBlocks() {
  const llvm::LiveInterval &lives = context.intervals.getInterval(value);
  const MachineBasicBlock *home = definition->getParent();
  for (const MachineBasicBlock &block : context.function)
    if (&block == home || (context.intervals.isLiveInToMBB(lives, &block) &&
                           context.dominators.dominates(home, &block)))
      blocks.push_back(&block);
  isAlive.insert(blocks.begin(), blocks.end());
}

//===----------------------------------------------------------------------===//
// Where it is in scalar registers
//===----------------------------------------------------------------------===//

/// The outermost loop around the block, after the definition, whose pressure on
/// scalar registers is below the limit in all blocks.
const llvm::MachineCycle *
ScalarCopy::findLowPressureCycle(const MachineBasicBlock &block) {
  const llvm::MachineCycle *found = nullptr;
  auto hasLowPressure = [&](const MachineBasicBlock *each) {
    return context.liveness.getExcess(context.liveness.getRange(*each)) == 0;
  };
  for (const llvm::MachineCycle *cycle = context.cycles.getCycle(&block);
       cycle && !cycle->contains(definition->getParent()) &&
       llvm::all_of(cycle->blocks(), hasLowPressure);
       cycle = cycle->getParentCycle())
    found = cycle;
  return found;
}

/// In front of such a loop the value is copied back for all of its iterations.
void ScalarCopy::hoistUses() {
  llvm::DenseSet<const MachineBasicBlock *> preheaders;
  for (auto &[block, numbers] : uses) {
    const llvm::MachineCycle *cycle = findLowPressureCycle(*block);
    const MachineBasicBlock *preheader =
        cycle ? cycle->getCyclePreheader() : nullptr;
    bool needsScalar = llvm::any_of(numbers, [&](unsigned user) {
      return !takesVector(context.liveness.getInstruction(user));
    });
    if (preheader && needsScalar)
      preheaders.insert(preheader);
  }
  for (const MachineBasicBlock *block : preheaders) {
    auto at = block->getFirstTerminator();
    if (at == block->end() || !context.lanes.hasLane(*at) ||
        !context.dominators.dominates(definition, &*at))
      continue;
    Numbers &numbers = uses[block];
    numbers.push_back(context.liveness.getNumber(*at));
    llvm::sort(numbers);
    numbers.erase(llvm::unique(numbers), numbers.end());
  }
}

/// Whether the instruction reads the copy if the value is not in scalar
/// registers.
bool ScalarCopy::isReader(unsigned user) const {
  const MachineInstr &instruction = context.liveness.getInstruction(user);
  return instruction.readsRegister(value, &target) && takesVector(instruction);
}

/// Whether the value is in scalar registers at the end of the block. In front
/// of a use it need not be if there is an excess.
bool ScalarCopy::walk(const MachineBasicBlock &block, bool records) {
  const ScalarLiveness &liveness = context.liveness;
  Range rest = liveness.getRange(block);
  bool isHere = true;
  if (&block == definition->getParent())
    rest.begin = liveness.getNumber(*definition) + 1;
  else
    isHere = isAvailableAtStart(block);
  auto leave = [&](unsigned end) {
    unsigned excess = liveness.getExcess({rest.begin, end});
    isHere &= excess == 0;
    if (records && !isHere)
      gain += excess;
    rest.begin = end;
  };
  if (auto found = uses.find(&block); found != uses.end())
    for (unsigned user : found->second) {
      leave(user);
      bool reads = !isHere && isReader(user);
      if (records && !isHere)
        (reads ? readers : reloads).push_back(user);
      isHere = !reads;
      rest.begin = reads ? user : user + 1;
    }
  if (llvm::any_of(block.successors(), [&](const MachineBasicBlock *next) {
        return next != definition->getParent() && isAlive.contains(next);
      }))
    leave(rest.end);
  return isHere;
}

bool ScalarCopy::isAvailableAtStart(const MachineBasicBlock &block) const {
  return llvm::all_of(block.predecessors(), [&](const MachineBasicBlock *each) {
    return isAvailable.contains(each);
  });
}

void ScalarCopy::findAvailable() {
  isAvailable = isAlive;
  bool changed = true;
  while (changed) {
    changed = false;
    for (const MachineBasicBlock *block : blocks)
      if (isAvailable.contains(block) && !walk(*block, /*records=*/false)) {
        isAvailable.erase(block);
        changed = true;
      }
  }
  for (const MachineBasicBlock *block : blocks)
    walk(*block, /*records=*/true);
}

/// The time of an instruction in the block, and its size.
double ScalarCopy::getWeight(const MachineBasicBlock &block) const {
  return context.frequencies.getBlockFreqRelativeToEntryBlock(&block) + 1;
}

void ScalarCopy::estimateCost() {
  unsigned words = countWords();
  cost = words * getWeight(*definition->getParent());
  for (unsigned user : reloads)
    cost +=
        words * getWeight(*context.liveness.getInstruction(user).getParent());
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Whether all lanes of a mask are equal.
bool ScalarCopy::isCondition() const {
  return opcodes.getName(definition->getOpcode()) == "S_CSELECT_B64" &&
         registers.hasOneDef(value) && definition->getOperand(1).isImm() &&
         definition->getOperand(2).isImm();
}

unsigned ScalarCopy::countWords() const {
  unsigned words = 0, all = context.liveness.getWidth(value);
  for (unsigned word = 0; word < all; ++word)
    words += all == 1 ||
             (target.getSubRegIndexLaneMask(getIndex(word)) & used).any();
  return words;
}

/// The index of a register of the value; 0 if it is the only one.
unsigned ScalarCopy::getIndex(unsigned word) const {
  const llvm::TargetRegisterClass *kind = registers.getRegClass(value);
  if (target.getRegSizeInBits(*kind) == 32)
    return 0;
  for (unsigned index = 1; index < target.getNumSubRegIndices(); ++index)
    if (target.getSubRegIdxSize(index) == 32 &&
        target.getSubRegIdxOffset(index) == 32 * word &&
        target.getSubClassWithSubReg(kind, index) == kind)
      return index;
  llvm::reportFatalInternalError("LLVM has no index of a 32-bit register");
}

MachineInstr &ScalarCopy::insert(MachineInstr &instruction) {
  context.intervals.InsertMachineInstrInMaps(instruction);
  return instruction;
}

llvm::SmallVector<ScalarCopy::Word, 4>
ScalarCopy::copyOut(llvm::SmallVector<Register> &copies) {
  llvm::MachineRegisterInfo &all = context.function.getRegInfo();
  auto next = std::next(definition->getIterator());
  llvm::SmallVector<Word, 4> words;
  for (unsigned word = 0; word < context.liveness.getWidth(value); ++word) {
    unsigned index = getIndex(word);
    if (index && (target.getSubRegIndexLaneMask(index) & used).none())
      continue;
    if (isCondition() && !words.empty()) {
      words.push_back({index, words.front().copy});
      continue;
    }
    Register copy = all.createVirtualRegister(context.vectors);
    insert(*llvm::BuildMI(*definition->getParent(), next,
                          definition->getDebugLoc(), context.move, copy)
                .addReg(value, 0, index));
    words.push_back({index, copy});
    copies.push_back(copy);
  }
  return words;
}

void ScalarCopy::copyBack(MachineInstr &user, llvm::ArrayRef<Word> words) {
  unsigned rest = llvm::RegState::Undef; // of the registers not yet read
  for (const Word &word : words) {
    insert(*llvm::BuildMI(*user.getParent(), user, user.getDebugLoc(),
                          context.read)
                .addReg(value, llvm::RegState::Define | (word.index ? rest : 0),
                        word.index)
                .addReg(word.copy));
    rest = 0;
  }
}

void ScalarCopy::readCopies(MachineInstr &user, llvm::ArrayRef<Word> words) {
  for (MachineOperand &operand : user.operands()) {
    if (!operand.isReg() || operand.getReg() != value)
      continue;
    const Word *word = llvm::find_if(words, [&](const Word &each) {
      return each.index == operand.getSubReg();
    });
    operand.setReg(word->copy);
    operand.setSubReg(0);
  }
}

/// The class of the value as a result of V_READFIRSTLANE, which does not write
/// all registers of 32 bits; null if there is none.
const llvm::TargetRegisterClass *ScalarCopy::findClass() const {
  const llvm::TargetRegisterClass *kind = registers.getRegClass(value);
  if (context.liveness.getWidth(value) > 1)
    return kind;
  return target.getCommonSubClass(kind, opcodes.getRegClass(context.read, 0));
}

llvm::SmallVector<Register> ScalarCopy::apply() {
  llvm::SmallVector<Register> copies;
  llvm::SmallVector<Word, 4> words = copyOut(copies);
  for (unsigned user : reloads)
    copyBack(context.liveness.getInstruction(user), words);
  for (unsigned user : readers)
    readCopies(context.liveness.getInstruction(user), words);
  context.function.getRegInfo().setRegClass(value, findClass());
  context.function.getRegInfo().clearKillFlags(value);
  context.intervals.removeInterval(value);
  llvm::LiveInterval &lives =
      context.intervals.createAndComputeVirtRegInterval(value);
  for (Register copy : copies)
    context.intervals.createAndComputeVirtRegInterval(copy);
  llvm::SmallVector<llvm::LiveInterval *, 8> parts;
  context.intervals.splitSeparateComponents(lives, parts);
  llvm::SmallVector<Register> scalars = {value};
  for (llvm::LiveInterval *part : parts)
    scalars.push_back(part->reg());
  return scalars;
}
