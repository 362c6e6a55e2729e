// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulPipeline.cpp - Operand tiles on their way to the tensor cores
//-===//
//
// Memory layout, from the first address that is a multiple of 1024: the slots,
// the `full` barriers, the `empty` barriers, the two barriers of producer
// fences.
//
//===----------------------------------------------------------------------===//

#include "MatmulPipeline.h"

#include "Warp.h"
#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::iris;

static constexpr StringLiteral kRingName = "__iris_matmul_ring";
static constexpr int64_t kBarrierBytes = 8;

static Value i32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

int64_t MatmulPipeline::getBytes(int64_t stages, int64_t slotBytes) {
  return kSwizzleAlignment + stages * slotBytes +
         (2 * stages + 2) * kBarrierBytes;
}

static Value makeVariable(ImplicitLocOpBuilder &b) {
  Value variable = LLVM::AllocaOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), b.getI32Type(), i32(b, 1));
  LLVM::StoreOp::create(b, i32(b, 0), variable);
  return variable;
}

MatmulPipeline::MatmulPipeline(ImplicitLocOpBuilder &b, Operation *symbolTable,
                               int64_t stages, int64_t slotBytes)
    : stages(stages), slotBytes(slotBytes) {
  auto global = dyn_cast_or_null<LLVM::GlobalOp>(
      SymbolTable::lookupSymbolIn(symbolTable, kRingName));
  if (!global) {
    // Dynamic: the launch sets its size.
    OpBuilder at(&symbolTable->getRegion(0).front().front());
    global = LLVM::GlobalOp::create(
        at, b.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
        /*isConstant=*/false, LLVM::Linkage::External, kRingName, Attribute(),
        kSwizzleAlignment, kSharedSpace);
  }
  Value address = LLVM::AddressOfOp::create(b, global);
  Value start = LLVM::PtrToIntOp::create(b, b.getI32Type(), address);
  Value above = arith::AddIOp::create(b, start, i32(b, kSwizzleAlignment - 1));
  base = arith::AndIOp::create(b, above, i32(b, -kSwizzleAlignment));
  slotVariable = makeVariable(b);
  phaseVariable = makeVariable(b);
  fencePhaseVariable = makeVariable(b);
  abortedVariable = makeVariable(b);
}

void MatmulPipeline::emitInit(ImplicitLocOpBuilder &b, Value producers,
                              int64_t consumerWarps) const {
  for (int64_t stage = 0; stage < stages; ++stage) {
    emitBarrierInit(b, getFull(b, i32(b, stage)), producers);
    emitBarrierInit(b, getEmpty(b, i32(b, stage)), i32(b, consumerWarps));
  }
  emitBarrierInit(b, getFenceBarrier(b), i32(b, consumerWarps));
  emitBarrierInit(b, getFencePassedBarrier(b), producers);
  emitBarrierInitFence(b);
}

//===----------------------------------------------------------------------===//
// Pipeline states
//===----------------------------------------------------------------------===//

PipelineState MatmulPipeline::loadState(ImplicitLocOpBuilder &b) const {
  return {LLVM::LoadOp::create(b, b.getI32Type(), slotVariable),
          LLVM::LoadOp::create(b, b.getI32Type(), phaseVariable)};
}

void MatmulPipeline::storeState(ImplicitLocOpBuilder &b,
                                const PipelineState &state) const {
  LLVM::StoreOp::create(b, state.slot, slotVariable);
  LLVM::StoreOp::create(b, state.phase, phaseVariable);
}

PipelineState MatmulPipeline::advance(ImplicitLocOpBuilder &b,
                                      const PipelineState &state) const {
  Value next = arith::AddIOp::create(b, state.slot, i32(b, 1));
  Value wraps =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next, i32(b, stages));
  Value flip = arith::ExtUIOp::create(b, b.getI32Type(), wraps);
  return {arith::SelectOp::create(b, wraps, i32(b, 0), next),
          arith::XOrIOp::create(b, state.phase, flip)};
}

PipelineState MatmulPipeline::skip(ImplicitLocOpBuilder &b,
                                   const PipelineState &state,
                                   Value count) const {
  Value sum = arith::AddIOp::create(b, state.slot, count);
  Value rounds = arith::DivUIOp::create(b, sum, i32(b, stages));
  Value odd = arith::AndIOp::create(b, rounds, i32(b, 1));
  return {arith::RemUIOp::create(b, sum, i32(b, stages)),
          arith::XOrIOp::create(b, state.phase, odd)};
}

Value MatmulPipeline::getSlotBefore(ImplicitLocOpBuilder &b, Value slot) const {
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, slot, i32(b, 0));
  Value before = arith::SubIOp::create(b, slot, i32(b, 1));
  return arith::SelectOp::create(b, isFirst, i32(b, stages - 1), before);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value MatmulPipeline::getSlotAddress(ImplicitLocOpBuilder &b,
                                     Value slot) const {
  Value offset = arith::MulIOp::create(b, slot, i32(b, slotBytes));
  return arith::AddIOp::create(b, base, offset);
}

