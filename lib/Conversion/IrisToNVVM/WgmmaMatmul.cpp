// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WgmmaMatmul.cpp - The matmul loop on sm_90a ------------------------===//
//
// The kernel gets four warps more than it asked for, the producers, and its
// body becomes
//
//   if (producer) { slice } else { everything }
//
// Producers fill the slots of a ring in shared memory: one copy of the copy
// engine for each operand, or, where the engine cannot do it, loads and stores.
// Consumers wait for a slot, multiply it by warpgroup instructions and give it
// back when the instructions that read it are over; one group of them stays in
// flight. The ring goes on from one matmul to the next, so that producers are
// ahead while consumers are busy with an epilogue.
//
// Where every operand has a map, one producer warp works; otherwise all four
// do, each on its own and each with its share of the elements. No producer ever
// waits for another one, and decisions are a warp's: its first lane's.
//
// When a wait in the region of a matmul fails, producers stop filling;
// everybody's waits for the ring end, and consumers leave before they do
// anything with the result.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/IrisToNVVM.h"

#include "FmaStage.h"
#include "MatmulRing.h"
#include "SliceRoles.h"
#include "WidenStores.h"
#include "iris/Dialect/Iris/IR/IrisRoles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

/// Dynamic shared memory that a program may have.
static constexpr int64_t kSharedBytes = 227 << 10;
static constexpr int64_t kMaxStages = 8;
static constexpr int64_t kWaveSize = 32;
/// A row of a box begins at a multiple of so many bytes; elsewhere the engine
/// ends the kernel with an illegal instruction.
static constexpr int64_t kEngineBytes = 16;

namespace {
using LocBuilder = ImplicitLocOpBuilder;

/// A map and whether there is one; null where there cannot be.
struct OperandMap {
  Value map, made;
  bool ranks = false;
};

/// Lowers the matmuls of one kernel.
class KernelLowering {
public:
  KernelLowering(FunctionOpInterface function, int64_t numWarps,
                 uint64_t scratchBytes)
      : function(function), numWarps(numWarps), scratchBytes(scratchBytes),
        loc(function.getLoc()) {}

  LogicalResult run();

private:
  LogicalResult planAll();
  void emitPrologue(LocBuilder &b);
  void emitRegisterLimit(LocBuilder &b, bool isProducer);
  LogicalResult splitRoles(Block &entry, Operation *firstOp);

  void lowerHandOffs(Operation *role, bool isProducer);
  void lowerConsumer(tile::MatmulOp op);
  Value emitStages(LocBuilder &b, tile::MatmulOp op, const WgmmaPlan &plan,
                   Value numStages, Value init);
  void lowerProducer(tile::MatmulOp op);
  void prepareRegion(tile::MatmulOp op, bool isInLane);
  Value emitWholeBlocks(LocBuilder &b, tile::MatmulOp op, Value count);
  void emitWholeBlock(LocBuilder &b, const WgmmaPlan &plan, BlockPlaces places);
  Value emitStartsWhole(LocBuilder &b, const WgmmaOperand &operand,
                        const PanelPlace &place, int64_t elementBytes);
  void emitWholeStage(LocBuilder &b, const WgmmaPlan &plan,
                      ArrayRef<PanelPlace> places);
  Value emitWaitForSlot(LocBuilder &b, const RingPlace &place);
  void markTraces(tile::MatmulOp op, bool isInLane);
  void emitBlock(LocBuilder &b, tile::MatmulOp op, Value block);
  void emitStage(LocBuilder &b, const WgmmaPlan &plan,
                 ArrayRef<PanelPlace> places, Value rest);
  void emitSlot(LocBuilder &b, const WgmmaPlan &plan,
                ArrayRef<PanelPlace> places, Value rest,
                const RingPlace &place);
  /// Fills an operand's part of a slot by loads.
  void emitFill(LocBuilder &b, const WgmmaOperand &operand,
                const PanelPlace &place, unsigned kDim, const WgmmaPlan &plan,
                Value rest, Value address);
  void emitCopies(LocBuilder &b, const WgmmaOperand &operand,
                  const PanelPlace &place, unsigned kDim, Value address,
                  Value barrier);

