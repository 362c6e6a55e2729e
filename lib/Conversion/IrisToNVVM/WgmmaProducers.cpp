// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WgmmaProducers.cpp - Producer warps on sm_90a ----------------------===//

#include "WgmmaLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

using LocBuilder = WgmmaLowering::LocBuilder;

/// Alignment in bytes of a row of a TMA box; TMA ends the kernel with an
/// illegal instruction error otherwise.
static constexpr int64_t kTMAAlignment = 16;

/// The coordinate of the first element of `source` along `dim` in the argument.
static Value emitCoordinate(LocBuilder &b, const ArgumentView &view,
                            const OperandTileStart &source, unsigned dim) {
  Value offset = view.emitOffset(b, dim);
  return offset ? b.createOrFold<arith::AddIOp>(source.offsets[dim], offset)
                : source.offsets[dim];
}

/// Waits of the region are executed by the wave, or by one lane. A proxy fence
/// makes what they observed visible to TMA. It is expensive and most blocks
/// have no wait, so it follows the wait instead of preceding the copies.
void WgmmaLowering::prepareRegion(tile::MatmulOp op, bool isInLane) {
  OpBuilder b(op);
  op.getBody().walk([&](WaitOp wait) {
    wait->setAttr(kInWaveAttr, b.getUnitAttr());
    if (isInLane)
      wait->setAttr(kInLaneAttr, b.getUnitAttr());
    LocBuilder after(loc, wait);
    after.setInsertionPointAfter(wait);
    if (!isInLane)
      emitWaveBarrier(after);
    emitGlobalProxyFence(after);
    Value continues = arith::XOrIOp::create(
        after, HasFailedOp::create(after, after.getI1Type()),
        arith::ConstantIntOp::create(after, 1, 1));
    ring->emitAbortUnless(after, isInLane ? continues
                                          : emitInAllLanes(after, continues));
  });
  markTraces(op, isInLane);
}

/// If every operand has a tensor map, one lane issues the copies of all whole
/// blocks: the loop must be faster than the tensor cores. The producer warps
/// process the remaining blocks, or all blocks, together.
void WgmmaLowering::lowerProducer(tile::MatmulOp op) {
  LocBuilder b(loc, op);
  Value numBlocks = emitCount(b, op.getK(), op.getBlock());
  Value first = index(b, 0);
  if (hasTensorMaps(op)) {
    Value whole = arith::ShRUIOp::create(
        b, arith::MaxSIOp::create(b, op.getK(), index(b, 0)),
        index(b, llvm::Log2_64(op.getBlock())));
    whole = arith::SelectOp::create(b, allMade, whole, first);
    first = emitWholeBlocks(b, op, whole);
  }
  prepareRegion(op, /*isInLane=*/false);
  scf::ForOp::create(b, first, numBlocks, index(b, 1), ValueRange(),
                     [&](OpBuilder &inner, Location, Value block, ValueRange) {
                       LocBuilder b(loc, inner);
                       emitUnlessAborted(
                           b, [&](LocBuilder &b) { emitBlock(b, op, block); });
                       scf::YieldOp::create(b);
                     });
  op.erase();
}

