// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WgmmaProducers.cpp - Warps that load operand tiles on sm_90a -------===//

#include "WgmmaLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

using LocBuilder = WgmmaLowering::LocBuilder;

/// A row of a box begins at a multiple of so many bytes; elsewhere the engine
/// ends the kernel with an illegal instruction.
static constexpr int64_t kEngineBytes = 16;

/// The first element of `place` along `dim`, as an element of the argument.
static Value emitCoordinate(LocBuilder &b, const ArgumentView &view,
                            const OperandTileStart &place, unsigned dim) {
  Value offset = view.emitOffset(b, dim);
  return offset ? b.createOrFold<arith::AddIOp>(place.offsets[dim], offset)
                : place.offsets[dim];
}

/// Waits of the region are the wave's, or one lane's. What they have seen, the
/// copy engine sees, too. Most blocks come without a wait, so the fence, which
/// takes its time, is behind the wait and not in front of the copies.
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
    Value goesOn = arith::XOrIOp::create(
        after, HasFailedOp::create(after, after.getI1Type()),
        arith::ConstantIntOp::create(after, 1, 1));
    ring->emitGiveUpUnless(after,
                           isInLane ? goesOn : emitInAllLanes(after, goesOn));
  });
  markTraces(op, isInLane);
}

/// Where every operand has a map, one lane orders the copies of all whole
/// blocks: it is alone with the loop, which must be faster than the tensor
/// cores. What is left, or all blocks, the producers' waves do together.
void WgmmaLowering::lowerProducer(tile::MatmulOp op) {
  LocBuilder b(loc, op);
  Value numBlocks = emitCount(b, op.getK(), op.getBlock());
  Value first = index(b, 0);
  if (canHaveMaps(op)) {
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
                       emitUnlessGivenUp(
                           b, [&](LocBuilder &b) { emitBlock(b, op, block); });
                       scf::YieldOp::create(b);
                     });
  op.erase();
}

