// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WgmmaMatmul.cpp - The matmul loop on sm_90a ------------------------===//
//
// The kernel gets four additional warps, the producers, and its body becomes
//
//   if (producer) { slice } else { everything }
//
// Producers fill the slots of a ring in shared memory: with one TMA copy per
// operand, or, if TMA does not support it, with loads and stores. Consumers
// wait for a slot, multiply it with warpgroup instructions and release it when
// the instructions that read it have completed; one group of instructions stays
// in flight. The ring continues from one matmul to the next, so producers run
// ahead while consumers execute an epilogue.
//
// If every operand has a tensor map, one producer warp is active; otherwise all
// four are, each copying some of the elements. Producers never wait for each
// other, and branches are uniform in a warp: its first lane decides.
//
// If a wait in the region of a matmul fails, producers stop filling slots, all
// waits for the ring end, and consumers leave before they use the result.
//
//===----------------------------------------------------------------------===//

#include "WgmmaMatmul.h"

#include "MmaMatmul.h"
#include "SpecializeWarps.h"
#include "WgmmaLowering.h"
#include "WidenStores.h"
#include "iris/Analysis/WorkgroupMemory.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tile-lower-matmul"

using namespace mlir;
using namespace mlir::iris;

using LocBuilder = WgmmaLowering::LocBuilder;

/// Enough for the smallest tiles to have what the memory needs on its way.
static constexpr int64_t kMaxWgmmaStages = 13;

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Returns why TMA cannot load an operand; empty if it can, as far as this is
/// known before the launch.
static std::string getMiss(Value buffer, const WgmmaOperand &operand,
                           Type element, unsigned kDim) {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = cast<MemRefType>(buffer.getType());
  (void)type.getStridesAndOffset(strides, offset);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (strides[kDim] != 1 && strides[1 - kDim] != 1)
    os << "has no dimension of stride 1; expected one";
  else if (operand.contiguous < 0)
    os << "is " << element << " with stride 1 along dimension " << 1 - kDim
       << "; expected it along k, dimension " << kDim;
  else
    os << findArgument(buffer).missed;
  return text;
}

void WgmmaLowering::remarkMisses(tile::MatmulOp op, const WgmmaPlan &plan) {
  if (!plan.usesTensorCores)
    remarkMissed(op, "multiplies f32 exactly, without tensor cores; expected "
                     "precision(tf32)");
  Type elements[] = {plan.aElement, plan.bElement};
  for (auto [i, operand] : llvm::enumerate(getOperands(op, plan))) {
    std::string miss =
        getMiss(operand.first, *operand.second, elements[i], 1 - i);
    if (!miss.empty())
      remarkMissed(op, (i == 0 ? "a " : "b ") + miss +
                           ": threads copy it to shared memory, element by "
                           "element");
  }
}

