// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MmaMatmul.cpp - The matmul loop of mma.sync ------------------------===//
//
// Blocks of k go through a pipeline of stages in shared memory. All warps copy
// and multiply:
//
//     for the first S - 1 blocks: copy
//     for every block i:
//       wait until block i is copied; barrier
//       copy block i + S - 1 to the stage of block i - 1
//       multiply block i
//
// The barrier makes block i visible to all warps, and comes after every warp
// has multiplied block i - 1, whose stage is free then. The region of the op
// runs right before the copies of its block.
//
// Copies of different blocks are groups of cp.async. A group is committed for
// each trip of the loop, empty or not, so that the number of groups under way
// is constant. Blocks that cp.async cannot copy are filled by loads and stores,
// at the same point.
//
//===----------------------------------------------------------------------===//

#include "MmaMatmul.h"

#include "MmaOperandEmitter.h"
#include "MmaPlan.h"
#include "Warp.h"
#include "WidenStores.h"
#include "iris/Analysis/WorkgroupMemory.h"
#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tile-lower-matmul"

using namespace mlir;
using namespace mlir::iris;

static constexpr StringLiteral kStagesName = "__iris_matmul_stages";
/// A row of banks, which the swizzle permutes.
static constexpr unsigned kStagesAlignment = 128;
/// More stages do not hide more of the latency of global memory.
static constexpr unsigned kMaxMmaStages = 4;

//===----------------------------------------------------------------------===//
// One matmul
//===----------------------------------------------------------------------===//

namespace {
/// Emits the loop of one matmul.
class MmaEmitter {
public:
  MmaEmitter(tile::MatmulOp op, const MmaPlan &plan, unsigned numStages,
             LLVM::GlobalOp memory)
      : op(op), plan(plan), numStages(numStages), a(plan, plan.a, memory),
        b(plan, plan.b, memory) {}

  /// Returns the thread's elements of the result; `init` has those of the
  /// initial value, or is null.
  Value emit(ThreadBuilder &t, Value init);

private:
  using Results = SmallVector<Value>;

  /// Runs the region for block `number` and starts its copies to `stage`.
  void emitBlock(ThreadBuilder &t, Value number, Value stage);
  /// The same if there is such a block.
  void emitBlockIf(ThreadBuilder &t, Value number, Value count, Value stage);
  void emitFirstBlocks(ThreadBuilder &t, Value count);
  Results emitBlocks(ThreadBuilder &t, Value count, Results results);
  Results emitMultiply(ThreadBuilder &t, Results results, Value stage);
  Results emitFmas(ThreadBuilder &t, Results results, Value stage);
  /// One `mma.sync`, which updates `results`, four of them.
  void emitMma(ThreadBuilder &t, ArrayRef<Value> aRegisters,
               ArrayRef<Value> bRegisters, MutableArrayRef<Value> results);
  Value emitNextStage(ThreadBuilder &t, Value stage);

  tile::MatmulOp op;
  const MmaPlan &plan;
  unsigned numStages;
  MmaOperandEmitter a, b;
};
} // namespace

void MmaEmitter::emitBlock(ThreadBuilder &t, Value number, Value stage) {
  KStepStarts places = emitBlockRegion(t.b, op, number);
  Value before = t.mul(number, plan.block);
  Value left = t.b.createOrFold<arith::SubIOp>(t.loc, op.getK(), before);
  a.emitCopy(t, places.a, left, stage);
  b.emitCopy(t, places.b, left, stage);
}

void MmaEmitter::emitBlockIf(ThreadBuilder &t, Value number, Value count,
                             Value stage) {
  Value exists = t.b.createOrFold<arith::CmpIOp>(
      t.loc, arith::CmpIPredicate::slt, number, count);
  emitGuarded(t, exists,
              [&](ThreadBuilder &inner) { emitBlock(inner, number, stage); });
  NVVM::CpAsyncCommitGroupOp::create(t.b, t.loc);
}