/// Returns the number of blocks, at most `count`, that were copied; stops at
/// the first block whose start is not aligned for TMA.
Value WgmmaLowering::emitWholeBlocks(LocBuilder &b, tile::MatmulOp op,
                                     Value count) {
  const WgmmaPlan &plan = getPlan(op);
  PipelineState start = ring->loadState(b);
  Value continues = arith::ConstantIntOp::create(b, 1, 1);
  auto emitLoop = [&](LocBuilder &b) -> Value {
    auto loop = scf::WhileOp::create(
        b, TypeRange{b.getIndexType(), b.getI1Type()},
        ValueRange{index(b, 0), continues},
        [&](OpBuilder &inner, Location, ValueRange state) {
          LocBuilder b(loc, inner);
          Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                             state[0], count);
          more = arith::AndIOp::create(b, more, state[1]);
          if (waits)
            more = arith::AndIOp::create(b, more, ring->emitContinues(b));
          scf::ConditionOp::create(b, more, state);
        },
        [&](OpBuilder &inner, Location, ValueRange state) {
          LocBuilder b(loc, inner);
          auto own = cast<tile::MatmulOp>(b.clone(*op));
          prepareRegion(own, /*isInLane=*/true);
          b.setInsertionPoint(own);
          KStepStarts starts = emitBlockRegion(b, own, state[0]);
          int64_t block = op.getBlock();
          Value goes =
              arith::AndIOp::create(b,
                                    emitCanCopy(b, plan.a, starts.a, /*kDim=*/1,
                                                block, plan.elementBytes),
                                    emitCanCopy(b, plan.b, starts.b, /*kDim=*/0,
                                                block, plan.elementBytes));
          scf::IfOp::create(b, goes, [&](OpBuilder &inner, Location) {
            LocBuilder b(loc, inner);
            emitWholeBlock(b, plan, starts);
            scf::YieldOp::create(b);
          });
          b.setInsertionPointAfter(own);
          own.erase();
          Value step = arith::ExtUIOp::create(b, b.getI64Type(), goes);
          step = arith::IndexCastOp::create(b, b.getIndexType(), step);
          Value next = arith::AddIOp::create(b, state[0], step);
          scf::YieldOp::create(b, ValueRange{next, goes});
        });
    return toI32(b, loop.getResult(0));
  };
  auto emitZero = [&](OpBuilder &inner, Location) {
    LocBuilder b(loc, inner);
    scf::YieldOp::create(b, constant(b, 0));
  };
  // The election must be the innermost condition: only then does the assembler
  // recognize that a single lane is active.
  Value isSome =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count, index(b, 0));
  auto some = scf::IfOp::create(
      b, isSome,
      [&](OpBuilder &inner, Location) {
        LocBuilder b(loc, inner);
        Value isElected = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
        auto elected = scf::IfOp::create(
            b, isElected,
            [&](OpBuilder &inner, Location) {
              LocBuilder b(loc, inner);
              scf::YieldOp::create(b, emitLoop(b));
            },
            emitZero);
        scf::YieldOp::create(b, elected.getResults());
      },
      emitZero);
  // The other lanes have not advanced.
  Value done = emitMaxOfLanes(b, some.getResult(0));
  Value stages =
      arith::MulIOp::create(b, done, constant(b, plan.stagesPerBlock));
  ring->storeState(b, ring->skip(b, start, stages));
  if (waits)
    ring->emitAbortUnless(b, emitInAllLanes(b, ring->emitContinues(b)));
  return arith::IndexCastUIOp::create(b, b.getIndexType(), done);
}

/// TMA requires rows aligned to 16 bytes, and checks bounds against the
/// argument, not against a window of it.
Value WgmmaLowering::emitCanCopy(LocBuilder &b, const WgmmaOperand &operand,
                                 const OperandTileStart &source, unsigned kDim,
                                 int64_t extent, int64_t elementBytes) {
  ArgumentView view = findArgument(source.buffer);
  Value start = emitCoordinate(b, view, source, operand.contiguous);
  Value within = arith::AndIOp::create(
      b, start, index(b, kTMAAlignment / elementBytes - 1));
  Value result =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, within, index(b, 0));
  auto require = [&](unsigned dim, int64_t extent) {
    if (Value exact = view.emitIsExact(b, source.buffer, source.offsets[dim],
                                       dim, extent))
      result = arith::AndIOp::create(b, result, exact);
  };
  require(kDim, extent);
  if (!operand.isMasked)
    require(1 - kDim, operand.extent);
  return result;
}

void WgmmaLowering::emitWholeBlock(LocBuilder &b, const WgmmaPlan &plan,
                                   KStepStarts starts) {
  for (int64_t stage = 0; stage < plan.stagesPerBlock; ++stage) {
    for (auto [dim, operandTile] : {std::pair(1, &starts.a), {0, &starts.b}})
      if (stage != 0)
        operandTile->offsets[dim] = arith::AddIOp::create(
            b, operandTile->offsets[dim], index(b, plan.stageK));
    emitUnlessAborted(b, [&](LocBuilder &b) {
      emitWholeStage(b, plan, {starts.a, starts.b});
    });
  }
}

void WgmmaLowering::emitWholeStage(LocBuilder &b, const WgmmaPlan &plan,
                                   ArrayRef<OperandTileStart> sources) {
  PipelineState state = ring->loadState(b);
  Value continues = emitWaitForSlot(b, state);
  if (waits)
    ring->emitAbortUnless(b, continues);
  emitUnlessAborted(b, [&](LocBuilder &b) {
    Value full = ring->getFull(b, state.slot);
    Value address = ring->getSlotAddress(b, state.slot);
    emitBarrierArriveExpect(b, full,
                            constant(b, plan.a.copyBytes + plan.b.copyBytes));
    emitCopies(b, plan.a, sources[0], /*kDim=*/1, address, full);
    address = arith::AddIOp::create(b, address, constant(b, plan.a.slotBytes));
    emitCopies(b, plan.b, sources[1], /*kDim=*/0, address, full);
  });
  ring->storeState(b, ring->advance(b, state));
}

