// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WgmmaConsumers.cpp - Consumer warps on sm_90a ----------------------===//

#include "FmaStage.h"
#include "WgmmaLowering.h"
#include "iris/Analysis/TileLayout.h"
#include "iris/Conversion/BufferView.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

using LocBuilder = WgmmaLowering::LocBuilder;

Value WgmmaLowering::emitStages(LocBuilder &b, tile::MatmulOp op,
                                const WgmmaPlan &plan, Value numStages,
                                Value init) {
  Type i64 = b.getI64Type();
  // The warpgroup's rows and columns of the tile.
  Value group = arith::ShRUIOp::create(
      b, warp, constant(b, llvm::Log2_64(kWarpgroupWarps)));
  Value groupM = arith::AndIOp::create(b, group, constant(b, plan.groupsM - 1));
  Value groupN = arith::ShRUIOp::create(
      b, group, constant(b, llvm::Log2_64(plan.groupsM)));
  auto startOf = [&](const WgmmaOperand &operand, Value number,
                     int64_t extent) {
    int64_t bytes = operand.kMajor ? extent * operand.rowBytes
                                   : extent / operand.box[0] * plan.stageK *
                                         operand.rowBytes;
    return arith::MulIOp::create(b, number, constant(b, bytes)).getResult();
  };
  // The second operand of the slot begins after the first one.
  auto inSlot = [&](Value start, int64_t offset) {
    return offset == 0 ? start
                       : arith::AddIOp::create(b, start, constant(b, offset))
                             .getResult();
  };
  Value aStart = startOf(plan.getFirst(), groupM, plan.getGroupRows());
  Value bStart = startOf(plan.getSecond(), groupN, plan.getGroupColumns());
  aStart = inSlot(aStart, plan.getFirstOffset());
  bStart = inSlot(bStart, plan.getSecondOffset());
  auto describe = [&](LocBuilder &b, const WgmmaOperand &operand,
                      Value address) {
    Value units = arith::ShRUIOp::create(b, address, constant(b, 4));
    Value wide = arith::ExtUIOp::create(b, i64, units);
    Value bits = arith::ConstantIntOp::create(
        b, getDescriptorBits(operand, plan.stageK), 64);
    return arith::OrIOp::create(b, wide, bits).getResult();
  };

  PipelineState start = ring->loadState(b);
  auto loop = scf::ForOp::create(
      b, constant(b, 0), numStages, constant(b, 1),
      ValueRange{start.slot, start.phase, init},
      [&](OpBuilder &inner, Location, Value stage, ValueRange carried) {
        LocBuilder b(loc, inner);
        PipelineState state = {carried[0], carried[1]};
        (void)MatmulPipeline::emitWait(b, ring->getFull(b, state.slot),
                                       state.phase, waits);
        Value address = ring->getSlotAddress(b, state.slot);
        Value aAddress = arith::AddIOp::create(b, address, aStart);
        Value bAddress = arith::AddIOp::create(b, address, bStart);
        PipelineState next = ring->advance(b, state);
        if (!plan.usesTensorCores) {
          Value sum =
              emitFmaStage(b, plan, aAddress, bAddress, lane, warp, carried[2]);
          emitWaveBarrier(b);
          emitBarrierArriveIf(b, ring->getEmpty(b, state.slot), isFirstLane);
          scf::YieldOp::create(b, ValueRange{next.slot, next.phase, sum});
          return;
        }
        Value a = describe(b, plan.getFirst(), aAddress);
        Value bOperand = describe(b, plan.getSecond(), bAddress);
        Value isLater = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                              stage, constant(b, 0));
        Value accumulates =
            op.getInit() && !plan.isPadded
                ? constant(b, 1)
                : arith::ExtUIOp::create(b, b.getI32Type(), isLater)
                      .getResult();
        Value sum = emitWgmma(b, plan, a, bOperand, carried[2], accumulates);
        // The previous group has completed: its slot is free.
        emitWgmmaWait(b, 1);
        Value before = ring->getSlotBefore(b, state.slot);
        Value releases = arith::AndIOp::create(b, isLater, isFirstLane);
        emitBarrierArriveIf(b, ring->getEmpty(b, before), releases);
        scf::YieldOp::create(b, ValueRange{next.slot, next.phase, sum});
      });
  PipelineState end = {loop.getResult(0), loop.getResult(1)};
  ring->storeState(b, end);
  if (!plan.usesTensorCores)
    return loop.getResult(2);
  Value sum = emitWgmmaResult(b, loop.getResult(2));
  Value last = ring->getSlotBefore(b, end.slot);
  emitBarrierArriveIf(b, ring->getEmpty(b, last), isFirstLane);
  return sum;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static LinearLayout getComputedLayout(MLIRContext *context,
                                      const WgmmaPlan &plan) {
  return *getLinearLayout(getAccumulatorLayout(context, plan),
                          plan.getComputedShape());
}

