// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ROCDLMatmulTarget.cpp - The matmul loop on AMD GPUs ----------------===//
//
// K-blocks go through a pipeline: while the matrix instructions multiply one
// block, the next one is loaded from global memory to registers.
//
//     load 0; store 0; barrier
//     for every further block i:
//       load i; multiply i - 1; [barrier;] store i; barrier
//     multiply the last block
//
// With two stages of LDS the barrier in brackets is not needed. Where loads can
// go straight to LDS, "store" is a wait for them. The region of the op runs
// right before the loads of its block.
//
// Blocks that reach beyond the end of k, and blocks of buffers whose rows are
// not a multiple of a chunk apart, are filled element by element. If the region
// names no buffers, they come after the pipeline, in a loop of their own;
// otherwise each block of the pipeline chooses.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/IrisToROCDL.h"

#include "MatmulPlan.h"
#include "OperandTileEmitter.h"
#include "WaitCounts.h"
#include "iris/Conversion/EmitHelpers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tile-lower-matmul"

using namespace mlir;
using namespace mlir::iris;

/// The alias scopes of one matmul. They have no names: the translation to LLVM
/// IR creates duplicate names if two modules share a context, and refers to
/// names that no longer exist.
static ArrayAttr makeDirectScopes(MLIRContext *context) {
  auto domain = LLVM::AliasScopeDomainAttr::get(context, StringAttr());
  auto scope = LLVM::AliasScopeAttr::get(domain, StringAttr());
  return ArrayAttr::get(context, {scope});
}

namespace {

/// Emits the loop of one matmul.
class MatmulEmitter {
public:
  MatmulEmitter(tile::MatmulOp op, const TargetInfo &target,
                const MatmulPlan &plan, ArrayAttr directScopes)
      : op(op), target(target), plan(plan),
        a(target, plan, Side::A, directScopes),
        b(target, plan, Side::B, directScopes) {}

  Value emit(ThreadBuilder &t, Value init);

private:
  /// A block in flight: its location, whether it was loaded (i1; null if
  /// always), and the loaded values.
  struct Block {
    KStepStarts starts;
    Value windowA, windowB;
    Value left;
    Value isLoaded;
    SmallVector<Value> loadedA, loadedB;
  };

  /// The values carried from step to step: sums and, if blocks are consecutive
  /// in the buffers, the windows of the last block.
  struct Progress {
    SmallVector<Value> sums, windows;
  };
  SmallVector<Value> flatten(const Progress &progress) const {
    return llvm::to_vector(
        llvm::concat<const Value>(progress.sums, progress.windows));
  }
  /// Takes from `values` as many sums and windows as `like` has.
  static Progress unflatten(ValueRange values, const Progress &like) {
    size_t sums = like.sums.size();
    return {values.take_front(sums), values.slice(sums, like.windows.size())};
  }

  /// `stage` is the destination of direct loads; `before` are the windows of
  /// the previous block, if any.
  Block emitLoad(ThreadBuilder &t, Value number, bool isChecked, Value stage,
                 ArrayRef<Value> before);
  void emitStore(ThreadBuilder &t, const Block &block, Value stage);
  /// Copies a block to a stage element by element.
  void fill(ThreadBuilder &t, const Block &block, Value stage);
  SmallVector<Value> emitMultiply(ThreadBuilder &t, ValueRange accumulators,
                                  Value stage);
  Progress emitStep(ThreadBuilder &t, Value number, bool isChecked, Value stage,
                    Value next, const Progress &before);
  SmallVector<Value> emitSteps(ThreadBuilder &t, Value count, bool isChecked,
                               const Progress &start);
  SmallVector<Value> emitPairsOfSteps(ThreadBuilder &t, Value count,
                                      bool isChecked, const Progress &start);
  SmallVector<Value> emitPipeline(ThreadBuilder &t, Value count, bool isChecked,
                                  ValueRange accumulators);
  SmallVector<Value> emitSlowBlocks(ThreadBuilder &t, Value first, Value end,
                                    ValueRange accumulators);
  /// The number of leading blocks that need no check.
  Value emitWholeBlocks(ThreadBuilder &t);
  /// Number of values of k from block `number` on.
  Value emitLeft(ThreadBuilder &t, Value number);
  Value emitBlockCondition(ThreadBuilder &t, const Block &block);
  void emitBarrier(ThreadBuilder &t) {
    ImplicitLocOpBuilder builder(t.loc, t.b);
    target.emitWorkgroupBarrier(builder);
  }
  Value emitInstruction(ThreadBuilder &t, Value first, Value second,
                        Value accumulator);
  VectorType getAccumulatorType() {
    return VectorType::get({plan.instruction.accumulators},
                           op.getResult().getType().getElementType());
  }