LogicalResult WgmmaLowering::planAll() {
  OpBuilder b(function.getContext());
  WalkResult walk = function->walk([&](tile::MatmulOp op) {
    FailureOr<WgmmaPlan> plan = planWgmma(op, numWarps);
    if (failed(plan) || failed(verifyProducerRegion(op)))
      return WalkResult::interrupt();
    remarkMisses(op, *plan);
    LDBG() << op.getResult().getType() << ": "
           << (plan->usesTensorCores ? "WGMMA" : "FMAs") << " of " << plan->mmaN
           << " columns, " << (plan->isExchanged ? "operands exchanged, " : "")
           << (plan->isPadded ? "padded, " : "") << plan->getSlotBytes()
           << " bytes per stage; a by "
           << (plan->a.contiguous >= 0 ? "TMA if its buffer is an argument"
                                       : "threads")
           << ", b by "
           << (plan->b.contiguous >= 0 ? "TMA if its buffer is an argument"
                                       : "threads");
    op->setAttr(kNumberAttr, b.getI64IntegerAttr(plans.size()));
    slotBytes = std::max(slotBytes, plan->getSlotBytes());
    if (plan->isPadded)
      scratchBytes = std::max<int64_t>(scratchBytes, getUnpaddingBytes(*plan));
    plans.push_back(std::move(*plan));
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  // Shared words of the synchronization ops come on top of the scratch memory.
  int64_t declared = getWorkgroupAttributionBytes(function);
  int64_t room = maxSharedBytes - scratchBytes - declared - 256;
  while (stages < kMaxWgmmaStages &&
         MatmulPipeline::getBytes(stages + 1, slotBytes) <= room)
    ++stages;
  LDBG() << stages << " stages of " << slotBytes << " bytes in " << room
         << " bytes of shared memory";
  if (stages < 2)
    return function.emitOpError("needs ")
           << slotBytes << " bytes of shared memory per stage for the operand "
           << "tiles of a matmul; expected at most "
           << (room - kSwizzleAlignment) / 2 << ", for two stages";
  function->walk([&](Operation *op) {
    waits |= isa<WaitOp, BarrierOp, PacketLoadOp, LeaveIfFailedOp>(op);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// True if one map must cover all ranks: the kernel translates `argument` to
/// other ranks, or a matmul reads a translated window of it.
static bool isReadRemotely(BlockArgument argument) {
  if (llvm::any_of(argument.getUsers(), llvm::IsaPred<TranslateOp>))
    return true;
  auto isPart = [&](Value buffer) {
    if (!buffer)
      return false;
    ArgumentView view = findArgument(buffer);
    return view.translate && view.argument == argument;
  };
  return argument.getOwner()
      ->walk([&](tile::MatmulOp op) {
        tile::YieldOp yield = op.getYield();
        bool reads = isPart(op.getA()) || isPart(op.getB()) ||
                     (yield && (isPart(yield.getA()) || isPart(yield.getB())));
        return reads ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

OperandMap WgmmaLowering::getMap(Value buffer, const WgmmaOperand &operand) {
  OperandMap result;
  result.view = findArgument(buffer);
  BlockArgument argument = result.view.argument;
  if (operand.contiguous < 0 || !argument)
    return result;
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
        isReadRemotely(argument) ? b.getUnitAttr() : UnitAttr());
    maps.push_back(op);
  }
  result.ranks = op.getRanks();
  result.map = op.getMap();
  result.made = op.getMade();
  return result;
}

/// The buffers that a matmul reads, with their plans.
std::array<std::pair<Value, const WgmmaOperand *>, 2>
WgmmaLowering::getOperands(tile::MatmulOp op, const WgmmaPlan &plan) {
  tile::YieldOp yield = op.getYield();
  return {{{yield && yield.getA() ? yield.getA() : op.getA(), &plan.a},
           {yield && yield.getB() ? yield.getB() : op.getB(), &plan.b}}};
}

bool WgmmaLowering::hasTensorMaps(tile::MatmulOp op) {
  return llvm::all_of(getOperands(op, getPlan(op)), [&](auto operand) {
    return static_cast<bool>(getMap(operand.first, *operand.second).map);
  });
}

//===----------------------------------------------------------------------===//
// Warp specialization
//===----------------------------------------------------------------------===//

void WgmmaLowering::emitPrologue(LocBuilder &b) {
  mapPoint = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  Value thread = toI32(b, mapPoint->getResult(0));
  lane = arith::AndIOp::create(b, thread, constant(b, kWarpSize - 1));
  Value shift = constant(b, llvm::Log2_64(kWarpSize));
  warp = emitFromFirstLane(b, arith::ShRUIOp::create(b, thread, shift));
  producer = arith::SubIOp::create(b, warp, constant(b, numWarps));
  isFirstLane =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, constant(b, 0));
  ring.emplace(b, SymbolTable::getNearestSymbolTable(function), stages,
               slotBytes);

  allMade = arith::ConstantIntOp::create(b, 1, 1);
  function->walk([&](tile::MatmulOp op) {
    for (auto [buffer, operand] : getOperands(op, getPlan(op))) {
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
  // All threads: the only barrier shared by both kinds of warps.
  NVVM::Barrier0Op::create(b);
}

void WgmmaLowering::emitRegisterLimit(LocBuilder &b, bool isProducer) {
  int64_t threads = (numWarps + kWarpgroupWarps) * kWarpSize;
  int64_t given = kRegisters / threads / kRegisterUnit * kRegisterUnit;
  int64_t most = getConsumerRegisters(numWarps);
  if (most <= given)
    return;
  NVVM::SetMaxRegisterOp::create(b, isProducer ? kProducerRegisters : most,
                                 isProducer
                                     ? NVVM::SetMaxRegisterAction::decrease
                                     : NVVM::SetMaxRegisterAction::increase);
}

LogicalResult WgmmaLowering::specializeWarps(Block &entry, Operation *firstOp) {
  LocBuilder b(loc, firstOp);
  Value isProducer = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, warp,
                                           constant(b, numWarps));
  auto specialized = scf::IfOp::create(b, isProducer, /*withElseRegion=*/true);
  Block *consumers = specialized.elseBlock();
  consumers->getOperations().splice(consumers->begin(), entry.getOperations(),
                                    firstOp->getIterator(),
                                    entry.getTerminator()->getIterator());
  b.setInsertionPointToStart(specialized.thenBlock());
  emitRegisterLimit(b, /*isProducer=*/true);
  Value works =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, producer, producers);
  auto active = scf::IfOp::create(b, works);
  IRMapping mapping;
  b.setInsertionPointToStart(active.thenBlock());
  for (Operation &op : consumers->without_terminator())
    b.clone(op, mapping);
  if (auto miss = sliceForProducers(*active.thenBlock()))
    return emitError(miss->loc)
           << "'" << miss->name << "' op determines where a matmul reads, or "
           << "whether it runs, with " << miss->why
           << "; expected a kernel in which tile-assign-matmul-layouts has "
              "found none";

  lowerProducerFences(active, /*isProducer=*/true);
  lowerProducerFences(specialized, /*isProducer=*/false);

  SmallVector<tile::MatmulOp> ops;
  active.walk([&](tile::MatmulOp op) { ops.push_back(op); });
  for (tile::MatmulOp op : ops)
    lowerProducer(op);
  ops.clear();
  specialized.getElseRegion().walk(
      [&](tile::MatmulOp op) { ops.push_back(op); });
  for (tile::MatmulOp op : ops)
    lowerConsumer(op);
  b.setInsertionPointToStart(consumers);
  emitRegisterLimit(b, /*isProducer=*/false);
  widenStores(specialized, lane);
  return success();
}

/// Producers abort at a fence whose wait has failed.
void WgmmaLowering::lowerProducerFences(Operation *branch, bool isProducer) {
  SmallVector<ProducerFenceOp> ops;
  branch->walk([&](ProducerFenceOp op) { ops.push_back(op); });
  for (ProducerFenceOp op : ops) {
    LocBuilder b(loc, op);
    if (!isProducer) {
      ring->emitProducerFenceArrive(b, isFirstLane, waits);
    } else {
      Value continues = ring->emitProducerFenceWait(b, isFirstLane, waits);
      if (waits)
        ring->emitAbortUnless(b, emitInAllLanes(b, continues));
    }
    op.erase();
  }
}

LogicalResult WgmmaLowering::run() {
  if (failed(planAll()))
    return failure();
  placeProducerFences(function);
  Block &entry = function.getFunctionBody().front();
  Operation *firstOp = &entry.front();
  LocBuilder b(loc, firstOp);
  emitPrologue(b);
  if (failed(specializeWarps(entry, firstOp)))
    return failure();
  function->setAttr(kProducerWarpsAttr, b.getI64IntegerAttr(kWarpgroupWarps));
  function->setAttr(
      kDynamicSharedBytesAttr,
      b.getI64IntegerAttr(MatmulPipeline::getBytes(stages, slotBytes)));
  // One program per multiprocessor, which the register limits assume.
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(1));
  return success();
}

Value mlir::iris::emitCount(ImplicitLocOpBuilder &b, Value k, int64_t size) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value extent = arith::MaxSIOp::create(b, k, zero);
  Value above = arith::AddIOp::create(
      b, extent, arith::ConstantIndexOp::create(b, size - 1));
  return arith::ShRUIOp::create(
      b, above, arith::ConstantIndexOp::create(b, llvm::Log2_64(size)));
}

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

/// Unit attribute of a kernel, from the assignment of layouts to the lowering
/// of matmuls: it has no producer warps, and multiplies by `mma.sync`.
static constexpr StringLiteral kWithoutProducersAttr = "iris.without_producers";

namespace {
class WgmmaMatmulTarget : public MatmulTarget {
public:
  explicit WgmmaMatmulTarget(const ChipInfo &chip)
      : chip(chip), withoutProducers(createMmaMatmulTarget(chip)) {}

  void prepareKernel(FunctionOpInterface function) const override {
    std::string why = findMiss(function);
    if (why.empty())
      return;
    function->setAttr(kWithoutProducersAttr,
                      UnitAttr::get(function.getContext()));
    function->walk([&](tile::MatmulOp op) {
      remarkMissed(op,
                   "is multiplied by mma.sync, without producer warps: " + why);
    });
  }

  FailureOr<tile::LinearAttr>
  getResultLayout(tile::MatmulOp op, unsigned numWarps) const override {
    auto function = op->getParentOfType<FunctionOpInterface>();
    if (function->hasAttr(kWithoutProducersAttr))
      return withoutProducers->getResultLayout(op, numWarps);
    FailureOr<WgmmaPlan> plan = planWgmma(op, numWarps);
    if (failed(plan))
      return failure();
    return iris::getResultLayout(op.getContext(), *plan,
                                 op.getResult().getType().getShape(), numWarps);
  }

  /// The ring is dynamic shared memory.
  uint64_t getWorkgroupBytes(tile::MatmulOp, unsigned) const override {
    return 0;
  }

  /// A single op cannot be lowered, because its lowering needs two kinds of
  /// warps.
  FailureOr<Value> emit(tile::MatmulOp op, ThreadBuilder &,
                        Value) const override {
    return op.emitOpError("is lowered separately; expected its whole kernel "
                          "to be lowered on this target");
  }

  bool lowersKernels() const override { return true; }
  LogicalResult lowerKernel(FunctionOpInterface function,
                            const KernelInfo &kernel,
                            uint64_t scratchBytes) const override {
    if (function->removeAttr(kWithoutProducersAttr))
      return withoutProducers->lowerKernel(function, kernel, scratchBytes);
    return WgmmaLowering(function, kernel.numWarps, scratchBytes,
                         chip.maxSharedBytes)
        .run();
  }

private:
  /// Why the kernel cannot have producer warps; empty if it can.
  static std::string findMiss(FunctionOpInterface function);

  const ChipInfo &chip;
  std::unique_ptr<MatmulTarget> withoutProducers;
};
} // namespace

std::string WgmmaMatmulTarget::findMiss(FunctionOpInterface function) {
  std::string text;
  unsigned numWarps = getKernelInfo(function, kWarpSize).numWarps;
  function->walk([&](tile::MatmulOp op) {
    text = findWgmmaMiss(op, numWarps);
    return text.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  std::optional<ProducerMiss> miss;
  if (!text.empty() || !(miss = findProducerMiss(function)))
    return text;
  llvm::raw_string_ostream os(text);
  os << "where it reads, or whether it runs, depends on " << miss->why << ", '"
     << miss->name << "' at " << miss->loc
     << "; expected program numbers, arguments, loaded scalars and arithmetic "
        "on them";
  return text;
}

std::unique_ptr<MatmulTarget>
mlir::iris::createWgmmaMatmulTarget(const ChipInfo &chip) {
  return std::make_unique<WgmmaMatmulTarget>(chip);
}