/// Returns how many blocks, at most `count`, there are copies for: a block that
/// begins in the midst of what the engine moves at a time ends the row.
Value WgmmaLowering::emitWholeBlocks(LocBuilder &b, tile::MatmulOp op,
                                     Value count) {
  const WgmmaPlan &plan = getPlan(op);
  PipelineState start = ring->loadState(b);
  Value goesOn = arith::ConstantIntOp::create(b, 1, 1);
  auto emitLoop = [&](LocBuilder &b) -> Value {
    auto loop = scf::WhileOp::create(
        b, TypeRange{b.getIndexType(), b.getI1Type()},
        ValueRange{index(b, 0), goesOn},
        [&](OpBuilder &inner, Location, ValueRange state) {
          LocBuilder b(loc, inner);
          Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                             state[0], count);
          more = arith::AndIOp::create(b, more, state[1]);
          if (waits)
            more = arith::AndIOp::create(b, more, ring->emitGoesOn(b));
          scf::ConditionOp::create(b, more, state);
        },
        [&](OpBuilder &inner, Location, ValueRange state) {
          LocBuilder b(loc, inner);
          auto own = cast<tile::MatmulOp>(b.clone(*op));
          prepareRegion(own, /*isInLane=*/true);
          b.setInsertionPoint(own);
          KStepStarts places = emitBlockRegion(b, own, state[0]);
          int64_t block = op.getBlock();
          Value goes =
              arith::AndIOp::create(b,
                                    emitCanCopy(b, plan.a, places.a, /*kDim=*/1,
                                                block, plan.elementBytes),
                                    emitCanCopy(b, plan.b, places.b, /*kDim=*/0,
                                                block, plan.elementBytes));
          scf::IfOp::create(b, goes, [&](OpBuilder &inner, Location) {
            LocBuilder b(loc, inner);
            emitWholeBlock(b, plan, places);
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
  // The election comes last: the assembler sees that one lane is left only
  // where nothing else decides with it.
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
  // The other lanes have stayed behind.
  Value done = emitMostOfLanes(b, some.getResult(0));
  Value stages =
      arith::MulIOp::create(b, done, constant(b, plan.stagesPerBlock));
  ring->storeState(b, ring->skip(b, start, stages));
  if (waits)
    ring->emitGiveUpUnless(b, emitInAllLanes(b, ring->emitGoesOn(b)));
  return arith::IndexCastUIOp::create(b, b.getIndexType(), done);
}

/// The engine's rows begin at multiples of 16 bytes, wherever the box ends; and
/// of a part of an argument it knows no bounds.
Value WgmmaLowering::emitCanCopy(LocBuilder &b, const WgmmaOperand &operand,
                                 const OperandTileStart &place, unsigned kDim,
                                 int64_t extent, int64_t elementBytes) {
  ArgumentView view = findArgument(place.buffer);
  Value start = emitCoordinate(b, view, place, operand.contiguous);
  Value within = arith::AndIOp::create(
      b, start, index(b, kEngineBytes / elementBytes - 1));
  Value result =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, within, index(b, 0));
  auto require = [&](unsigned dim, int64_t extent) {
    if (Value exact =
            view.emitIsExact(b, place.buffer, place.offsets[dim], dim, extent))
      result = arith::AndIOp::create(b, result, exact);
  };
  require(kDim, extent);
  if (!operand.isMasked)
    require(1 - kDim, operand.extent);
  return result;
}

void WgmmaLowering::emitWholeBlock(LocBuilder &b, const WgmmaPlan &plan,
                                   KStepStarts places) {
  for (int64_t stage = 0; stage < plan.stagesPerBlock; ++stage) {
    for (auto [dim, operandTile] : {std::pair(1, &places.a), {0, &places.b}})
      if (stage != 0)
        operandTile->offsets[dim] = arith::AddIOp::create(
            b, operandTile->offsets[dim], index(b, plan.stageK));
    emitUnlessGivenUp(b, [&](LocBuilder &b) {
      emitWholeStage(b, plan, {places.a, places.b});
    });
  }
}

void WgmmaLowering::emitWholeStage(LocBuilder &b, const WgmmaPlan &plan,
                                   ArrayRef<OperandTileStart> places) {
  PipelineState place = ring->loadState(b);
  Value goesOn = emitWaitForSlot(b, place);
  if (waits)
    ring->emitGiveUpUnless(b, goesOn);
  emitUnlessGivenUp(b, [&](LocBuilder &b) {
    Value full = ring->getFull(b, place.slot);
    Value address = ring->getSlotAddress(b, place.slot);
    emitBarrierArriveExpect(b, full,
                            constant(b, plan.a.copyBytes + plan.b.copyBytes));
    emitCopies(b, plan.a, places[0], /*kDim=*/1, address, full);
    address = arith::AddIOp::create(b, address, constant(b, plan.a.slotBytes));
    emitCopies(b, plan.b, places[1], /*kDim=*/0, address, full);
  });
  ring->storeState(b, ring->advance(b, place));
}

Value WgmmaLowering::emitWaitForSlot(LocBuilder &b,
                                     const PipelineState &place) {
  Value parity = arith::XOrIOp::create(b, place.phase, constant(b, 1));
  return MatmulPipeline::emitWait(b, ring->getEmpty(b, place.slot), parity,
                                  waits);
}

/// One lane of the first producer tells of all: they do the same.
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

void WgmmaLowering::emitUnlessGivenUp(
    LocBuilder &b, llvm::function_ref<void(LocBuilder &)> emit) {
  if (!waits)
    return emit(b);
  scf::IfOp::create(b, ring->emitGoesOn(b), [&](OpBuilder &inner, Location) {
    LocBuilder at(loc, inner);
    emit(at);
    scf::YieldOp::create(at);
  });
}

void WgmmaLowering::emitBlock(LocBuilder &b, tile::MatmulOp op, Value block) {
  const WgmmaPlan &plan = getPlan(op);
  KStepStarts places = emitBlockRegion(b, op, block);
  Value first = arith::MulIOp::create(
      b, block, index(b, static_cast<int64_t>(op.getBlock())));
  Value rest = arith::SubIOp::create(b, op.getK(), first);
  SmallVector<OperandTileStart> operandTiles = {places.a, places.b};
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

/// `rest` values of k are left, of which the stage takes what it has room for.
void WgmmaLowering::emitStage(LocBuilder &b, const WgmmaPlan &plan,
                              ArrayRef<OperandTileStart> places, Value rest) {
  PipelineState place = ring->loadState(b);
  emitUnlessGivenUp(b, [&](LocBuilder &b) {
    Value goesOn = emitWaitForSlot(b, place);
    if (waits)
      ring->emitGiveUpUnless(b, emitInAllLanes(b, goesOn));
    emitUnlessGivenUp(
        b, [&](LocBuilder &b) { emitSlot(b, plan, places, rest, place); });
  });
  ring->storeState(b, ring->advance(b, place));
}

void WgmmaLowering::emitSlot(LocBuilder &b, const WgmmaPlan &plan,
                             ArrayRef<OperandTileStart> places, Value rest,
                             const PipelineState &place) {
  Value full = ring->getFull(b, place.slot);
  Value address = ring->getSlotAddress(b, place.slot);
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
    OperandMap map = getMap(places[i].buffer, operand);
    if (!map.map) {
      emitFill(b, operand, places[i], kDim, plan, rest, addresses[i]);
      continue;
    }
    // The engine knows where the buffer ends, not where k does.
    Value size =
        memref::DimOp::create(b, places[i].buffer, static_cast<int64_t>(kDim));
    Value end = arith::AddIOp::create(b, places[i].offsets[kDim], rest);
    Value endsBefore =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, end, size);
    Value cut = arith::AndIOp::create(b, isShort, endsBefore);
    Value whole =
        arith::XOrIOp::create(b, cut, arith::ConstantIntOp::create(b, 1, 1));
    whole = arith::AndIOp::create(b, whole,
                                  emitCanCopy(b, operand, places[i], kDim,
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
          emitFill(b, operand, places[i], kDim, plan, rest, addresses[i]);
          scf::YieldOp::create(b);
        });
  }

  // The first producer has the engine's copies; the others only arrive.
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
        emitCopies(b, *operands[i], places[i], 1 - i, addresses[i], full);
        scf::YieldOp::create(b);
      });
    }
    scf::YieldOp::create(b);
  });
  // Parities tell two rounds apart: no lane may be a round behind.
  emitWaveBarrier(b);
}