  tile::MatmulOp op;
  const TargetInfo &target;
  const MatmulPlan &plan;
  OperandTileEmitter a, b;
};

} // namespace

//===----------------------------------------------------------------------===//
// One block
//===----------------------------------------------------------------------===//

static void emitEither(ThreadBuilder &t, Value condition,
                       function_ref<void(ThreadBuilder &)> first,
                       function_ref<void(ThreadBuilder &)> second) {
  auto branch = [&](function_ref<void(ThreadBuilder &)> body) {
    return [&t, body](OpBuilder &builder, Location loc) {
      ThreadBuilder inner(builder, loc, t.kernel);
      body(inner);
      scf::YieldOp::create(builder, loc);
    };
  };
  scf::IfOp::create(t.b, t.loc, condition, branch(first), branch(second));
}

/// Returns the kernel of `t` with a lane number that is opaque to LLVM. Values
/// derived from it are recomputed at this point: they are neither reused from
/// earlier code nor, because the assembly has side effects, hoisted out of
/// enclosing loops. This saves the registers that would hold them.
static KernelInfo hideLane(ThreadBuilder &t) {
  KernelInfo kernel = t.kernel;
  kernel.lane =
      LLVM::InlineAsmOp::create(t.b, t.loc, t.b.getI32Type(), t.kernel.lane, "",
                                "=v,0", /*has_side_effects=*/true,
                                /*is_align_stack=*/false,
                                LLVM::tailcallkind::TailCallKind::None,
                                LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  return kernel;
}

Value MatmulEmitter::emitLeft(ThreadBuilder &t, Value number) {
  Value before = t.mul(number, plan.block);
  return t.b.createOrFold<arith::SubIOp>(t.loc, op.getK(), before);
}

Value MatmulEmitter::emitBlockCondition(ThreadBuilder &t, const Block &block) {
  Value canA = a.emitCanLoad(t, block.starts.a);
  Value canB = b.emitCanLoad(t, block.starts.b);
  if (!canA || !canB)
    return arith::ConstantIntOp::create(t.b, t.loc, 0, 1);
  Value result = emitAnd(t, canA, canB);
  for (Value extent : {block.left, a.emitExtent(t, block.starts.a),
                       b.emitExtent(t, block.starts.b)})
    result = emitAnd(
        t, result,
        t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::sge,
                                        extent, t.index(plan.block)));
  return result;
}

MatmulEmitter::Block MatmulEmitter::emitLoad(ThreadBuilder &t, Value number,
                                             bool isChecked, Value stage,
                                             ArrayRef<Value> before) {
  Block block;
  block.starts = emitBlockRegion(t.b, op, number);
  const auto &[startA, startB] = block.starts;
  if (before.empty()) {
    block.windowA = a.emitWindow(t, startA);
    block.windowB = b.emitWindow(t, startB);
  } else {
    block.windowA = a.emitNextWindow(t, startA, before[0]);
    block.windowB = b.emitNextWindow(t, startB, before[1]);
  }
  auto loadDirectly = [&](ThreadBuilder &inner) {
    a.emitDirectLoads(inner, block.starts.a, block.windowA, stage);
    b.emitDirectLoads(inner, block.starts.b, block.windowB, stage);
  };
  auto load = [&](ThreadBuilder &inner) {
    SmallVector<Value> loaded =
        a.emitLoads(inner, block.starts.a, block.windowA);
    llvm::append_range(loaded,
                       b.emitLoads(inner, block.starts.b, block.windowB));
    return loaded;
  };
  size_t countA = a.getLoadTypes(t.b.getContext()).size();
  auto setLoaded = [&](ValueRange loaded) {
    block.loadedA = loaded.take_front(countA);
    block.loadedB = loaded.drop_front(countA);
  };
  if (!isChecked) {
    if (plan.isDirect())
      loadDirectly(t);
    else
      setLoaded(load(t));
    return block;
  }
  block.left = emitLeft(t, number);
  block.isLoaded = emitBlockCondition(t, block);
  if (plan.isDirect()) {
    emitEither(t, block.isLoaded, loadDirectly,
               [&](ThreadBuilder &inner) { fill(inner, block, stage); });
    return block;
  }
  SmallVector<Type> types = a.getLoadTypes(t.b.getContext());
  llvm::append_range(types, b.getLoadTypes(t.b.getContext()));
  auto choice = scf::IfOp::create(
      t.b, t.loc, block.isLoaded,
      [&](OpBuilder &builder, Location loc) {
        ThreadBuilder inner(builder, loc, t.kernel);
        scf::YieldOp::create(builder, loc, load(inner));
      },
      [&](OpBuilder &builder, Location loc) {
        SmallVector<Value> nothing = llvm::map_to_vector(types, [&](Type type) {
          return LLVM::PoisonOp::create(builder, loc, type).getResult();
        });
        scf::YieldOp::create(builder, loc, nothing);
      });
  setLoaded(choice.getResults());
  return block;
}