Value WgmmaLowering::emitWaitForSlot(LocBuilder &b,
                                     const PipelineState &state) {
  Value parity = arith::XOrIOp::create(b, state.phase, constant(b, 1));
  return MatmulPipeline::emitWait(b, ring->getEmpty(b, state.slot), parity,
                                  waits);
}

/// One lane of the first producer warp records events for all producers.
void WgmmaLowering::markTraces(tile::MatmulOp op, bool isInLane) {
  SmallVector<TraceOp> traces;
  op.getBody().walk([&](TraceOp trace) { traces.push_back(trace); });
  for (TraceOp trace : traces) {
    LocBuilder b(loc, trace);
    trace->setAttr(kInWaveAttr, b.getUnitAttr());
    if (isInLane)
      continue;
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, producer,
                                          constant(b, 0));
    auto tells = scf::IfOp::create(
        b, arith::AndIOp::create(b, isFirst, isFirstLane).getResult());
    trace->moveBefore(tells.thenBlock()->getTerminator());
  }
}

void WgmmaLowering::emitUnlessAborted(
    LocBuilder &b, llvm::function_ref<void(LocBuilder &)> emit) {
  if (!waits)
    return emit(b);
  scf::IfOp::create(b, ring->emitContinues(b), [&](OpBuilder &inner, Location) {
    LocBuilder at(loc, inner);
    emit(at);
    scf::YieldOp::create(at);
  });
}

void WgmmaLowering::emitBlock(LocBuilder &b, tile::MatmulOp op, Value block) {
  const WgmmaPlan &plan = getPlan(op);
  KStepStarts starts = emitBlockRegion(b, op, block);
  Value first = arith::MulIOp::create(
      b, block, index(b, static_cast<int64_t>(op.getBlock())));
  Value rest = arith::SubIOp::create(b, op.getK(), first);
  SmallVector<OperandTileStart> operandTiles = {starts.a, starts.b};
  if (plan.stagesPerBlock == 1)
    return emitStage(b, plan, operandTiles, rest);
  Value most = index(b, plan.stagesPerBlock);
  Value count =
      arith::MinSIOp::create(b, emitCount(b, rest, plan.stageK), most);
  scf::ForOp::create(
      b, index(b, 0), count, index(b, 1), ValueRange(),
      [&](OpBuilder &inner, Location, Value stage, ValueRange) {
        LocBuilder b(loc, inner);
        Value done = arith::MulIOp::create(b, stage, index(b, plan.stageK));
        SmallVector<OperandTileStart> shifted = operandTiles;
        for (unsigned i = 0; i < 2; ++i) {
          Value &k = shifted[i].offsets[1 - i];
          k = arith::AddIOp::create(b, k, done);
        }
        emitStage(b, plan, shifted, arith::SubIOp::create(b, rest, done));
        scf::YieldOp::create(b);
      });
}

/// `rest` values of k are left; the stage takes at most `stageK` of them.
void WgmmaLowering::emitStage(LocBuilder &b, const WgmmaPlan &plan,
                              ArrayRef<OperandTileStart> sources, Value rest) {
  PipelineState state = ring->loadState(b);
  emitUnlessAborted(b, [&](LocBuilder &b) {
    Value continues = emitWaitForSlot(b, state);
    if (waits)
      ring->emitAbortUnless(b, emitInAllLanes(b, continues));
    emitUnlessAborted(
        b, [&](LocBuilder &b) { emitSlot(b, plan, sources, rest, state); });
  });
  ring->storeState(b, ring->advance(b, state));
}