uint64_t mlir::iris::getUnpaddingBytes(const WgmmaPlan &plan) {
  MLIRContext *context = plan.aElement.getContext();
  // Results have 32 bits.
  return getExchangeBytes(getComputedLayout(context, plan),
                          IntegerType::get(context, 32));
}

Value WgmmaLowering::emitUnpadded(LocBuilder &b, tile::MatmulOp op,
                                  const WgmmaPlan &plan, Value vector) {
  KernelInfo kernel = getThreadInfo();
  kernel.scratch = getScratch(function, getUnpaddingBytes(plan));
  ThreadBuilder t(b, loc, kernel);
  LinearLayout from = getComputedLayout(op.getContext(), plan);
  LinearLayout to = *getLinearLayout(op.getResult().getType());
  return t.exchange(vector, from, to, [&](uint64_t index) {
    uint64_t result = 0;
    for (auto [dim, coordinate] : llvm::enumerate(to.getCoordinates(index)))
      result |= static_cast<uint64_t>(coordinate) << from.getDimShift(dim);
    return result;
  });
}

Value WgmmaLowering::emitMasked(LocBuilder &b, tile::MatmulOp op,
                                const WgmmaPlan &plan, Value vector,
                                Value init) {
  using Predicate = arith::CmpIPredicate;
  auto type = cast<VectorType>(vector.getType());
  RankedTensorType tile = op.getResult().getType();
  /// A dimension of the result: its buffer, the start of the window, and
  /// whether elements outside of the buffer may have been copied.
  struct Side {
    Value buffer, start, isOver;
  };
  Side sides[2];
  Value isOver;
  auto operands = getOperands(op, plan);
  for (unsigned dim = 0; dim < 2; ++dim) {
    auto [buffer, operand] = operands[dim];
    if (!operand->isMasked)
      continue;
    ValueRange offsets = dim == 0 ? op.getAOffsets() : op.getBOffsets();
    Value exact = findArgument(buffer).emitIsExact(b, buffer, offsets[dim], dim,
                                                   tile.getDimSize(dim));
    if (!exact || matchPattern(exact, m_One()))
      continue;
    Value over =
        arith::XOrIOp::create(b, exact, arith::ConstantIntOp::create(b, 1, 1));
    sides[dim] = {buffer, offsets[dim], over};
    isOver = isOver ? arith::OrIOp::create(b, isOver, over).getResult() : over;
  }
  if (!isOver)
    return vector;

  auto emit = [&](LocBuilder &b) -> Value {
    KernelInfo kernel = getThreadInfo();
    ThreadBuilder t(b, loc, kernel);
    LinearLayout layout = *getLinearLayout(tile);
    SmallVector<Value> keeps(type.getNumElements());
    for (unsigned dim = 0; dim < 2; ++dim) {
      if (!sides[dim].isOver)
        continue;
      Value size = memref::DimOp::create(b, sides[dim].buffer,
                                         static_cast<int64_t>(dim));
      Value thread = t.getThreadCoordinate(layout, dim);
      llvm::SmallDenseMap<int64_t, Value> known;
      for (auto [reg, keep] : llvm::enumerate(keeps)) {
        int64_t constantPart =
            layout.getCoordinates(layout.apply({reg, 0, 0}))[dim];
        Value &fits = known[constantPart];
        if (!fits) {
          Value within =
              arith::XOrIOp::create(b, thread, constant(b, constantPart));
          Value at = arith::AddIOp::create(
              b, sides[dim].start,
              arith::IndexCastUIOp::create(b, b.getIndexType(), within));
          // Unsigned: coordinates below 0 are outside too.
          fits = arith::CmpIOp::create(b, Predicate::ult, at, size);
        }
        keep = emitAnd(t, keep, fits);
      }
    }
    Value zero =
        arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
    SmallVector<Value> elements;
    for (auto [reg, keep] : llvm::enumerate(keeps))
      elements.push_back(arith::SelectOp::create(
          b, keep, t.extract(vector, reg), init ? t.extract(init, reg) : zero));
    return t.pack(elements);
  };
  auto choice = scf::IfOp::create(
      b, isOver,
      [&](OpBuilder &inner, Location) {
        LocBuilder b(loc, inner);
        scf::YieldOp::create(b, emit(b));
      },
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, vector);
      });
  return choice.getResult(0);
}

