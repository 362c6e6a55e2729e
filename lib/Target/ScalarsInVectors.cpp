// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScalarsInVectors.h"

#include "MachineOpcodes.h"
#include "ScalarCopy.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

#include <queue>

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
  explicit KeepScalarsInVectors(const ScalarMargins &margins)
      : MachineFunctionPass(ID), margins(margins) {}

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
    auto margin = margins.find(function.getName());
    return margin != margins.end() && copyScalars(function, margin->second);
  }

private:
  bool copyScalars(MachineFunction &function, unsigned margin);

  const ScalarMargins &margins;
};

/// The best plan comes first.
struct IsWorse {
  bool operator()(const std::unique_ptr<ScalarCopy> &a,
                  const std::unique_ptr<ScalarCopy> &b) const {
    return *b < *a;
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

bool KeepScalarsInVectors::copyScalars(MachineFunction &function,
                                       unsigned margin) {
  auto &intervals = getAnalysis<llvm::LiveIntervalsWrapperPass>().getLIS();
  auto &dominators =
      getAnalysis<llvm::MachineDominatorTreeWrapperPass>().getDomTree();
  ScalarContext context{
      function,
      intervals,
      getAnalysis<llvm::MachineCycleInfoWrapperPass>().getCycleInfo(),
      dominators,
      getAnalysis<llvm::MachineBlockFrequencyInfoWrapperPass>().getMBFI(),
      {function, intervals},
      {function, intervals, dominators}};
  mlir::iris::ScalarLiveness &liveness = context.liveness;
  liveness.setLimit(liveness.getAvailable() * (kMarginUnits - margin) /
                    kMarginUnits);
  std::priority_queue<std::unique_ptr<ScalarCopy>,
                      std::vector<std::unique_ptr<ScalarCopy>>, IsWorse>
      plans;
  auto plan = [&](llvm::Register value) {
    auto copy = std::make_unique<ScalarCopy>(context, value);
    if (copy->isUseful())
      plans.push(std::move(copy));
  };
  for (llvm::Register value : liveness.getScalars())
    plan(value);
  bool changed = false;
  while (liveness.getExcess() > 0 && !plans.empty()) {
    llvm::Register value = plans.top()->getValue();
    plans.pop();
    // Copies of other values have made it less useful.
    ScalarCopy copy(context, value);
    if (!copy.isUseful())
      continue;
    if (!plans.empty() && *plans.top() < copy) {
      plan(value);
      continue;
    }
    apply(copy, liveness);
    changed = true;
  }
  return changed;
}

void mlir::iris::keepScalarsInVectors(llvm::TargetPassConfig &config,
                                      const ScalarMargins &margins) {
  config.insertPass(getCodegenPass("amdgpu-pre-ra-long-branch-reg",
                                   "comes before the allocation of scalars"),
                    new KeepScalarsInVectors(margins));
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