  std::array<std::pair<Value, const WgmmaOperand *>, 2>
  getOperands(tile::MatmulOp op);
  OperandMap getMap(Value buffer, const WgmmaOperand &operand);
  bool canHaveMaps(tile::MatmulOp op);
  /// emit() in waves that have not given up.
  void emitUnlessGivenUp(LocBuilder &b,
                         llvm::function_ref<void(LocBuilder &)> emit);

  const WgmmaPlan &getPlan(tile::MatmulOp op) {
    return plans[op->getAttrOfType<IntegerAttr>(kNumberAttr).getInt()];
  }
  Value constant(LocBuilder &b, int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  }
  Value index(LocBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value toI32(LocBuilder &b, Value value) {
    return arith::IndexCastOp::create(b, b.getI32Type(), value);
  }

  /// Which matmul an op is, in both roles.
  static constexpr StringLiteral kNumberAttr = "iris.matmul";

  FunctionOpInterface function;
  int64_t numWarps;
  int64_t scratchBytes;
  Location loc;
  SmallVector<WgmmaPlan> plans;
  std::optional<MatmulRing> ring;
  int64_t stages = 0, slotBytes = 0;
  /// True if some wait of the kernel may fail.
  bool waits = false;
  /// Where maps are made: the kernel's entry.
  Operation *mapPoint = nullptr;
  SmallVector<TensorMapOp> maps;
  /// i32: lane, warp, warp among the producers, and how many of those work.
  Value lane, warp, producer, producers;
  Value isFirstLane;
  /// i1: all operands of all matmuls have maps.
  Value allMade;
};
} // namespace

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::planAll() {
  OpBuilder b(function.getContext());
  WalkResult walk = function->walk([&](tile::MatmulOp op) {
    FailureOr<WgmmaPlan> plan = planWgmma(op, numWarps);
    if (failed(plan) || failed(verifyProducerRegion(op)))
      return WalkResult::interrupt();
    op->setAttr(kNumberAttr, b.getI64IntegerAttr(plans.size()));
    slotBytes = std::max(slotBytes, plan->getSlotBytes());
    plans.push_back(std::move(*plan));
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  // Words that threads share come on top of the scratch memory.
  int64_t room = kSharedBytes - scratchBytes - 256;
  while (stages < kMaxStages &&
         MatmulRing::getBytes(stages + 1, slotBytes) <= room)
    ++stages;
  if (stages < 2)
    return function.emitOpError("multiplies tiles whose panels take ")
           << slotBytes << " bytes of shared memory a stage; expected at most "
           << (room - kSwizzleAlignment) / 2 << ", for two stages";
  function->walk([&](Operation *op) {
    waits |= isa<WaitOp, BarrierOp, PacketLoadOp, LeaveIfFailedOp>(op);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

OperandMap KernelLowering::getMap(Value buffer, const WgmmaOperand &operand) {
  OperandMap result;
  if (auto translate = buffer.getDefiningOp<TranslateOp>())
    buffer = translate.getSource();
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (operand.contiguous < 0 || !argument ||
      argument.getOwner() != &function.getFunctionBody().front())
    return result;
  // One map serves all ranks, where the kernel looks at others.
  result.ranks = llvm::any_of(argument.getUsers(), llvm::IsaPred<TranslateOp>);
  LocBuilder b(loc, mapPoint);
  TensorMapOp op;
  for (TensorMapOp known : maps)
    if (known.getBuffer() == argument &&
        known.getContiguous() == static_cast<uint64_t>(operand.contiguous) &&
        known.getBox() == ArrayRef(operand.box))
      op = known;
  if (!op) {
    op = TensorMapOp::create(
        b, TypeRange{LLVM::LLVMPointerType::get(b.getContext()), b.getI1Type()},
        argument, b.getI64IntegerAttr(operand.contiguous),
        b.getDenseI64ArrayAttr(operand.box),
        b.getI64IntegerAttr(operand.rowBytes),
        result.ranks ? b.getUnitAttr() : UnitAttr());
    maps.push_back(op);
  }
  result.map = op.getMap();
  result.made = op.getMade();
  return result;
}

/// What an op reads: buffers, and how.
std::array<std::pair<Value, const WgmmaOperand *>, 2>
KernelLowering::getOperands(tile::MatmulOp op) {
  const WgmmaPlan &plan = getPlan(op);
  tile::YieldOp yield = op.getYield();
  return {{{yield && yield.getA() ? yield.getA() : op.getA(), &plan.a},
           {yield && yield.getB() ? yield.getB() : op.getB(), &plan.b}}};
}

bool KernelLowering::canHaveMaps(tile::MatmulOp op) {
  return llvm::all_of(getOperands(op), [&](auto operand) {
    return static_cast<bool>(getMap(operand.first, *operand.second).map);
  });
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

void KernelLowering::emitPrologue(LocBuilder &b) {
  mapPoint = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  Value thread = toI32(b, mapPoint->getResult(0));
  lane = arith::AndIOp::create(b, thread, constant(b, kWaveSize - 1));
  Value shift = constant(b, llvm::Log2_64(kWaveSize));
  warp = emitFromFirstLane(b, arith::ShRUIOp::create(b, thread, shift));
  producer = arith::SubIOp::create(b, warp, constant(b, numWarps));
  isFirstLane =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, constant(b, 0));
  ring.emplace(b, SymbolTable::getNearestSymbolTable(function), stages,
               slotBytes);

  allMade = arith::ConstantIntOp::create(b, 1, 1);
  function->walk([&](tile::MatmulOp op) {
    for (auto [buffer, operand] : getOperands(op)) {
      OperandMap map = getMap(buffer, *operand);
      Value made = map.made ? map.made
                            : arith::ConstantIntOp::create(b, 0, 1).getResult();
      allMade = arith::AndIOp::create(b, allMade, made);
    }
  });
  producers = arith::SelectOp::create(b, allMade, constant(b, 1),
                                      constant(b, kWarpgroupWarps));
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread,
                                        constant(b, 0));
  auto first = scf::IfOp::create(b, isFirst);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(first.thenBlock());
    ring->emitInit(b, producers, numWarps);
  }
  // Everybody: the only barrier that the roles share.
  NVVM::Barrier0Op::create(b);
}

void KernelLowering::emitRegisterLimit(LocBuilder &b, bool isProducer) {
  int64_t threads = (numWarps + kWarpgroupWarps) * kWaveSize;
  int64_t given = kRegisters / threads / kRegisterUnit * kRegisterUnit;
  int64_t most = getConsumerRegisters(numWarps);
  if (most <= given)
    return;
  NVVM::SetMaxRegisterOp::create(b, isProducer ? kProducerRegisters : most,
                                 isProducer
                                     ? NVVM::SetMaxRegisterAction::decrease
                                     : NVVM::SetMaxRegisterAction::increase);
}

LogicalResult KernelLowering::splitRoles(Block &entry, Operation *firstOp) {
  LocBuilder b(loc, firstOp);
  Value isProducer = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, warp,
                                           constant(b, numWarps));
  auto roles = scf::IfOp::create(b, isProducer, /*withElseRegion=*/true);
  Block *consumers = roles.elseBlock();
  consumers->getOperations().splice(consumers->begin(), entry.getOperations(),
                                    firstOp->getIterator(),
                                    entry.getTerminator()->getIterator());
  b.setInsertionPointToStart(roles.thenBlock());
  emitRegisterLimit(b, /*isProducer=*/true);
  Value works =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, producer, producers);
  auto active = scf::IfOp::create(b, works);
  IRMapping mapping;
  b.setInsertionPointToStart(active.thenBlock());
  for (Operation &op : consumers->without_terminator())
    b.clone(op, mapping);
  if (failed(sliceForProducers(*active.thenBlock())))
    return failure();

  lowerHandOffs(active, /*isProducer=*/true);
  lowerHandOffs(roles, /*isProducer=*/false);

  SmallVector<tile::MatmulOp> ops;
  active.walk([&](tile::MatmulOp op) { ops.push_back(op); });
  for (tile::MatmulOp op : ops)
    lowerProducer(op);
  ops.clear();
  roles.getElseRegion().walk([&](tile::MatmulOp op) { ops.push_back(op); });
  for (tile::MatmulOp op : ops)
    lowerConsumer(op);
  b.setInsertionPointToStart(consumers);
  emitRegisterLimit(b, /*isProducer=*/false);
  widenStores(roles, lane);
  return success();
}

/// Producers that were handed nothing, because a wait failed, give up.
void KernelLowering::lowerHandOffs(Operation *role, bool isProducer) {
  SmallVector<HandOffOp> ops;
  role->walk([&](HandOffOp op) { ops.push_back(op); });
  for (HandOffOp op : ops) {
    LocBuilder b(loc, op);
    if (!isProducer) {
      ring->emitHandOffArrive(b, isFirstLane, waits);
    } else {
      Value goesOn = ring->emitHandOffWait(b, isFirstLane, waits);
      if (waits)
        ring->emitGiveUpUnless(b, emitInAllLanes(b, goesOn));
    }
    op.erase();
  }
}

LogicalResult KernelLowering::run() {
  if (failed(planAll()))
    return failure();
  placeHandOffs(function);
  Block &entry = function.getFunctionBody().front();
  Operation *firstOp = &entry.front();
  LocBuilder b(loc, firstOp);
  emitPrologue(b);
  if (failed(splitRoles(entry, firstOp)))
    return failure();
  function->setAttr(kProducerWarpsAttr, b.getI64IntegerAttr(kWarpgroupWarps));
  function->setAttr(
      kDynamicSharedBytesAttr,
      b.getI64IntegerAttr(MatmulRing::getBytes(stages, slotBytes)));
  // One program for each multiprocessor: what the register limits assume.
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(1));
  return success();
}

//===----------------------------------------------------------------------===//
// Numbers of blocks and stages
//===----------------------------------------------------------------------===//

/// ceil(k / size), 0 for k below 0; `size` is a power of two.
static Value emitCount(LocBuilder &b, Value k, int64_t size) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value extent = arith::MaxSIOp::create(b, k, zero);
  Value above = arith::AddIOp::create(
      b, extent, arith::ConstantIndexOp::create(b, size - 1));
  return arith::ShRUIOp::create(
      b, above, arith::ConstantIndexOp::create(b, llvm::Log2_64(size)));
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

Value KernelLowering::emitStages(LocBuilder &b, tile::MatmulOp op,
                                 const WgmmaPlan &plan, Value numStages,
                                 Value init) {
  Type i64 = b.getI64Type();
  // Which part of the tile the warpgroup takes.
  Value group = arith::ShRUIOp::create(
      b, warp, constant(b, llvm::Log2_64(kWarpgroupWarps)));
  Value groupM = arith::AndIOp::create(b, group, constant(b, plan.groupsM - 1));
  Value groupN = arith::ShRUIOp::create(
      b, group, constant(b, llvm::Log2_64(plan.groupsM)));
  auto partOf = [&](const WgmmaOperand &operand, Value number, int64_t extent) {
    int64_t bytes = operand.kMajor ? extent * operand.rowBytes
                                   : extent / operand.box[0] * plan.stageK *
                                         operand.rowBytes;
    return arith::MulIOp::create(b, number, constant(b, bytes)).getResult();
  };
  Value aPart = partOf(plan.a, groupM, plan.getGroupRows());
  Value bPart = partOf(plan.b, groupN, plan.getGroupColumns());
  bPart = arith::AddIOp::create(b, bPart, constant(b, plan.a.slotBytes));
  auto describe = [&](LocBuilder &b, const WgmmaOperand &operand,
                      Value address) {
    Value units = arith::ShRUIOp::create(b, address, constant(b, 4));
    Value wide = arith::ExtUIOp::create(b, i64, units);
    Value bits = arith::ConstantIntOp::create(
        b, getDescriptorBits(operand, plan.stageK), 64);
    return arith::OrIOp::create(b, wide, bits).getResult();
  };

  RingPlace start = ring->loadPlace(b);
  auto loop = scf::ForOp::create(
      b, constant(b, 0), numStages, constant(b, 1),
      ValueRange{start.slot, start.phase, init},
      [&](OpBuilder &inner, Location, Value stage, ValueRange carried) {
        LocBuilder b(loc, inner);
        RingPlace place = {carried[0], carried[1]};
        (void)MatmulRing::emitWait(b, ring->getFull(b, place.slot), place.phase,
                                   waits);
        Value address = ring->getSlotAddress(b, place.slot);
        Value aAddress = arith::AddIOp::create(b, address, aPart);
        Value bAddress = arith::AddIOp::create(b, address, bPart);
        RingPlace next = ring->advance(b, place);
        if (!plan.usesTensorCores) {
          Value sum =
              emitFmaStage(b, plan, aAddress, bAddress, lane, warp, carried[2]);
          emitWaveBarrier(b);
          emitBarrierArriveIf(b, ring->getEmpty(b, place.slot), isFirstLane);
          scf::YieldOp::create(b, ValueRange{next.slot, next.phase, sum});
          return;
        }
        Value a = describe(b, plan.a, aAddress);
        Value bOperand = describe(b, plan.b, bAddress);
        Value isLater = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                              stage, constant(b, 0));
        Value accumulates =
            op.getInit() ? constant(b, 1)
                         : arith::ExtUIOp::create(b, b.getI32Type(), isLater)
                               .getResult();
        Value sum = emitWgmma(b, plan, a, bOperand, carried[2], accumulates);
        // The group before this one is over: its slot is free.
        emitWgmmaWait(b, 1);
        Value before = ring->getSlotBefore(b, place.slot);
        Value releases = arith::AndIOp::create(b, isLater, isFirstLane);
        emitBarrierArriveIf(b, ring->getEmpty(b, before), releases);
        scf::YieldOp::create(b, ValueRange{next.slot, next.phase, sum});
      });
  RingPlace end = {loop.getResult(0), loop.getResult(1)};
  ring->storePlace(b, end);
  if (!plan.usesTensorCores)
    return loop.getResult(2);
  Value sum = emitWgmmaResult(b, loop.getResult(2));
  Value last = ring->getSlotBefore(b, end.slot);
  emitBarrierArriveIf(b, ring->getEmpty(b, last), isFirstLane);
  return sum;
}