void MatmulEmitter::fill(ThreadBuilder &t, const Block &block, Value stage) {
  KernelInfo kernel = hideLane(t);
  ThreadBuilder own(t.b, t.loc, kernel);
  a.emitElementCopy(own, block.starts.a, block.left, stage);
  b.emitElementCopy(own, block.starts.b, block.left, stage);
}

void MatmulEmitter::emitStore(ThreadBuilder &t, const Block &block,
                              Value stage) {
  // Prevents the scheduler from moving waits for loads up between the matrix
  // instructions, and matrix instructions down after the waits.
  ROCDL::SchedBarrier::create(t.b, t.loc, 0);
  if (plan.isDirect()) {
    ROCDL::SWaitcntOp::create(t.b, t.loc, kWaitForMemoryGFX9);
    return;
  }
  auto storeLoaded = [&](ThreadBuilder &inner) {
    a.emitStores(inner, block.loadedA, stage);
    b.emitStores(inner, block.loadedB, stage);
  };
  if (!block.isLoaded)
    return storeLoaded(t);
  emitEither(t, block.isLoaded, storeLoaded,
             [&](ThreadBuilder &inner) { fill(inner, block, stage); });
}

Value MatmulEmitter::emitInstruction(ThreadBuilder &t, Value first,
                                     Value second, Value accumulator) {
  const MatrixInstruction &instruction = plan.instruction;
  auto constant = [&](int64_t value, unsigned width) -> Value {
    return arith::ConstantIntOp::create(t.b, t.loc, value, width);
  };
  SmallVector<Value> operands;
  for (char operand : instruction.operands)
    operands.push_back(operand == 'a'   ? first
                       : operand == 'b' ? second
                       : operand == 'c' ? accumulator
                       : operand == 'w' ? constant(0, 32)
                       : operand == 'h' ? constant(0, 16)
                                        : constant(operand == '1', 1));
  return LLVM::CallIntrinsicOp::create(t.b, t.loc, accumulator.getType(),
                                       t.b.getStringAttr(instruction.intrinsic),
                                       operands)
      .getResult(0);
}