Value MmaEmitter::emitNextStage(ThreadBuilder &t, Value stage) {
  Value next = t.add(stage, t.i32(plan.getStageBytes()));
  Value isEnd =
      arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, next,
                            t.i32(numStages * plan.getStageBytes()));
  return arith::SelectOp::create(t.b, t.loc, isEnd, t.i32(0), next);
}

void MmaEmitter::emitFirstBlocks(ThreadBuilder &t, Value count) {
  // A loop, so that there is one copy of the region here.
  scf::ForOp::create(
      t.b, t.loc, t.index(0), t.index(numStages - 1), t.index(1),
      ValueRange(t.i32(0)),
      [&](OpBuilder &builder, Location loc, Value number, ValueRange carried) {
        ThreadBuilder body(builder, loc, t.kernel);
        emitBlockIf(body, number, count, carried[0]);
        Value next = body.add(carried[0], body.i32(plan.getStageBytes()));
        scf::YieldOp::create(builder, loc, next);
      });
}

MmaEmitter::Results MmaEmitter::emitBlocks(ThreadBuilder &t, Value count,
                                           Results results) {
  size_t numResults = results.size();
  // The stage to multiply, and the stage to copy to.
  results.push_back(t.i32(0));
  results.push_back(t.i32((numStages - 1) * plan.getStageBytes()));
  auto loop = scf::ForOp::create(
      t.b, t.loc, t.index(0), count, t.index(1), results,
      [&](OpBuilder &builder, Location loc, Value number, ValueRange carried) {
        ThreadBuilder body(builder, loc, t.kernel);
        Value stage = carried[numResults], free = carried[numResults + 1];
        if (numStages > 1)
          NVVM::CpAsyncWaitGroupOp::create(builder, loc, numStages - 2);
        body.barrier();
        emitBlockIf(body, body.add(number, body.index(numStages - 1)), count,
                    free);
        if (numStages == 1) {
          NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
          body.barrier();
        }
        Results next =
            emitMultiply(body, Results(carried.take_front(numResults)), stage);
        next.push_back(emitNextStage(body, stage));
        next.push_back(emitNextStage(body, free));
        scf::YieldOp::create(builder, loc, next);
      });
  return Results(loop.getResults().take_front(numResults));
}

void MmaEmitter::emitMma(ThreadBuilder &t, ArrayRef<Value> aRegisters,
                         ArrayRef<Value> bRegisters,
                         MutableArrayRef<Value> results) {
  Type operandType = t.b.getI32Type();
  if (plan.aElement.isF16())
    operandType = VectorType::get({2}, t.b.getF16Type());
  SmallVector<Value> operands;
  for (ArrayRef<Value> registers : {aRegisters, bRegisters})
    for (Value value : registers)
      operands.push_back(
          t.b.createOrFold<LLVM::BitcastOp>(t.loc, operandType, value));
  llvm::append_range(operands, results);
  SmallVector<Type> types(results.size(), plan.resultElement);
  auto type = LLVM::LLVMStructType::getLiteral(t.b.getContext(), types);
  Value sum = LLVM::CallIntrinsicOp::create(
                  t.b, t.loc, type, t.b.getStringAttr(plan.intrinsic), operands)
                  .getResult(0);
  for (auto [i, result] : llvm::enumerate(results))
    result =
        LLVM::ExtractValueOp::create(t.b, t.loc, sum, static_cast<int64_t>(i));
}

MmaEmitter::Results MmaEmitter::emitMultiply(ThreadBuilder &t, Results results,
                                             Value stage) {
  if (!plan.usesTensorCores())
    return emitFmas(t, std::move(results), stage);
  for (unsigned step = 0; step < plan.getNumSteps(); ++step) {
    SmallVector<SmallVector<Value>> rows = a.emitFragments(t, step, stage),
                                    columns = b.emitFragments(t, step, stage);
    MutableArrayRef<Value> rest = results;
    for (ArrayRef<Value> row : rows)
      for (ArrayRef<Value> column : columns)
        for (ArrayRef<Value> half :
             {column.take_front(2), column.drop_front(2)}) {
          emitMma(t, row, half, rest.take_front(4));
          rest = rest.drop_front(4);
        }
  }
  return results;
}