void WgmmaLowering::emitSlot(LocBuilder &b, const WgmmaPlan &plan,
                             ArrayRef<OperandTileStart> sources, Value rest,
                             const PipelineState &state) {
  Value full = ring->getFull(b, state.slot);
  Value address = ring->getSlotAddress(b, state.slot);
  Value isShort = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, rest,
                                        index(b, plan.stageK));

  const WgmmaOperand *operands[] = {&plan.a, &plan.b};
  Value copies[2], addresses[2], bytes = constant(b, 0);
  for (unsigned i = 0; i < 2; ++i) {
    const WgmmaOperand &operand = *operands[i];
    unsigned kDim = 1 - i;
    addresses[i] = i == 0 ? address
                          : arith::AddIOp::create(b, address,
                                                  constant(b, plan.a.slotBytes))
                                .getResult();
    OperandMap map = getMap(sources[i].buffer, operand);
    if (!map.map) {
      emitThreadCopies(b, operand, sources[i], kDim, plan, rest, addresses[i]);
      continue;
    }
    // TMA checks the bounds of the buffer, not of k.
    Value size =
        memref::DimOp::create(b, sources[i].buffer, static_cast<int64_t>(kDim));
    Value end = arith::AddIOp::create(b, sources[i].offsets[kDim], rest);
    Value endsBefore =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, end, size);
    Value cut = arith::AndIOp::create(b, isShort, endsBefore);
    Value whole =
        arith::XOrIOp::create(b, cut, arith::ConstantIntOp::create(b, 1, 1));
    whole = arith::AndIOp::create(b, whole,
                                  emitCanCopy(b, operand, sources[i], kDim,
                                              plan.stageK, plan.elementBytes));
    copies[i] = arith::AndIOp::create(b, whole, map.made);
    Value more = arith::SelectOp::create(
        b, copies[i], constant(b, operand.copyBytes), constant(b, 0));
    bytes = arith::AddIOp::create(b, bytes, more);
    scf::IfOp::create(
        b, copies[i],
        [&](OpBuilder &inner, Location) { scf::YieldOp::create(inner, loc); },
        [&](OpBuilder &inner, Location) {
          LocBuilder b(loc, inner);
          emitThreadCopies(b, operand, sources[i], kDim, plan, rest,
                           addresses[i]);
          scf::YieldOp::create(b);
        });
  }

  // The first producer warp issues the TMA copies; the others only arrive.
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, producer,
                                        constant(b, 0));
  Value expected = arith::SelectOp::create(b, isFirst, bytes, constant(b, 0));
  scf::IfOp::create(b, isFirstLane, [&](OpBuilder &inner, Location) {
    LocBuilder b(loc, inner);
    emitBarrierArriveExpect(b, full, expected);
    for (unsigned i = 0; i < 2; ++i) {
      if (!copies[i])
        continue;
      Value mine = arith::AndIOp::create(b, copies[i], isFirst);
      scf::IfOp::create(b, mine, [&](OpBuilder &inner, Location) {
        LocBuilder b(loc, inner);
        emitCopies(b, *operands[i], sources[i], 1 - i, addresses[i], full);
        scf::YieldOp::create(b);
      });
    }
    scf::YieldOp::create(b);
  });
  // Parities only distinguish consecutive passes: no lane may be a pass behind.
  emitWaveBarrier(b);
}

void WgmmaLowering::emitCopies(LocBuilder &b, const WgmmaOperand &operand,
                               const OperandTileStart &source, unsigned kDim,
                               Value address, Value barrier) {
  OperandMap map = getMap(source.buffer, operand);
  Value rank = constant(b, 0);
  if (TranslateOp translate = map.view.translate) {
    rank = toI32(b, translate.getRank());
  } else if (map.ranks) {
    Value ctx;
    for (BlockArgument argument : function.getArguments())
      if (isa<CtxType>(argument.getType()))
        ctx = argument;
    rank = CtxFieldOp::create(b, b.getI32Type(), "rank", ctx);
  }
  auto coordinate = [&](unsigned dim) {
    return toI32(b, emitCoordinate(b, map.view, source, dim));
  };
  Value near = coordinate(operand.contiguous);
  Value far = coordinate(1 - operand.contiguous);
  // Consecutive boxes advance along the rows of a, or the columns of b.
  bool alongNear = operand.contiguous != static_cast<int>(kDim);
  int64_t advance = alongNear ? operand.box[0] : operand.box[1];
  int64_t copyBytes = operand.copyBytes / operand.numCopies;
  for (int64_t i = 0; i < operand.numCopies; ++i) {
    auto shift = [&](Value coordinate) -> Value {
      if (i == 0)
        return coordinate;
      return arith::AddIOp::create(b, coordinate, constant(b, i * advance));
    };
    Value to = arith::AddIOp::create(b, address, constant(b, i * copyBytes));
    emitTensorCopy(
        b, to, map.map, barrier,
        {alongNear ? shift(near) : near, alongNear ? far : shift(far), rank});
  }
}