void KernelLowering::lowerConsumer(tile::MatmulOp op) {
  const WgmmaPlan &plan = getPlan(op);
  LocBuilder b(loc, op);
  Type element = op.getResult().getType().getElementType();
  int64_t count = plan.getNumRegisters();
  auto vectorType = VectorType::get({count}, element);
  auto structType = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(count, element));
  auto pack = [&](LocBuilder &b, Value vector) {
    Value result = LLVM::UndefOp::create(b, structType);
    for (int64_t i = 0; i < count; ++i)
      result = LLVM::InsertValueOp::create(
          b, result, vector::ExtractOp::create(b, vector, i), i);
    return result;
  };

  auto emitZeros = [&](LocBuilder &b) -> Value {
    return arith::ConstantOp::create(b, b.getZeroAttr(vectorType));
  };

  Value numStages = toI32(b, emitCount(b, op.getK(), plan.stageK));
  Value isSome = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, numStages,
                                       constant(b, 0));
  Value init;
  if (op.getInit())
    init = UnrealizedConversionCastOp::create(b, vectorType, op.getInit())
               .getResult(0);
  auto choice = scf::IfOp::create(
      b, isSome,
      [&](OpBuilder &inner, Location) {
        LocBuilder b(loc, inner);
        // The tensor cores take whole warps; nothing before may part this one.
        emitWaveBarrier(b);
        // Without `init` the first instructions do not look at the registers.
        Value start = init || !plan.usesTensorCores
                          ? pack(b, init ? init : emitZeros(b))
                          : LLVM::UndefOp::create(b, structType).getResult();
        scf::YieldOp::create(b, emitStages(b, op, plan, numStages, start));
      },
      [&](OpBuilder &inner, Location) {
        LocBuilder b(loc, inner);
        scf::YieldOp::create(b, pack(b, init ? init : emitZeros(b)));
      });
  // What the region's waits say is for all consumers to hear.
  bool regionWaits = op.getBody()
                         .walk([](WaitOp) { return WalkResult::interrupt(); })
                         .wasInterrupted();
  if (regionWaits)
    LeaveIfFailedOp::create(b);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(LLVM::ExtractValueOp::create(b, choice.getResult(0), i));
  Value vector = vector::FromElementsOp::create(b, vectorType, elements);
  op.getResult().replaceAllUsesWith(
      UnrealizedConversionCastOp::create(b, op.getResult().getType(), vector)
          .getResult(0));
  op.erase();
}

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