void WgmmaLowering::lowerConsumer(tile::MatmulOp op) {
  const WgmmaPlan &plan = getPlan(op);
  LocBuilder b(loc, op);
  Type element = op.getResult().getType().getElementType();
  int64_t count = plan.getNumRegisters();
  auto vectorType = VectorType::get({plan.getNumElements()}, element);
  auto structType = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(count, element));
  auto pack = [&](LocBuilder &b, Value vector) {
    Value result = LLVM::UndefOp::create(b, structType);
    for (int64_t i = 0; i < count; ++i)
      result = LLVM::InsertValueOp::create(
          b, result, vector::ExtractOp::create(b, vector, plan.getElement(i)),
          i);
    return result;
  };

  auto emitZeros = [&](LocBuilder &b) -> Value {
    return arith::ConstantOp::create(b, b.getZeroAttr(vectorType));
  };

  Value numStages = toI32(b, emitCount(b, op.getK(), plan.stageK));
  Value isSome = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, numStages,
                                       constant(b, 0));
  Value given, init;
  if (op.getInit())
    given = UnrealizedConversionCastOp::create(
                b, getThreadType(op.getResult().getType()), op.getInit())
                .getResult(0);
  if (!plan.isPadded)
    init = given;
  auto choice = scf::IfOp::create(
      b, isSome,
      [&](OpBuilder &inner, Location) {
        LocBuilder b(loc, inner);
        // Tensor core instructions require converged warps.
        emitWaveBarrier(b);
        // Without `init` the first instructions ignore the registers.
        Value start = init || !plan.usesTensorCores
                          ? pack(b, init ? init : emitZeros(b))
                          : LLVM::UndefOp::create(b, structType).getResult();
        scf::YieldOp::create(b, emitStages(b, op, plan, numStages, start));
      },
      [&](OpBuilder &inner, Location) {
        LocBuilder b(loc, inner);
        scf::YieldOp::create(b, pack(b, init ? init : emitZeros(b)));
      });
  // If a wait of the region has failed, all consumers must leave.
  bool regionWaits = op.getBody()
                         .walk([](WaitOp) { return WalkResult::interrupt(); })
                         .wasInterrupted();
  if (regionWaits)
    LeaveIfFailedOp::create(b);
  // Columns that are not computed are zeros.
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
  SmallVector<Value> elements(plan.getNumElements(), zero);
  for (int64_t i = 0; i < count; ++i)
    elements[plan.getElement(i)] =
        LLVM::ExtractValueOp::create(b, choice.getResult(0), i);
  Value vector = vector::FromElementsOp::create(b, vectorType, elements);
  if (plan.isPadded) {
    vector = emitUnpadded(b, op, plan, vector);
    if (given && isa<FloatType>(element))
      vector = arith::AddFOp::create(b, given, vector);
    else if (given)
      vector = arith::AddIOp::create(b, given, vector);
  }
  vector = emitMasked(b, op, plan, vector, given);
  op.getResult().replaceAllUsesWith(
      UnrealizedConversionCastOp::create(b, op.getResult().getType(), vector)
          .getResult(0));
  op.erase();
}