void WgmmaLowering::emitThreadCopies(LocBuilder &b, const WgmmaOperand &operand,
                                     const OperandTileStart &source,
                                     unsigned kDim, const WgmmaPlan &plan,
                                     Value rest, Value address) {
  auto type = cast<MemRefType>(source.buffer.getType());
  Type element = type.getElementType();
  int64_t bits = element.getIntOrFloatBitWidth();
  // Consecutive lanes access consecutive elements in memory, if the strides are
  // known.
  bool kFirst = operand.contiguous < 0
                    ? operand.kMajor
                    : operand.contiguous == static_cast<int>(kDim);
  int64_t inner = kFirst ? plan.stageK : operand.extent;
  Value start = arith::AddIOp::create(
      b, lane, arith::MulIOp::create(b, producer, constant(b, kWarpSize)));
  Value step = arith::MulIOp::create(b, producers, constant(b, kWarpSize));
  scf::ForOp::create(
      b, start, constant(b, operand.extent * plan.stageK), step, ValueRange(),
      [&](OpBuilder &builder, Location, Value i, ValueRange) {
        LocBuilder b(loc, builder);
        Value fast = arith::RemUIOp::create(b, i, constant(b, inner));
        Value slow = arith::DivUIOp::create(b, i, constant(b, inner));
        Value k = kFirst ? fast : slow, row = kFirst ? slow : fast;

        // The offset in the slot.
        auto times = [&](Value value, int64_t factor) {
          return arith::MulIOp::create(b, value, constant(b, factor))
              .getResult();
        };
        Value offset;
        if (operand.kMajor) {
          offset = arith::AddIOp::create(b, times(row, operand.rowBytes),
                                         times(k, bits / 8));
        } else {
          int64_t chunk = operand.box[0];
          Value number =
              arith::ShRUIOp::create(b, row, constant(b, llvm::Log2_64(chunk)));
          Value within = arith::AndIOp::create(b, row, constant(b, chunk - 1));
          offset = arith::AddIOp::create(
              b, times(number, plan.stageK * operand.rowBytes),
              arith::AddIOp::create(b, times(k, operand.rowBytes),
                                    times(within, bits / 8)));
        }
        int64_t mask = operand.rowBytes / 16 - 1;
        Value pattern = arith::AndIOp::create(
            b, arith::ShRUIOp::create(b, offset, constant(b, 3)),
            constant(b, mask << 4));
        offset = arith::XOrIOp::create(b, offset, pattern);

        // The value.
        Value kIndex = arith::IndexCastUIOp::create(b, b.getIndexType(), k);
        Value rowIndex = arith::IndexCastUIOp::create(b, b.getIndexType(), row);
        Value inside =
            arith::CmpIOp::create(b, arith::CmpIPredicate::slt, kIndex, rest);
        SmallVector<Value> coordinates(2);
        for (unsigned dim = 0; dim < 2; ++dim) {
          coordinates[dim] = arith::AddIOp::create(
              b, source.offsets[dim], dim == kDim ? kIndex : rowIndex);
          Value size = memref::DimOp::create(b, source.buffer,
                                             static_cast<int64_t>(dim));
          // Unsigned: coordinates below 0 are outside too.
          Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                             coordinates[dim], size);
          inside = arith::AndIOp::create(b, inside, fits);
        }
        Value loaded =
            scf::IfOp::create(
                b, inside,
                [&](OpBuilder &inner, Location) {
                  LocBuilder b(loc, inner);
                  scf::YieldOp::create(
                      b, memref::LoadOp::create(b, source.buffer, coordinates)
                             .getResult());
                },
                [&](OpBuilder &inner, Location) {
                  LocBuilder b(loc, inner);
                  scf::YieldOp::create(
                      b, arith::ConstantOp::create(b, b.getZeroAttr(element))
                             .getResult());
                })
                .getResult(0);
        Value target = arith::AddIOp::create(b, address, offset);
        Value to = LLVM::IntToPtrOp::create(
            b, LLVM::LLVMPointerType::get(b.getContext(), 3), target);
        LLVM::StoreOp::create(b, loaded, to);
        scf::YieldOp::create(b);
      });
  emitSharedProxyFence(b);
  emitWaveBarrier(b);
}
