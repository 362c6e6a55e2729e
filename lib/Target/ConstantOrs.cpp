// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ConstantOrs.h"

#include "MachineOpcodes.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

using llvm::MachineFunction;
using llvm::MachineInstr;
using llvm::MachineOperand;
using llvm::Register;

namespace {
/// Constants in registers, as SIFoldOperands finds them.
class Constants {
public:
  explicit Constants(const MachineFunction &function)
      : registers(function.getRegInfo()),
        instructions(*function.getSubtarget().getInstrInfo()),
        layout(*function.getSubtarget().getRegisterInfo()) {}

  /// The word that an operand reads, if it is known.
  std::optional<uint32_t> getWord(const MachineOperand &operand,
                                  unsigned depth = 0) const {
    if (operand.isImm())
      return static_cast<uint32_t>(operand.getImm());
    if (!operand.isReg())
      return std::nullopt;
    return getWord(operand.getReg(), operand.getSubReg(), depth);
  }

private:
  // Chains of copies and folded operations are short.
  static constexpr unsigned kMaxDepth = 16;

  std::optional<uint32_t> getWord(Register name, unsigned part,
                                  unsigned depth) const {
    if (!name.isVirtual() || depth == kMaxDepth)
      return std::nullopt;
    const MachineInstr *definition = registers.getUniqueVRegDef(name);
    if (!definition)
      return std::nullopt;
    if (definition->isMoveImmediate())
      return getPart(definition->getOperand(1), part);
    if (definition->isCopy())
      return getWordOfPart(definition->getOperand(1), part, depth);
    if (definition->isRegSequence())
      return getWordOfSequence(*definition, part, depth);
    return part ? std::nullopt : fold(*definition, depth);
  }

  std::optional<uint32_t> getPart(const MachineOperand &constant,
                                  unsigned part) const {
    if (!constant.isImm())
      return std::nullopt;
    unsigned offset = part ? layout.getSubRegIdxOffset(part) : 0;
    return offset < 64
               ? std::optional(static_cast<uint32_t>(
                     static_cast<uint64_t>(constant.getImm()) >> offset))
               : std::nullopt;
  }

  /// The word `part` of what an operand reads.
  std::optional<uint32_t> getWordOfPart(const MachineOperand &operand,
                                        unsigned part, unsigned depth) const {
    if (!operand.isReg())
      return std::nullopt;
    unsigned outer = operand.getSubReg();
    unsigned both = !part    ? outer
                    : !outer ? part
                             : layout.composeSubRegIndices(outer, part);
    return getWord(operand.getReg(), both, depth + 1);
  }

  std::optional<uint32_t> getWordOfSequence(const MachineInstr &sequence,
                                            unsigned part,
                                            unsigned depth) const {
    if (!part)
      return std::nullopt;
    unsigned first = layout.getSubRegIdxOffset(part);
    unsigned end = first + layout.getSubRegIdxSize(part);
    for (unsigned i = 1; i + 1 < sequence.getNumOperands(); i += 2) {
      unsigned index = sequence.getOperand(i + 1).getImm();
      unsigned start = layout.getSubRegIdxOffset(index);
      if (index == part)
        return getWordOfPart(sequence.getOperand(i), 0, depth);
      if (start > first || end > start + layout.getSubRegIdxSize(index))
        continue;
      std::optional<unsigned> inner = findPart(first - start, end - first);
      return inner ? getWordOfPart(sequence.getOperand(i), *inner, depth)
                   : std::nullopt;
    }
    return std::nullopt;
  }

  /// The index of the part of so many bits from bit `offset` on; none if
  /// registers have no such part.
  std::optional<unsigned> findPart(unsigned offset, unsigned size) const {
    for (unsigned index = 1; index < layout.getNumSubRegIndices(); ++index)
      if (layout.getSubRegIdxOffset(index) == offset &&
          layout.getSubRegIdxSize(index) == size)
        return index;
    return std::nullopt;
  }

  std::optional<uint32_t> fold(const MachineInstr &op, unsigned depth) const {
    llvm::StringRef name = instructions.getName(op.getOpcode());
    name.consume_front("V_") || name.consume_front("S_");
    name.consume_back("_e32") || name.consume_back("_e64");
    bool isNot = name == "NOT_B32";
    if (!isNot && name != "AND_B32" && name != "OR_B32" && name != "XOR_B32")
      return std::nullopt;
    std::optional<uint32_t> x = getWord(op.getOperand(1), depth + 1);
    if (isNot)
      return x ? std::optional(~*x) : std::nullopt;
    std::optional<uint32_t> y = getWord(op.getOperand(2), depth + 1);
    if (!x || !y)
      return std::nullopt;
    return name == "AND_B32" ? *x & *y : name == "OR_B32" ? *x | *y : *x ^ *y;
  }

  const llvm::MachineRegisterInfo &registers;
  const llvm::TargetInstrInfo &instructions;
  const llvm::TargetRegisterInfo &layout;
};

class FoldConstantOrs : public llvm::MachineFunctionPass {
public:
  static char ID;
  FoldConstantOrs() : MachineFunctionPass(ID) {}

  llvm::StringRef getPassName() const override {
    return "Iris: fold ors with -1";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    const llvm::TargetInstrInfo &instructions =
        *function.getSubtarget().getInstrInfo();
    Constants constants(function);
    llvm::SmallVector<MachineInstr *> found;
    for (llvm::MachineBasicBlock &block : function)
      for (MachineInstr &op : block)
        if (isOr(op, instructions) && op.allImplicitDefsAreDead() &&
            (constants.getWord(op.getOperand(1)) == kAllOnes ||
             constants.getWord(op.getOperand(2)) == kAllOnes))
          found.push_back(&op);
    for (MachineInstr *op : found)
      replaceByOnes(*op, instructions);
    return !found.empty();
  }

private:
  static constexpr uint32_t kAllOnes = ~uint32_t(0);

  static llvm::StringRef getName(const MachineInstr &op,
                                 const llvm::TargetInstrInfo &instructions) {
    return instructions.getName(op.getOpcode());
  }

  static bool isOr(const MachineInstr &op,
                   const llvm::TargetInstrInfo &instructions) {
    llvm::StringRef name = getName(op, instructions);
    return name == "S_OR_B32" || name == "V_OR_B32_e32" ||
           name == "V_OR_B32_e64";
  }

  static void replaceByOnes(MachineInstr &op,
                            const llvm::TargetInstrInfo &instructions) {
    bool isScalar = getName(op, instructions) == "S_OR_B32";
    llvm::BuildMI(*op.getParent(), op, op.getDebugLoc(),
                  mlir::iris::getInstruction(
                      instructions, isScalar ? "S_MOV_B32" : "V_MOV_B32_e32"),
                  op.getOperand(0).getReg())
        .addImm(-1);
    op.eraseFromParent();
  }
};
} // namespace

char FoldConstantOrs::ID = 0;

void mlir::iris::foldConstantOrs(llvm::TargetPassConfig &config) {
  // SIFoldOperands comes after it.
  config.insertPass(&llvm::PeepholeOptimizerLegacyID, new FoldConstantOrs());
}
