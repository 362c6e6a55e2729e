// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlowOps.cpp - scf, cf, func and gpu -------------------------===//
#include "Machine.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::iris::interp;
using llvm::APInt;

//===----------------------------------------------------------------------===//
// scf
//===----------------------------------------------------------------------===//

/// The arguments of a loop's body: the induction variable and what is carried.
static SmallVector<Datum> loopArguments(uint64_t value,
                                        ArrayRef<Datum> carried) {
  SmallVector<Datum> arguments{Datum(Element{value})};
  arguments.append(carried.begin(), carried.end());
  return arguments;
}

static Step beginFor(Program &program, Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  Kind type = loop.getLowerBound().getType();
  APInt lower = toInt(type, program.scalar(loop.getLowerBound()));
  APInt upper = toInt(type, program.scalar(loop.getUpperBound()));
  APInt step = toInt(type, program.scalar(loop.getStep()));
  SmallVector<Datum> init = program.getAll(loop.getInitArgs());
  bool isUnsigned = loop.getUnsignedCmp();
  if (!program.failed && (step.isZero() || (!isUnsigned && step.isNegative())))
    program.error("has the step " +
                  Twine(isUnsigned ? 0 : step.getSExtValue()) +
                  "; expected more than 0");
  if (program.failed)
    return Step::Next;
  if (isUnsigned ? lower.uge(upper) : lower.sge(upper)) {
    for (auto [result, datum] : llvm::zip(op->getResults(), init))
      program.set(result, datum);
    return Step::Next;
  }
  Step result = program.enter(op, loop.getBody(),
                              loopArguments(lower.getZExtValue(), init));
  Frame &frame = program.frames.back();
  frame.value = lower.getZExtValue();
  frame.step = step.getZExtValue();
  // The distance is less than 2^width, as an unsigned number.
  frame.remaining =
      llvm::APIntOps::RoundingUDiv(upper - lower, step, APInt::Rounding::UP)
          .getZExtValue() -
      1;
  return result;
}

static Step yieldFor(Program &program, scf::ForOp loop,
                     ArrayRef<Datum> values) {
  Frame &frame = program.frames.back();
  if (frame.remaining-- == 0)
    return program.leave(values);
  APInt next =
      toInt(loop.getLowerBound().getType(), {frame.value + frame.step});
  frame.value = next.getZExtValue();
  return program.jump(loop.getBody(), loopArguments(frame.value, values));
}

static Step beginIf(Program &program, Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  bool taken = program.flag(branch.getCondition());
  Region &region = taken ? branch.getThenRegion() : branch.getElseRegion();
  if (program.failed || region.empty())
    return Step::Next;
  return program.enter(op, &region.front(), {});
}

static Step beginWhile(Program &program, Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  Step step =
      program.enter(op, loop.getBeforeBody(), program.getAll(loop.getInits()));
  Frame &frame = program.frames.back();
  frame.atomics = program.numAtomics;
  frame.syncs = program.numSyncs;
  frame.changes = program.numChanges;
  return step;
}

static Step condition(Program &program, Operation *op) {
  auto terminator = cast<scf::ConditionOp>(op);
  auto loop = cast<scf::WhileOp>(program.frames.back().owner);
  bool goesOn = program.flag(terminator.getCondition());
  SmallVector<Datum> values = program.getAll(terminator.getArgs());
  Frame &frame = program.frames.back();
  if (const uint64_t limit = program.world.maxSpins(); goesOn && limit != 0) {
    // One without atomics cannot see what others do, unless by a race.
    constexpr uint64_t plainLimit = 100000;
    const bool isSpin = program.numAtomics != frame.atomics;
    if (++frame.iteration > (isSpin ? limit : std::max(limit, plainLimit)))
      return program.cutOff();
  }
  return goesOn ? program.jump(loop.getAfterBody(), values)
                : program.leave(values);
}

static Step beginRegion(Program &program, Operation *op) {
  return program.enter(op, &op->getRegion(0).front(), {});
}

