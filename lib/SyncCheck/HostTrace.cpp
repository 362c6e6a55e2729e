// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostTrace.cpp - What each rank launches ----------------------------===//
#include "HostTrace.h"

#include "iris/Dialect/Iris/IR/IrisMatmul.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

namespace {
class MainWalker : public Walker {
public:
  MainWalker(Values &values, Budget &budget, SymbolTableCollection &symbols,
             HostTrace &trace)
      : Walker(values, budget, symbols), trace(trace) {}

protected:
  bool visit(Operation *op) override;
  bool skip(Operation *op) override;

private:
  bool addAlloc(AllocOp alloc);
  bool addLaunch(LaunchOp launch);
  bool addCollective(Operation *op, DenseI32ArrayAttr group);
  SmallVector<unsigned> readGroup(DenseI32ArrayAttr group);

  HostTrace &trace;
  int numAllocs = 0;
};
} // namespace

SmallVector<unsigned> MainWalker::readGroup(DenseI32ArrayAttr group) {
  SmallVector<unsigned> members;
  if (group)
    members.assign(group.asArrayRef().begin(), group.asArrayRef().end());
  for (unsigned member : members)
    trace.isOutside |= member >= values.getPosition().numRanks;
  return members;
}

bool MainWalker::addAlloc(AllocOp alloc) {
  auto type = cast<MemRefType>(alloc.getType());
  Buffer buffer{numAllocs++, /*isExact=*/true};
  unsigned dynamic = 0;
  for (int64_t extent : type.getShape())
    buffer.sizes.push_back(ShapedType::isDynamic(extent)
                               ? values.getIndex(alloc.getSizes()[dynamic++])
                               : std::optional<int64_t>(extent));
  values.set(alloc.getResult(), buffer);
  return true;
}

bool MainWalker::addLaunch(LaunchOp launch) {
  auto kernel = symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      launch, launch.getKernelAttr());
  if (!kernel)
    return stop(launch, "its kernel is not in the module");
  HostEvent event{HostEvent::Kind::Launch, launch, kernel};
  for (Value operand : launch.getKernelOperands())
    event.arguments.emplace_back(values.get(operand),
                                 values.getBuffer(operand));
  SmallVector<int64_t, 3> grid;
  for (Value extent : launch.getPrograms()) {
    std::optional<int64_t> number = values.getNumber(extent);
    if (!number || *number < 1)
      return stop(launch, "its number of programs is not known");
    grid.push_back(*number);
  }
  grid.resize(3, 1);
  event.grid = std::move(grid);
  event.group = readGroup(launch.getGroupAttr());
  if (!event.group.empty() &&
      !llvm::is_contained(event.group, values.getPosition().rank))
    return true; // this rank does not launch
  trace.events.push_back(std::move(event));
  return true;
}

bool MainWalker::addCollective(Operation *op, DenseI32ArrayAttr group) {
  HostEvent event{HostEvent::Kind::Collective, op};
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType()))
      event.buffers.push_back(values.getBuffer(operand));
  event.group = readGroup(group);
  if (!event.group.empty() &&
      !llvm::is_contained(event.group, values.getPosition().rank))
    return true;
  trace.events.push_back(std::move(event));
  return true;
}

bool MainWalker::visit(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](AllocOp alloc) { return addAlloc(alloc); })
      .Case([&](LaunchOp launch) { return addLaunch(launch); })
      .Case([&](SyncOp sync) {
        trace.events.push_back({HostEvent::Kind::Sync, sync});
        return true;
      })
      .Case([](DeallocOp) { return true; })
      .Case([&](CollectiveCallOpInterface call) {
        return addCollective(op, call.getGroupAttr());
      })
      .Case([&](MatmulCallOpInterface) { return addCollective(op, {}); })
      .Default([&](Operation *) {
        if (op->getNumRegions() > 0)
          return skip(op);
        return stop(op, "its effects are not known");
      });
}

bool MainWalker::skip(Operation *op) {
  bool hasEffects = false;
  op->walk([&](Operation *nested) {
    hasEffects |= nested->getNumRegions() == 0 && !isMemoryEffectFree(nested);
  });
  return !hasEffects ||
         stop(op, "whether, or how often, it is executed is not known");
}

HostTrace mlir::iris::sync::traceMain(func::FuncOp main,
                                      const Position &position, Budget &budget,
                                      SymbolTableCollection &symbols) {
  HostTrace trace;
  Values values(position);
  MainWalker walker(values, budget, symbols, trace);
  if (!main.getBody().hasOneBlock()) {
    trace.limit = main;
    trace.reason = "it has several blocks";
    return trace;
  }
  walker.run(main.getBody().front());
  trace.limit = walker.getLimit();
  trace.reason = walker.getReason();
  return trace;
}