/// Waits of the region are the wave's, or one lane's. What they have seen, the
/// copy engine sees, too. Most blocks come without a wait, so the fence, which
/// takes its time, is behind the wait and not in front of the copies.
void KernelLowering::prepareRegion(tile::MatmulOp op, bool isInLane) {
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
void KernelLowering::lowerProducer(tile::MatmulOp op) {
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
Value KernelLowering::emitWholeBlocks(LocBuilder &b, tile::MatmulOp op,
                                      Value count) {
  const WgmmaPlan &plan = getPlan(op);
  RingPlace start = ring->loadPlace(b);
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
          BlockPlaces places = emitBlockRegion(b, own, state[0]);
          Value starts = arith::AndIOp::create(
              b, emitStartsWhole(b, plan.a, places.a, plan.elementBytes),
              emitStartsWhole(b, plan.b, places.b, plan.elementBytes));
          scf::IfOp::create(b, starts, [&](OpBuilder &inner, Location) {
            LocBuilder b(loc, inner);
            emitWholeBlock(b, plan, places);
            scf::YieldOp::create(b);
          });
          b.setInsertionPointAfter(own);
          own.erase();
          Value step = arith::ExtUIOp::create(b, b.getI64Type(), starts);
          step = arith::IndexCastOp::create(b, b.getIndexType(), step);
          Value next = arith::AddIOp::create(b, state[0], step);
          scf::YieldOp::create(b, ValueRange{next, starts});
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
  ring->storePlace(b, ring->skip(b, start, stages));
  if (waits)
    ring->emitGiveUpUnless(b, emitInAllLanes(b, ring->emitGoesOn(b)));
  return arith::IndexCastUIOp::create(b, b.getIndexType(), done);
}

/// The engine's rows begin at multiples of 16 bytes, wherever the box ends.
Value KernelLowering::emitStartsWhole(LocBuilder &b,
                                      const WgmmaOperand &operand,
                                      const PanelPlace &place,
                                      int64_t elementBytes) {
  Value within =
      arith::AndIOp::create(b, place.offsets[operand.contiguous],
                            index(b, kEngineBytes / elementBytes - 1));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, within,
                               index(b, 0));
}

void KernelLowering::emitWholeBlock(LocBuilder &b, const WgmmaPlan &plan,
                                    BlockPlaces places) {
  for (int64_t stage = 0; stage < plan.stagesPerBlock; ++stage) {
    for (auto [dim, panel] : {std::pair(1, &places.a), {0, &places.b}})
      if (stage != 0)
        panel->offsets[dim] = arith::AddIOp::create(b, panel->offsets[dim],
                                                    index(b, plan.stageK));
    emitUnlessGivenUp(b, [&](LocBuilder &b) {
      emitWholeStage(b, plan, {places.a, places.b});
    });
  }
}

void KernelLowering::emitWholeStage(LocBuilder &b, const WgmmaPlan &plan,
                                    ArrayRef<PanelPlace> places) {
  RingPlace place = ring->loadPlace(b);
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
  ring->storePlace(b, ring->advance(b, place));
}

Value KernelLowering::emitWaitForSlot(LocBuilder &b, const RingPlace &place) {
  Value parity = arith::XOrIOp::create(b, place.phase, constant(b, 1));
  return MatmulRing::emitWait(b, ring->getEmpty(b, place.slot), parity, waits);
}

/// One lane of the first producer tells of all: they do the same.
void KernelLowering::markTraces(tile::MatmulOp op, bool isInLane) {
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

void KernelLowering::emitUnlessGivenUp(
    LocBuilder &b, llvm::function_ref<void(LocBuilder &)> emit) {
  if (!waits)
    return emit(b);
  scf::IfOp::create(b, ring->emitGoesOn(b), [&](OpBuilder &inner, Location) {
    LocBuilder at(loc, inner);
    emit(at);
    scf::YieldOp::create(at);
  });
}

void KernelLowering::emitBlock(LocBuilder &b, tile::MatmulOp op, Value block) {
  const WgmmaPlan &plan = getPlan(op);
  BlockPlaces places = emitBlockRegion(b, op, block);
  Value first = arith::MulIOp::create(
      b, block, index(b, static_cast<int64_t>(op.getBlock())));
  Value rest = arith::SubIOp::create(b, op.getK(), first);
  SmallVector<PanelPlace> panels = {places.a, places.b};
  if (plan.stagesPerBlock == 1)
    return emitStage(b, plan, panels, rest);
  Value most = index(b, plan.stagesPerBlock);
  Value count =
      arith::MinSIOp::create(b, emitCount(b, rest, plan.stageK), most);
  scf::ForOp::create(
      b, index(b, 0), count, index(b, 1), ValueRange(),
      [&](OpBuilder &inner, Location, Value stage, ValueRange) {
        LocBuilder b(loc, inner);
        Value done = arith::MulIOp::create(b, stage, index(b, plan.stageK));
        SmallVector<PanelPlace> shifted = panels;
        for (unsigned i = 0; i < 2; ++i) {
          Value &k = shifted[i].offsets[1 - i];
          k = arith::AddIOp::create(b, k, done);
        }
        emitStage(b, plan, shifted, arith::SubIOp::create(b, rest, done));
        scf::YieldOp::create(b);
      });
}

/// `rest` values of k are left, of which the stage takes what it has room for.
void KernelLowering::emitStage(LocBuilder &b, const WgmmaPlan &plan,
                               ArrayRef<PanelPlace> places, Value rest) {
  RingPlace place = ring->loadPlace(b);
  emitUnlessGivenUp(b, [&](LocBuilder &b) {
    Value goesOn = emitWaitForSlot(b, place);
    if (waits)
      ring->emitGiveUpUnless(b, emitInAllLanes(b, goesOn));
    emitUnlessGivenUp(
        b, [&](LocBuilder &b) { emitSlot(b, plan, places, rest, place); });
  });
  ring->storePlace(b, ring->advance(b, place));
}

void KernelLowering::emitSlot(LocBuilder &b, const WgmmaPlan &plan,
                              ArrayRef<PanelPlace> places, Value rest,
                              const RingPlace &place) {
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
    whole = arith::AndIOp::create(
        b, whole, emitStartsWhole(b, operand, places[i], plan.elementBytes));
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

void KernelLowering::emitCopies(LocBuilder &b, const WgmmaOperand &operand,
                                const PanelPlace &place, unsigned kDim,
                                Value address, Value barrier) {
  OperandMap map = getMap(place.buffer, operand);
  Value rank = constant(b, 0);
  if (auto translate = place.buffer.getDefiningOp<TranslateOp>()) {
    rank = toI32(b, translate.getRank());
  } else if (map.ranks) {
    Value ctx;
    for (BlockArgument argument : function.getArguments())
      if (isa<CtxType>(argument.getType()))
        ctx = argument;
    rank = CtxFieldOp::create(b, b.getI32Type(), "rank", ctx);
  }
  Value near = toI32(b, place.offsets[operand.contiguous]);
  Value far = toI32(b, place.offsets[1 - operand.contiguous]);
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

void KernelLowering::emitFill(LocBuilder &b, const WgmmaOperand &operand,
                              const PanelPlace &place, unsigned kDim,
                              const WgmmaPlan &plan, Value rest,
                              Value address) {
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
        Value fast = arith::AndIOp::create(b, i, constant(b, inner - 1));
        Value slow =
            arith::ShRUIOp::create(b, i, constant(b, llvm::Log2_64(inner)));
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

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

namespace {
class WgmmaMatmulTarget : public MatmulTarget {
public:
  FailureOr<tile::LinearAttr>
  getResultLayout(tile::MatmulOp op, unsigned numWarps) const override {
    FailureOr<WgmmaPlan> plan = planWgmma(op, numWarps);
    if (failed(plan))
      return failure();
    return getAccumulatorLayout(op.getContext(), *plan);
  }

  /// The ring is dynamic shared memory.
  uint64_t getWorkgroupBytes(tile::MatmulOp, unsigned) const override {
    return 0;
  }

  /// One op alone cannot be: it takes two roles.
  FailureOr<Value> emit(tile::MatmulOp op, ThreadBuilder &,
                        Value) const override {
    return op.emitOpError("is lowered on its own; expected its whole kernel to "
                          "be, on this target");
  }

  bool lowersKernels() const override { return true; }
  LogicalResult lowerKernel(FunctionOpInterface function,
                            const KernelInfo &kernel,
                            uint64_t scratchBytes) const override {
    return KernelLowering(function, kernel.numWarps, scratchBytes).run();
  }
};
} // namespace

std::unique_ptr<MatmulTarget>
mlir::iris::createNVVMMatmulTarget(StringRef name) {
  if (name != "sm_90a")
    return nullptr;
  return std::make_unique<WgmmaMatmulTarget>();
}