MmaEmitter::Results MmaEmitter::emitFmas(ThreadBuilder &t, Results results,
                                         Value stage) {
  auto loop = scf::ForOp::create(
      t.b, t.loc, t.i32(0), t.i32(plan.block / 4), t.i32(1), results,
      [&](OpBuilder &builder, Location loc, Value run, ValueRange carried) {
        ThreadBuilder body(builder, loc, t.kernel);
        SmallVector<SmallVector<Value>> rows = a.emitRuns(body, run, stage),
                                        columns = b.emitRuns(body, run, stage);
        Results sums(carried);
        for (auto [i, row] : llvm::enumerate(rows))
          for (auto [j, column] : llvm::enumerate(columns)) {
            // Rows come in pairs, columns in fours: bit 0 of the column, the
            // row and bit 1 of the column count the results of a fragment.
            unsigned fragment = i / 2 * plan.getColumnFragments() + j / 4;
            Value &sum = sums[fragment * kFragmentResults + j % 4 / 2 * 4 +
                              i % 2 * 2 + j % 2];
            for (auto [x, y] : llvm::zip_equal(row, column))
              sum = LLVM::FMAOp::create(builder, loc, x, y, sum);
          }
        scf::YieldOp::create(builder, loc, sums);
      });
  return Results(loop.getResults());
}

Value MmaEmitter::emit(ThreadBuilder &t, Value init) {
  Results results;
  if (init)
    results = t.unpack(init);
  else
    results.assign(plan.getNumResults(),
                   arith::ConstantOp::create(
                       t.b, t.loc, t.b.getZeroAttr(plan.resultElement)));
  // ceil(k / block), for any k.
  Value positive =
      t.b.createOrFold<arith::MaxSIOp>(t.loc, op.getK(), t.index(0));
  Value count = t.b.createOrFold<arith::DivUIOp>(
      t.loc, t.add(positive, t.index(plan.block - 1)), t.index(plan.block));
  // The stages may be those of a matmul before, which other warps still read.
  if (numStages > 1) {
    t.barrier();
    emitFirstBlocks(t, count);
  }
  return t.pack(emitBlocks(t, count, std::move(results)));
}

//===----------------------------------------------------------------------===//
// All matmuls of a kernel
//===----------------------------------------------------------------------===//

/// Stages of a plan that fit in `bytes`; 0 if none do.
static unsigned getNumStages(const MmaPlan &plan, uint64_t bytes) {
  return std::min<uint64_t>(kMaxMmaStages, bytes / plan.getStageBytes());
}

static LLVM::GlobalOp getStagesGlobal(FunctionOpInterface function) {
  Operation *table = SymbolTable::getNearestSymbolTable(function);
  if (auto global = dyn_cast_or_null<LLVM::GlobalOp>(
          SymbolTable::lookupSymbolIn(table, kStagesName)))
    return global;
  // Dynamic: its size is the launch's.
  OpBuilder builder(function);
  auto global = LLVM::GlobalOp::create(
      builder, function.getLoc(),
      LLVM::LLVMArrayType::get(builder.getI8Type(), 0), /*isConstant=*/false,
      LLVM::Linkage::External, kStagesName, Attribute(), kStagesAlignment,
      kSharedSpace);
  return global;
}

static void remarkMisses(tile::MatmulOp op, const MmaPlan &plan) {
  if (!plan.usesTensorCores())
    remarkMissed(op, "multiplies f32 exactly, without tensor cores; expected "
                     "precision(tf32)");
  for (auto [name, operand] :
       {std::pair<StringRef, const MmaOperand *>("a", &plan.a), {"b", &plan.b}})
    if (!operand->hasContiguousLines)
      remarkMissed(
          op, (name + " has no stride 1 along k, dimension " +
               Twine(operand->kDim) +
               (operand->elementBytes == 1 ? ""
                                           : ", or along its other dimension") +
               ": threads copy it to shared memory, element by "
               "element")
                  .str());
}