void WgmmaLowering::emitCopies(LocBuilder &b, const WgmmaOperand &operand,
                               const OperandTileStart &place, unsigned kDim,
                               Value address, Value barrier) {
  OperandMap map = getMap(place.buffer, operand);
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
    return toI32(b, emitCoordinate(b, map.view, place, dim));
  };
  Value near = coordinate(operand.contiguous);
  Value far = coordinate(1 - operand.contiguous);
  // A copy's box goes on along the rows of a, the columns of b.
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

void WgmmaLowering::emitFill(LocBuilder &b, const WgmmaOperand &operand,
                             const OperandTileStart &place, unsigned kDim,
                             const WgmmaPlan &plan, Value rest, Value address) {
  auto type = cast<MemRefType>(place.buffer.getType());
  Type element = type.getElementType();
  int64_t bits = element.getIntOrFloatBitWidth();
  // Neighbouring lanes take neighbours in memory, as far as they are known.
  bool kFirst = operand.contiguous < 0
                    ? operand.kMajor
                    : operand.contiguous == static_cast<int>(kDim);
  int64_t inner = kFirst ? plan.stageK : operand.extent;
  Value start = arith::AddIOp::create(
      b, lane, arith::MulIOp::create(b, producer, constant(b, kWaveSize)));
  Value step = arith::MulIOp::create(b, producers, constant(b, kWaveSize));
  scf::ForOp::create(
      b, start, constant(b, operand.extent * plan.stageK), step, ValueRange(),
      [&](OpBuilder &builder, Location, Value i, ValueRange) {
        LocBuilder b(loc, builder);
        Value fast = arith::RemUIOp::create(b, i, constant(b, inner));
        Value slow = arith::DivUIOp::create(b, i, constant(b, inner));
        Value k = kFirst ? fast : slow, row = kFirst ? slow : fast;

        // Where it lies in the slot.
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

        // What it is.
        Value kIndex = arith::IndexCastUIOp::create(b, b.getIndexType(), k);
        Value rowIndex = arith::IndexCastUIOp::create(b, b.getIndexType(), row);
        Value inside =
            arith::CmpIOp::create(b, arith::CmpIPredicate::slt, kIndex, rest);
        SmallVector<Value> coordinates(2);
        for (unsigned dim = 0; dim < 2; ++dim) {
          coordinates[dim] = arith::AddIOp::create(
              b, place.offsets[dim], dim == kDim ? kIndex : rowIndex);
          Value size =
              memref::DimOp::create(b, place.buffer, static_cast<int64_t>(dim));
          // Also for coordinates below 0.
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
                      b, memref::LoadOp::create(b, place.buffer, coordinates)
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