static Step beginSwitch(Program &program, Operation *op) {
  auto choice = cast<scf::IndexSwitchOp>(op);
  int64_t value = program.index(choice.getArg());
  for (auto [n, label] : llvm::enumerate(choice.getCases()))
    if (label == value)
      return program.enter(op, &choice.getCaseBlock(n), {});
  return program.enter(op, &choice.getDefaultBlock(), {});
}

/// Loops without an order: one iteration after the other. Bounds are those of
/// `scf.parallel` and `scf.forall`.
static Step iterate(Program &program, Operation *op, ArrayRef<int64_t> lower,
                    ArrayRef<int64_t> upper, ArrayRef<int64_t> step,
                    uint64_t iteration) {
  SmallVector<Datum> at(lower.size());
  uint64_t rest = iteration;
  for (size_t dim = lower.size(); dim-- > 0;) {
    if (step[dim] <= 0) {
      program.error("has the step " + Twine(step[dim]) +
                    "; expected more than 0");
      return Step::Next;
    }
    int64_t trips = std::max<int64_t>(
        0, (upper[dim] - lower[dim] + step[dim] - 1) / step[dim]);
    if (trips == 0) {
      rest = 1;
      break;
    }
    at[dim] = Datum(fromIndex(lower[dim] + rest % trips * step[dim]));
    rest /= trips;
  }
  bool ended = rest != 0;
  if (iteration == 0)
    return ended ? Step::Next
                 : program.enter(op, &op->getRegion(0).front(), at);
  if (ended)
    return program.leave({});
  return program.jump(&op->getRegion(0).front(), at);
}

static Step iterate(Program &program, Operation *op, uint64_t iteration) {
  if (op->getNumResults() != 0) {
    program.error("has results, which the reference does not compute");
    return Step::Next;
  }
  if (auto loop = dyn_cast<scf::ParallelOp>(op))
    return iterate(program, op, program.indices(loop.getLowerBound()),
                   program.indices(loop.getUpperBound()),
                   program.indices(loop.getStep()), iteration);
  auto loop = cast<scf::ForallOp>(op);
  return iterate(
      program, op,
      program.mixed(loop.getStaticLowerBound(), loop.getDynamicLowerBound()),
      program.mixed(loop.getStaticUpperBound(), loop.getDynamicUpperBound()),
      program.mixed(loop.getStaticStep(), loop.getDynamicStep()), iteration);
}

static Step beginParallel(Program &program, Operation *op) {
  return iterate(program, op, 0);
}
static Step endParallel(Program &program, Operation *) {
  Frame &frame = program.frames.back();
  return iterate(program, frame.owner, ++frame.iteration);
}

static bool areEqual(const Datum &a, const Datum &b) {
  return !a.buffer && !b.buffer &&
         llvm::equal(a.elements, b.elements, [](Element one, Element other) {
           return one.bits == other.bits && one.poison == other.poison;
         });
}

/// The next iteration of an `scf.while`. If this one began with the same values
/// and did nothing but an atomic that changed nothing, the next one does the
/// same, until another program changes what the atomic accesses.
static Step repeat(Program &program, scf::WhileOp loop,
                   ArrayRef<Datum> values) {
  Frame &frame = program.frames.back();
  program.spins =
      program.world.maxSpins() != 0 && program.numSyncs == frame.syncs + 1 &&
      program.numAtomics != frame.atomics && program.polled.op &&
      program.numChanges == frame.changes &&
      llvm::all_of(
          llvm::zip(loop.getBeforeArguments(), values), [&](auto pair) {
            return areEqual(program.get(std::get<0>(pair)), std::get<1>(pair));
          });
  frame.syncs = program.numSyncs;
  frame.changes = program.numChanges;
  return program.jump(loop.getBeforeBody(), values);
}