namespace {
class MmaMatmulTarget : public MatmulTarget {
public:
  explicit MmaMatmulTarget(const ChipInfo &chip) : chip(chip) {}

  FailureOr<tile::LinearAttr>
  getResultLayout(tile::MatmulOp op, unsigned numWarps) const override {
    FailureOr<MmaPlan> plan = planMma(op, chip, numWarps);
    if (failed(plan))
      return failure();
    return iris::getResultLayout(op.getContext(), *plan);
  }

  /// Stages are dynamic shared memory.
  uint64_t getWorkgroupBytes(tile::MatmulOp, unsigned) const override {
    return 0;
  }

  FailureOr<Value> emit(tile::MatmulOp op, ThreadBuilder &,
                        Value) const override {
    return op.emitOpError("is lowered on its own; expected its whole kernel to "
                          "be, which gives its stages dynamic shared memory");
  }

  bool lowersKernels() const override { return true; }
  LogicalResult lowerKernel(FunctionOpInterface function,
                            const KernelInfo &given,
                            uint64_t scratchBytes) const override;

private:
  const ChipInfo &chip;
};
} // namespace

LogicalResult MmaMatmulTarget::lowerKernel(FunctionOpInterface function,
                                           const KernelInfo &given,
                                           uint64_t scratchBytes) const {
  SmallVector<tile::MatmulOp> ops;
  function->walk([&](tile::MatmulOp op) { ops.push_back(op); });
  KernelInfo kernel = given;
  kernel.warpSize = chip.waveSize;
  emitThreadNumbers(function, kernel);
  // Words that threads share come on top of the scratch memory.
  constexpr uint64_t words = 256;
  uint64_t room = chip.maxSharedBytes - words - scratchBytes -
                  getWorkgroupAttributionBytes(function);
  uint64_t bytes = 0;
  LLVM::GlobalOp memory = getStagesGlobal(function);
  for (tile::MatmulOp op : ops) {
    FailureOr<MmaPlan> plan = planMma(op, chip, kernel.numWarps);
    if (failed(plan))
      return failure();
    remarkMisses(op, *plan);
    unsigned numStages = getNumStages(*plan, room);
    LDBG() << op.getResult().getType() << ": "
           << (plan->usesTensorCores() ? StringRef(plan->intrinsic) : "FMAs")
           << ", " << plan->warpRows << "x" << plan->warpColumns << " warps, "
           << numStages << " stages of " << plan->getStageBytes()
           << " bytes; a by "
           << (plan->a.hasContiguousLines ? "cp.async" : "threads") << ", b by "
           << (plan->b.hasContiguousLines ? "cp.async" : "threads");
    if (numStages == 0)
      return op.emitOpError("needs ")
             << plan->getStageBytes()
             << " bytes of shared memory for a k-block of " << op.getNumRows()
             << " rows and " << op.getNumColumns()
             << " columns; expected at most " << room;
    bytes = std::max<uint64_t>(bytes, numStages * plan->getStageBytes());
    OpBuilder builder(op);
    ThreadBuilder thread(builder, op.getLoc(), kernel);
    RankedTensorType type = op.getResult().getType();
    auto cast = [&](Type to, Value value) {
      return UnrealizedConversionCastOp::create(builder, op.getLoc(), to, value)
          .getResult(0);
    };
    Value init =
        op.getInit() ? cast(getThreadType(type), op.getInit()) : Value();
    Value result = MmaEmitter(op, *plan, numStages, memory).emit(thread, init);
    op.getResult().replaceAllUsesWith(cast(type, result));
    op.erase();
  }
  function->setAttr(
      kDynamicSharedBytesAttr,
      IntegerAttr::get(IntegerType::get(function.getContext(), 64),
                       static_cast<int64_t>(bytes)));
  widenStores(function, kernel.lane);
  return success();
}

std::unique_ptr<MatmulTarget>
mlir::iris::createMmaMatmulTarget(const ChipInfo &chip) {
  return std::make_unique<MmaMatmulTarget>(chip);
}
