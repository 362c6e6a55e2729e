// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SyncCheck.cpp - Static checks of synchronization -------------------===//
//
// What is found in one world may be due to its size, for which the program may
// not be made. So only what is found in every one of a few worlds is reported.
#include "iris/SyncCheck/SyncCheck.h"

#include "Checks.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

/// The most ranks: those of a group.
static constexpr unsigned kMostRanks = 8;

std::string mlir::iris::sync::nameOf(const Event &event) {
  return "'" + event.op->getName().getStringRef().str() + "' op";
}

std::string mlir::iris::sync::conditionOf(const Event &wait) {
  std::string text =
      stringifyComparison(cast<WaitOp>(wait.op).getComparison()).str();
  if (wait.value.number)
    text += " " + std::to_string(wait.value.number.getInt());
  return text;
}

/// The cause of a conflict.
static std::optional<SyncFinding> explain(const Conflict &conflict,
                                          const Execution &execution) {
  if (auto finding = findRelaxedOp(conflict))
    return finding;
  // The scope is reported.
  if (conflict.isMeantOrdered && !execution.getNarrowAccesses().empty())
    return std::nullopt;
  if (auto finding = findLateStore(conflict))
    return finding;
  if (auto finding = findEarlyRead(conflict))
    return finding;
  if (auto finding = findReusedEpoch(conflict, execution))
    return finding;
  // A kernel that does not synchronize may be one that a single rank launches.
  if (!execution.getWorld().isWhole)
    return std::nullopt;
  return describeUnordered(conflict);
}

/// What is wrong in a world, each op once.
static SmallVector<SyncFinding> checkWorld(const World &world) {
  SmallVector<SyncFinding> findings;
  for (Order order :
       {Order::Ascending, Order::Descending, Order::Alternating}) {
    Execution execution(world, order);
    execution.run();
    checkScopes(execution, findings);
    checkBarriers(execution, findings);
    checkWaits(execution, findings);
    for (const Conflict &conflict : execution.getConflicts())
      if (auto finding = explain(conflict, execution))
        findings.push_back(std::move(*finding));
  }
  llvm::SmallDenseSet<std::pair<int, Operation *>> known;
  llvm::erase_if(findings, [&](const SyncFinding &finding) {
    return !known.insert({int(finding.kind), finding.op}).second;
  });
  return findings;
}

/// Checks the worlds that `build` makes, and adds what is wrong in all of them.
static void checkWorlds(llvm::function_ref<World(unsigned)> build,
                        SyncReport &report) {
  std::optional<SmallVector<SyncFinding>> common;
  for (unsigned numRanks : llvm::seq_inclusive(2u, kMostRanks)) {
    World world = build(numRanks);
    if (world.isUnsupported)
      continue;
    SmallVector<SyncFinding> found = checkWorld(world);
    for (auto &[op, reason] : world.limits)
      report.limits.push_back({op, reason});
    if (!common) {
      common = std::move(found);
    } else {
      llvm::erase_if(*common, [&](const SyncFinding &finding) {
        return llvm::none_of(found, [&](const SyncFinding &other) {
          return other.kind == finding.kind && other.op == finding.op;
        });
      });
    }
    if (common->empty())
      return;
  }
  if (common)
    llvm::append_range(report.findings, *common);
}

/// Brings the report into the order of the source.
static void sortReport(ModuleOp module, SyncReport &report) {
  llvm::DenseMap<Operation *, unsigned> numbers;
  module.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { numbers.try_emplace(op, numbers.size()); });
  llvm::stable_sort(report.findings,
                    [&](const SyncFinding &a, const SyncFinding &b) {
                      return numbers.lookup(a.op) < numbers.lookup(b.op);
                    });
  llvm::stable_sort(report.limits, [&](const SyncLimit &a, const SyncLimit &b) {
    return numbers.lookup(a.op) < numbers.lookup(b.op);
  });
  auto isSame = [](const SyncLimit &a, const SyncLimit &b) {
    return a.op == b.op;
  };
  report.limits.erase(
      std::unique(report.limits.begin(), report.limits.end(), isSame),
      report.limits.end());
}

SyncReport mlir::iris::checkSynchronization(ModuleOp module, uint64_t maxOps) {
  SyncReport report;
  SymbolTableCollection symbols;
  llvm::SmallPtrSet<Operation *, 8> launched;
  module.walk([&](LaunchOp launch) {
    if (auto kernel = symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(
            launch, launch.getKernelAttr()))
      launched.insert(kernel);
  });
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (main && !main.isExternal() && !launched.empty())
    checkWorlds(
        [&](unsigned numRanks) {
          return buildWorld(main, numRanks, maxOps, symbols);
        },
        report);
  module.walk([&](gpu::GPUFuncOp kernel) {
    if (kernel.isKernel() && !launched.contains(kernel))
      checkWorlds(
          [&](unsigned numRanks) {
            return buildWorld(kernel, numRanks, maxOps, symbols);
          },
          report);
  });
  sortReport(module, report);
  return report;
}