static Step yield(Program &program, Operation *op) {
  SmallVector<Datum> values = program.getAll(op->getOperands());
  Operation *owner = program.frames.back().owner;
  if (auto loop = dyn_cast<scf::ForOp>(owner))
    return yieldFor(program, loop, values);
  if (auto loop = dyn_cast<scf::WhileOp>(owner))
    return repeat(program, loop, values);
  return program.leave(values);
}

//===----------------------------------------------------------------------===//
// cf
//===----------------------------------------------------------------------===//

static Step branch(Program &program, Operation *op) {
  auto to = cast<cf::BranchOp>(op);
  return program.jump(to.getDest(), program.getAll(to.getDestOperands()));
}

static Step branchIf(Program &program, Operation *op) {
  auto to = cast<cf::CondBranchOp>(op);
  if (program.flag(to.getCondition()))
    return program.jump(to.getTrueDest(),
                        program.getAll(to.getTrueDestOperands()));
  return program.jump(to.getFalseDest(),
                      program.getAll(to.getFalseDestOperands()));
}

static Step branchBySwitch(Program &program, Operation *op) {
  auto to = cast<cf::SwitchOp>(op);
  APInt flag = toInt(to.getFlag().getType(), program.scalar(to.getFlag()));
  if (auto labels = to.getCaseValues()) {
    for (auto [n, label] : llvm::enumerate(labels->getValues<APInt>()))
      if (label == flag)
        return program.jump(to.getCaseDestinations()[n],
                            program.getAll(to.getCaseOperands()[n]));
  }
  return program.jump(to.getDefaultDestination(),
                      program.getAll(to.getDefaultOperands()));
}

//===----------------------------------------------------------------------===//
// func and gpu
//===----------------------------------------------------------------------===//

static Step call(Program &program, Operation *op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, cast<func::CallOp>(op).getCalleeAttr());
  if (!callee || callee.isExternal()) {
    program.error("calls a function without a body");
    return Step::Next;
  }
  // A program has one set of values.
  for (const Frame &frame : program.frames) {
    if (frame.block->getParentOp() == callee) {
      program.error("calls a function that is running; expected no recursion");
      return Step::Next;
    }
  }
  return program.enter(op, &callee.getBody().front(),
                       program.getAll(op->getOperands()));
}

static Step returnValues(Program &program, Operation *op) {
  SmallVector<Datum> values = program.getAll(op->getOperands());
  if (program.frames.size() == 1)
    return Step::Finished;
  return program.leave(values);
}

static Step endKernel(Program &, Operation *) { return Step::Finished; }
/// Orders the threads of a program, which the reference executes as one.
static Step programBarrier(Program &, Operation *) { return Step::Next; }

static Step blockId(Program &program, Operation *op) {
  auto dim = static_cast<size_t>(cast<gpu::BlockIdOp>(op).getDimension());
  program.set(op->getResult(0), fromIndex(program.block[dim]));
  return Step::Next;
}
static Step gridDim(Program &program, Operation *op) {
  auto dim = static_cast<size_t>(cast<gpu::GridDimOp>(op).getDimension());
  program.set(op->getResult(0), fromIndex(program.grid[dim]));
  return Step::Next;
}

void mlir::iris::interp::addControlFlowOps(World &world) {
  world.add("scf.for", beginFor);
  world.add("scf.if", beginIf);
  world.add("scf.while", beginWhile);
  world.add("scf.condition", condition, Point::Access);
  world.add("scf.execute_region", beginRegion);
  world.add("scf.index_switch", beginSwitch);
  world.add("scf.parallel", beginParallel);
  world.add("scf.reduce", endParallel);
  world.add("scf.forall", beginParallel);
  world.add("scf.forall.in_parallel", endParallel);
  world.add("scf.yield", yield);
  world.add("cf.br", branch);
  world.add("cf.cond_br", branchIf);
  world.add("cf.switch", branchBySwitch);
  world.add("func.call", call);
  world.add("func.return", returnValues);
  world.add("gpu.return", endKernel, Point::End);
  world.add("gpu.barrier", programBarrier);
  world.add("gpu.block_id", blockId);
  world.add("gpu.grid_dim", gridDim);
}