SmallVector<Value> MatmulEmitter::emitMultiply(ThreadBuilder &t,
                                               ValueRange accumulators,
                                               Value stage) {
  SmallVector<Value> result(accumulators);
  unsigned rows = plan.a.map.getNumFragments();
  unsigned columns = plan.b.map.getNumFragments();
  for (unsigned step = 0; step < plan.numSteps; ++step) {
    SmallVector<SmallVector<Value>> operandsA = a.emitOperands(t, step, stage),
                                    operandsB = b.emitOperands(t, step, stage);
    for (size_t instruction = 0; instruction < operandsA.front().size();
         ++instruction)
      for (unsigned i = 0; i < rows; ++i)
        for (unsigned j = 0; j < columns; ++j) {
          Value &sum = result[i * columns + j];
          sum = emitInstruction(t, operandsB[j][instruction],
                                operandsA[i][instruction], sum);
        }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Many blocks
//===----------------------------------------------------------------------===//

Value MatmulEmitter::emitWholeBlocks(ThreadBuilder &t) {
  OperandTileStart startA{op.getA(), SmallVector<Value>(op.getAOffsets())};
  OperandTileStart startB{op.getB(), SmallVector<Value>(op.getBOffsets())};
  Value canA = a.emitCanLoad(t, startA), canB = b.emitCanLoad(t, startB);
  if (!canA || !canB)
    return t.index(0);
  Value k = op.getK();
  for (Value extent : {a.emitExtent(t, startA), b.emitExtent(t, startB)})
    k = t.b.createOrFold<arith::MinSIOp>(t.loc, k, extent);
  k = t.b.createOrFold<arith::MaxSIOp>(t.loc, k, t.index(0));
  Value blocks =
      t.b.createOrFold<arith::DivUIOp>(t.loc, k, t.index(plan.block));
  return arith::SelectOp::create(t.b, t.loc, emitAnd(t, canA, canB), blocks,
                                 t.index(0));
}

/// Loads block `number` to stage `next` while the block at `stage` is
/// multiplied.
MatmulEmitter::Progress MatmulEmitter::emitStep(ThreadBuilder &t, Value number,
                                                bool isChecked, Value stage,
                                                Value next,
                                                const Progress &before) {
  Block block = emitLoad(t, number, isChecked, next, before.windows);
  // The scheduler would otherwise delay the loads to save registers.
  ROCDL::SchedBarrier::create(t.b, t.loc, 0);
  Progress result;
  result.sums = emitMultiply(t, before.sums, stage);
  if (!before.windows.empty())
    result.windows = {block.windowA, block.windowB};
  if (plan.stages == 1)
    emitBarrier(t);
  emitStore(t, block, next);
  emitBarrier(t);
  return result;
}

/// Steps 1 to `count` - 1, and the matmul of the last block. The stage is a
/// loop-carried value.
SmallVector<Value> MatmulEmitter::emitSteps(ThreadBuilder &t, Value count,
                                            bool isChecked,
                                            const Progress &start) {
  bool twoStages = plan.stages == 2;
  SmallVector<Value> carried = flatten(start);
  if (twoStages)
    carried.push_back(t.i32(0));
  auto loop = scf::ForOp::create(
      t.b, t.loc, t.index(1), count, t.index(1), carried,
      [&](OpBuilder &builder, Location loc, Value number, ValueRange values) {
        ThreadBuilder body(builder, loc, t.kernel);
        Value stage, next;
        if (twoStages) {
          stage = values.back();
          next = arith::SubIOp::create(builder, loc,
                                       body.i32(plan.getStageBytes()), stage);
        }
        SmallVector<Value> results = flatten(emitStep(
            body, number, isChecked, stage, next, unflatten(values, start)));
        if (twoStages)
          results.push_back(next);
        scf::YieldOp::create(builder, loc, results);
      });
  ValueRange values = loop.getResults();
  return emitMultiply(t, unflatten(values, start).sums,
                      twoStages ? values.back() : Value());
}

/// As above, two steps per iteration: stages are immediate offsets.
SmallVector<Value> MatmulEmitter::emitPairsOfSteps(ThreadBuilder &t,
                                                   Value count, bool isChecked,
                                                   const Progress &start) {
  Value last = t.b.createOrFold<arith::SubIOp>(t.loc, count, t.index(1));
  auto loop = scf::ForOp::create(
      t.b, t.loc, t.index(1), last, t.index(2), flatten(start),
      [&](OpBuilder &builder, Location loc, Value number, ValueRange values) {
        ThreadBuilder body(builder, loc, t.kernel);
        Value even = body.i32(0), odd = body.i32(plan.getStageBytes());
        Progress progress = emitStep(body, number, isChecked, even, odd,
                                     unflatten(values, start));
        progress = emitStep(body, body.add(number, body.index(1)), isChecked,
                            odd, even, progress);
        scf::YieldOp::create(builder, loc, flatten(progress));
      });
  Progress progress = unflatten(loop.getResults(), start);
  Value parity = t.b.createOrFold<arith::AndIOp>(t.loc, last, t.index(1));
  Value isLeft = t.b.createOrFold<arith::CmpIOp>(
      t.loc, arith::CmpIPredicate::ne, parity, t.index(0));
  auto tail = scf::IfOp::create(
      t.b, t.loc, isLeft,
      [&](OpBuilder &builder, Location loc) {
        ThreadBuilder inner(builder, loc, t.kernel);
        Value even = inner.i32(0), odd = inner.i32(plan.getStageBytes());
        Progress done = emitStep(inner, last, isChecked, even, odd, progress);
        scf::YieldOp::create(builder, loc, emitMultiply(inner, done.sums, odd));
      },
      [&](OpBuilder &builder, Location loc) {
        ThreadBuilder inner(builder, loc, t.kernel);
        scf::YieldOp::create(builder, loc,
                             emitMultiply(inner, progress.sums, inner.i32(0)));
      });
  return SmallVector<Value>(tail.getResults());
}

SmallVector<Value> MatmulEmitter::emitPipeline(ThreadBuilder &t, Value count,
                                               bool isChecked,
                                               ValueRange accumulators) {
  bool twoStages = plan.stages == 2;
  // Not used if the region would be duplicated, or if large results leave no
  // spare registers. On waves of 32, matrix instructions that reuse registers
  // so soon would stall.
  bool inPairs = twoStages && op.getBody().empty() && plan.warpSize == 64 &&
                 accumulators.size() * plan.instruction.accumulators <= 64;
  auto build = [&](OpBuilder &builder, Location loc) {
    ThreadBuilder inner(builder, loc, t.kernel);
    Value stage = twoStages ? inner.i32(0) : Value();
    // Earlier users of the memory must be done with it.
    if (plan.isDirect())
      emitBarrier(inner);
    Block first = emitLoad(inner, inner.index(0), isChecked, stage, {});
    if (!plan.isDirect())
      emitBarrier(inner);
    emitStore(inner, first, stage);
    emitBarrier(inner);
    Progress start{SmallVector<Value>(accumulators), {}};
    if (!yieldsOperandTiles(op))
      start.windows = {first.windowA, first.windowB};
    scf::YieldOp::create(builder, loc,
                         inPairs
                             ? emitPairsOfSteps(inner, count, isChecked, start)
                             : emitSteps(inner, count, isChecked, start));
  };
  Value isAny = t.b.createOrFold<arith::CmpIOp>(
      t.loc, arith::CmpIPredicate::sgt, count, t.index(0));
  auto choice = scf::IfOp::create(
      t.b, t.loc, isAny, build, [&](OpBuilder &builder, Location loc) {
        scf::YieldOp::create(builder, loc, accumulators);
      });
  return SmallVector<Value>(choice.getResults());
}

SmallVector<Value> MatmulEmitter::emitSlowBlocks(ThreadBuilder &t, Value first,
                                                 Value end,
                                                 ValueRange accumulators) {
  auto loop = scf::ForOp::create(
      t.b, t.loc, first, end, t.index(1), accumulators,
      [&](OpBuilder &builder, Location loc, Value number, ValueRange values) {
        ThreadBuilder body(builder, loc, t.kernel);
        Value noStage;
        KStepStarts starts = emitBlockRegion(builder, op, number);
        Value left = emitLeft(body, number);
        emitBarrier(body);
        a.emitElementCopy(body, starts.a, left, noStage);
        b.emitElementCopy(body, starts.b, left, noStage);
        emitBarrier(body);
        scf::YieldOp::create(builder, loc, emitMultiply(body, values, noStage));
      });
  return SmallVector<Value>(loop.getResults());
}

Value MatmulEmitter::emit(ThreadBuilder &t, Value init) {
  VectorType type = getAccumulatorType();
  unsigned count = plan.a.map.getNumFragments() * plan.b.map.getNumFragments();
  unsigned size = type.getDimSize(0);
  SmallVector<Value> accumulators;
  if (init) {
    SmallVector<Value> elements = t.unpack(init);
    for (unsigned i = 0; i < count; ++i)
      accumulators.push_back(t.pack(ArrayRef(elements).slice(i * size, size)));
  } else {
    Value zero = arith::ConstantOp::create(
        t.b, t.loc, cast<TypedAttr>(t.b.getZeroAttr(type)));
    accumulators.assign(count, zero);
  }

  // ceil(k / block), for any k.
  Value positive =
      t.b.createOrFold<arith::MaxSIOp>(t.loc, op.getK(), t.index(0));
  Value blocks = t.b.createOrFold<arith::DivUIOp>(
      t.loc, t.add(positive, t.index(plan.block - 1)), t.index(plan.block));
  KernelInfo kernel = hideLane(t);
  ThreadBuilder pipeline(t.b, t.loc, kernel);
  if (readsWorkgroupMemory(op)) {
    accumulators = emitSlowBlocks(t, t.index(0), blocks, accumulators);
  } else if (yieldsOperandTiles(op)) {
    accumulators =
        emitPipeline(pipeline, blocks, /*isChecked=*/true, accumulators);
  } else {
    Value whole = emitWholeBlocks(t);
    accumulators =
        emitPipeline(pipeline, whole, /*isChecked=*/false, accumulators);
    accumulators = emitSlowBlocks(t, whole, blocks, accumulators);
  }

  SmallVector<Value> elements;
  for (Value accumulator : accumulators)
    llvm::append_range(elements, t.unpack(accumulator));
  return t.pack(elements);
}

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

static void remarkMisses(tile::MatmulOp op, const MatmulPlan &plan) {
  constexpr StringLiteral slow =
      ": threads copy it to workgroup memory, element by element";
  if (readsWorkgroupMemory(op))
    return remarkMissed(op, ("an operand is workgroup memory; expected a view "
                             "of an argument of the kernel" +
                             slow)
                                .str());
  for (auto [name, fill] : {std::pair("a", &plan.a.fill), {"b", &plan.b.fill}})
    if (!fill->hasNeighbours)
      remarkMissed(op, (name +
                        Twine(" has no dimension of stride 1; expected "
                              "one") +
                        slow)
                           .str());
    else if (!fill->hasWideLoads(plan.elementBytes))
      remarkMissed(op, (name +
                        Twine(" is loaded by less than 4 bytes a thread; "
                              "expected a larger tile, or fewer waves") +
                        slow)
                           .str());
}

namespace {
class ROCDLMatmulTarget : public MatmulTarget {
public:
  ROCDLMatmulTarget(const ChipInfo &chip, std::unique_ptr<TargetInfo> target)
      : chip(chip), target(std::move(target)) {}

  FailureOr<tile::LinearAttr>
  getResultLayout(tile::MatmulOp op, unsigned numWarps) const override {
    FailureOr<MatmulPlan> plan = getPlan(op, numWarps);
    if (failed(plan))
      return failure();
    return iris::getResultLayout(op.getContext(), *plan);
  }

  uint64_t getWorkgroupBytes(tile::MatmulOp op,
                             unsigned numWarps) const override {
    FailureOr<MatmulPlan> plan = getPlan(op, numWarps);
    assert(succeeded(plan) && "the result has a layout");
    return plan->stages * plan->getStageBytes();
  }

  FailureOr<Value> emit(tile::MatmulOp op, ThreadBuilder &t,
                        Value init) const override {
    FailureOr<MatmulPlan> plan = getPlan(op, t.kernel.numWarps);
    if (failed(plan))
      return failure();
    remarkMisses(op, *plan);
    auto describeCopy = [&](const OperandTileCopy &copy) -> StringRef {
      if (plan->isDirect())
        return "loads to LDS";
      return copy.hasWideLoads(plan->elementBytes) ? "loads to registers"
                                                   : "single elements";
    };
    LDBG() << op.getResult().getType() << ": " << plan->instruction.intrinsic
           << ", " << plan->stages << " stages of " << plan->getStageBytes()
           << " bytes; a by " << describeCopy(plan->a.fill) << ", b by "
           << describeCopy(plan->b.fill);
    return MatmulEmitter(op, *target, *plan, makeDirectScopes(op.getContext()))
        .emit(t, init);
  }

private:
  FailureOr<MatmulPlan> getPlan(tile::MatmulOp op, unsigned numWarps) const {
    return planMatmul(op, chip, numWarps);
  }

  const ChipInfo &chip;
  std::unique_ptr<TargetInfo> target;
};
} // namespace

std::unique_ptr<MatmulTarget>
mlir::iris::createROCDLMatmulTarget(StringRef name) {
  const ChipInfo *chip = findChip(name);
  if (!chip || !chip->isAMD())
    return nullptr;
  return std::make_unique<ROCDLMatmulTarget>(*chip,
                                             createROCDLTargetInfo(name));
}