Value MatmulPipeline::getBarrier(ImplicitLocOpBuilder &b, Value slot,
                                 int64_t first) const {
  Value offset = arith::MulIOp::create(b, slot, i32(b, kBarrierBytes));
  Value start = arith::AddIOp::create(
      b, base, i32(b, stages * slotBytes + first * kBarrierBytes));
  return arith::AddIOp::create(b, start, offset);
}

Value MatmulPipeline::getFull(ImplicitLocOpBuilder &b, Value slot) const {
  return getBarrier(b, slot, 0);
}
Value MatmulPipeline::getEmpty(ImplicitLocOpBuilder &b, Value slot) const {
  return getBarrier(b, slot, stages);
}
Value MatmulPipeline::getFenceBarrier(ImplicitLocOpBuilder &b) const {
  return getBarrier(b, i32(b, 0), 2 * stages);
}
Value MatmulPipeline::getFencePassedBarrier(ImplicitLocOpBuilder &b) const {
  return getBarrier(b, i32(b, 0), 2 * stages + 1);
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

Value MatmulPipeline::emitWait(ImplicitLocOpBuilder &b, Value barrier,
                               Value parity, bool waits) {
  Location loc = b.getLoc();
  auto loop = scf::WhileOp::create(
      b, b.getI1Type(), ValueRange(),
      [&](OpBuilder &inner, Location, ValueRange) {
        ImplicitLocOpBuilder at(loc, inner);
        Value done = emitBarrierTry(at, barrier, parity);
        Value again = arith::XOrIOp::create(
            at, done, arith::ConstantIntOp::create(at, 1, 1));
        if (waits) {
          // The status is checked only if the barrier is not complete.
          auto asks = scf::IfOp::create(
              at, again,
              [&](OpBuilder &builder, Location) {
                ImplicitLocOpBuilder at(loc, builder);
                Value failed = HasFailedOp::create(at, at.getI1Type());
                scf::YieldOp::create(
                    at, arith::XOrIOp::create(
                            at, failed, arith::ConstantIntOp::create(at, 1, 1))
                            .getResult());
              },
              [&](OpBuilder &builder, Location) {
                scf::YieldOp::create(builder, loc, again);
              });
          again = asks.getResult(0);
        }
        scf::ConditionOp::create(at, again, done);
      },
      [&](OpBuilder &inner, Location, ValueRange) {
        scf::YieldOp::create(inner, loc);
      });
  return loop.getResult(0);
}

Value MatmulPipeline::emitNextFencePhase(ImplicitLocOpBuilder &b) const {
  Value parity = LLVM::LoadOp::create(b, b.getI32Type(), fencePhaseVariable);
  LLVM::StoreOp::create(b, arith::XOrIOp::create(b, parity, i32(b, 1)),
                        fencePhaseVariable);
  return parity;
}

void MatmulPipeline::emitProducerFenceArrive(ImplicitLocOpBuilder &b,
                                             Value isFirstLane,
                                             bool waits) const {
  // Wait for the previous fence, if there was one.
  Value before = arith::XOrIOp::create(b, emitNextFencePhase(b), i32(b, 1));
  (void)emitWait(b, getFencePassedBarrier(b), before, waits);
  emitGlobalProxyFence(b);
  emitWaveBarrier(b);
  emitBarrierArriveIf(b, getFenceBarrier(b), isFirstLane);
}

Value MatmulPipeline::emitProducerFenceWait(ImplicitLocOpBuilder &b,
                                            Value isFirstLane,
                                            bool waits) const {
  Value continues =
      emitWait(b, getFenceBarrier(b), emitNextFencePhase(b), waits);
  emitGlobalProxyFence(b);
  emitWaveBarrier(b);
  emitBarrierArriveIf(b, getFencePassedBarrier(b), isFirstLane);
  return continues;
}

void MatmulPipeline::emitAbortUnless(ImplicitLocOpBuilder &b,
                                     Value continues) const {
  Value before = LLVM::LoadOp::create(b, b.getI32Type(), abortedVariable);
  Value now = arith::XOrIOp::create(
      b, arith::ExtUIOp::create(b, b.getI32Type(), continues), i32(b, 1));
  LLVM::StoreOp::create(b, arith::OrIOp::create(b, before, now),
                        abortedVariable);
}

Value MatmulPipeline::emitContinues(ImplicitLocOpBuilder &b) const {
  Value aborted = LLVM::LoadOp::create(b, b.getI32Type(), abortedVariable);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, aborted, i32(b, 0));
}
