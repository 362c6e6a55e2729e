// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScalarsInVectors.h"

#include "MachineOpcodes.h"
#include "ScalarCopy.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Support/DebugLog.h"

#include <algorithm>

#define DEBUG_TYPE "iris-scalars-in-vectors"

using llvm::MachineFunction;
using mlir::iris::ScalarContext;
using mlir::iris::ScalarCopy;
using mlir::iris::ScalarMargins;
using mlir::iris::Spills;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The unit of margins.
static constexpr unsigned kMarginUnits = 24;

namespace {
class KeepScalarsInVectors : public llvm::MachineFunctionPass {
public:
  static char ID;
  KeepScalarsInVectors(ScalarMargins &margins, bool predicts)
      : MachineFunctionPass(ID), margins(margins), predicts(predicts) {}

  llvm::StringRef getPassName() const override {
    return "Iris: keep scalars in vector registers";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.addRequired<llvm::LiveIntervalsWrapperPass>();
    usage.addRequired<llvm::MachineCycleInfoWrapperPass>();
    usage.addRequired<llvm::MachineDominatorTreeWrapperPass>();
    usage.addRequired<llvm::MachineBlockFrequencyInfoWrapperPass>();
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    if (predicts && certainlySpills(function))
      margins.try_emplace(function.getName(), mlir::iris::kFirstMargin);
    auto margin = margins.find(function.getName());
    return margin != margins.end() && copyScalars(function, margin->second);
  }

private:
  bool certainlySpills(MachineFunction &function);
  bool copyScalars(MachineFunction &function, unsigned margin);

  ScalarMargins &margins;
  bool predicts;
};

/// A copy as it was planned after some others had been applied.
struct Plan {
  std::unique_ptr<ScalarCopy> copy;
  unsigned applied;
};

/// The best plan comes first.
struct IsWorse {
  bool operator()(const Plan &a, const Plan &b) const {
    return *b.copy < *a.copy;
  }
};
} // namespace

char KeepScalarsInVectors::ID = 0;

static void apply(ScalarCopy &copy, mlir::iris::ScalarLiveness &liveness) {
  liveness.add(copy.getValue(), -1);
  for (llvm::Register part : copy.apply())
    liveness.add(part, 1);
  liveness.update();
}

/// Where a few values are too many, the allocator may compute constants again.
bool KeepScalarsInVectors::certainlySpills(MachineFunction &function) {
  mlir::iris::ScalarLiveness liveness(
      function, getAnalysis<llvm::LiveIntervalsWrapperPass>().getLIS());
  return 3 * liveness.getMostUsed() > 4 * liveness.getAvailable();
}

bool KeepScalarsInVectors::copyScalars(MachineFunction &function,
                                       unsigned margin) {
  auto &intervals = getAnalysis<llvm::LiveIntervalsWrapperPass>().getLIS();
  auto &dominators =
      getAnalysis<llvm::MachineDominatorTreeWrapperPass>().getDomTree();
  const llvm::TargetSubtargetInfo &subtarget = function.getSubtarget();
  const llvm::TargetInstrInfo &opcodes = *subtarget.getInstrInfo();
  ScalarContext context{
      function,
      intervals,
      getAnalysis<llvm::MachineCycleInfoWrapperPass>().getCycleInfo(),
      dominators,
      getAnalysis<llvm::MachineBlockFrequencyInfoWrapperPass>().getMBFI(),
      {function, intervals},
      {function, intervals, dominators},
      mlir::iris::getRegisterClass(*subtarget.getRegisterInfo(), "VGPR_32"),
      mlir::iris::getInstruction(opcodes, "V_MOV_B32_e32"),
      mlir::iris::getInstruction(opcodes, "V_READFIRSTLANE_B32")};
  mlir::iris::ScalarLiveness &liveness = context.liveness;
  liveness.setLimit(liveness.getAvailable() * (kMarginUnits - margin) /
                    kMarginUnits);
  std::vector<Plan> plans; // a heap
  unsigned applied = 0;
  auto push = [&](Plan plan) {
    if (!plan.copy->isUseful())
      return;
    plans.push_back(std::move(plan));
    std::push_heap(plans.begin(), plans.end(), IsWorse());
  };
  auto makePlan = [&](llvm::Register value) {
    return Plan{std::make_unique<ScalarCopy>(context, value), applied};
  };
  for (llvm::Register value : liveness.getScalars())
    push(makePlan(value));
  while (liveness.getExcess() > 0 && !plans.empty()) {
    std::pop_heap(plans.begin(), plans.end(), IsWorse());
    Plan plan = std::move(plans.back());
    plans.pop_back();
    // Copies of other values may have made it less useful.
    if (plan.applied != applied) {
      plan = makePlan(plan.copy->getValue());
      if (!plan.copy->isUseful())
        continue;
      if (!plans.empty() && *plans.front().copy < *plan.copy) {
        push(std::move(plan));
        continue;
      }
    }
    apply(*plan.copy, liveness);
    ++applied;
  }
  LDBG() << function.getName() << ": " << applied
         << " scalars in vector registers, an excess of "
         << liveness.getExcess() << " scalar registers is left";
  return applied > 0;
}

void mlir::iris::keepScalarsInVectors(llvm::TargetPassConfig &config,
                                      ScalarMargins &margins, bool predicts) {
  config.insertPass(getCodegenPass("amdgpu-pre-ra-long-branch-reg",
                                   "comes before the allocation of scalars"),
                    new KeepScalarsInVectors(margins, predicts));
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

namespace {
class CountSpills : public llvm::MachineFunctionPass {
public:
  static char ID;
  explicit CountSpills(llvm::StringMap<Spills> &spills)
      : MachineFunctionPass(ID), spills(spills) {}

  llvm::StringRef getPassName() const override {
    return "Iris: count the registers that kernels spill";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    const llvm::TargetInstrInfo &opcodes =
        *function.getSubtarget().getInstrInfo();
    Spills &found = spills[function.getName()];
    for (const llvm::MachineBasicBlock &block : function)
      for (const llvm::MachineInstr &instruction : block) {
        llvm::StringRef name = opcodes.getName(instruction.getOpcode());
        if (name.consume_front("SI_SPILL_"))
          ++(name.starts_with("S") ? found.scalars : found.vectors);
      }
    return false;
  }

private:
  llvm::StringMap<Spills> &spills;
};
} // namespace

char CountSpills::ID = 0;

void mlir::iris::countSpills(llvm::TargetPassConfig &config,
                             llvm::StringMap<Spills> &spills) {
  config.insertPass(getCodegenPass("si-fix-vgpr-copies",
                                   "comes after the allocation of registers"),
                    new CountSpills(spills));
}
