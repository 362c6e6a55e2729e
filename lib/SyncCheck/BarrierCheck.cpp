// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BarrierCheck.cpp - Barriers at which a rank never arrives ----------===//
#include "Checks.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

/// The barriers of a rank's programs with this block index.
static size_t countBarriers(const World &world, unsigned rank, int64_t block,
                            int state) {
  size_t count = 0;
  for (const StreamItem &item : world.streams[rank])
    if (block < int64_t(item.programs.size()))
      for (const Event &event : item.programs[block].events)
        count +=
            event.kind == Event::Kind::Barrier && event.buffer.root == state;
  return count;
}

/// The innermost op that decides whether `op` is executed; null: none.
static Operation *findCondition(Operation *op) {
  Operation *parent = op->getParentOp();
  while (parent && !isa<gpu::GPUFuncOp, func::FuncOp>(parent)) {
    if (!isa<scf::ExecuteRegionOp>(parent))
      return parent;
    parent = parent->getParentOp();
  }
  return nullptr;
}

void mlir::iris::sync::checkBarriers(const Execution &execution,
                                     Findings &findings) {
  const World &world = execution.getWorld();
  if (!world.isComplete)
    return;
  for (const Program &program : execution.getPrograms()) {
    if (program.barrier == 0)
      continue;
    const Event &barrier = program.event(program.next);
    const StreamItem &item = world.streams[program.rank][program.item];
    for (unsigned member : item.members) {
      size_t count =
          countBarriers(world, member, program.block, barrier.buffer.root);
      if (count >= program.barrier)
        continue;
      SyncFinding finding{SyncCheckKind::Barrier, barrier.op, "", {}};
      finding.message = nameOf(barrier) +
                        " never ends: not all ranks execute it, or "
                        "equally often; move it to where all of them do";
      if (Operation *condition = findCondition(barrier.op))
        finding.notes.emplace_back(condition,
                                   "ranks differ in what they execute here");
      else if (item.op != barrier.op->getParentOp())
        finding.notes.emplace_back(item.op,
                                   "not all ranks launch as many of its "
                                   "programs");
      findings.push_back(std::move(finding));
      break;
    }
  }
}
