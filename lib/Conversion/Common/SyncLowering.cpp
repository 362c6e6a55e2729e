// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SyncLowering.cpp - Addresses, orderings and atomics ----------------===//
//
// Lowers the scalar ops of the iris dialect, and those below tile level, in one
// kernel. Waits end the program when they fail, so that the ops are rewritten
// one after the other over unstructured control flow, not by patterns: the exit
// block, the words that the threads share and the table of sites belong to the
// kernel as a whole.
//
//===----------------------------------------------------------------------===//

#include "SyncLowering.h"

#include "iris/Analysis/WorkgroupMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::iris;

/// Name of the workgroup variable with the words that threads share.
static constexpr StringLiteral kSlotsName = "__iris_sync_slots";
/// Name of the variable by which waves that wait on their own say that they
/// have given up.
static constexpr StringLiteral kGivenUpName = "__iris_given_up";
/// One word of 64 bits per slot.
static constexpr int64_t kNumSlots = 2;
static constexpr int64_t kSlotBytes = 8;
/// Programs that find place beside each other, if their workgroup memory does:
/// more would not have the registers that tiles of some size take.
static constexpr uint64_t kMostPrograms = 4;

static LowerToLLVMOptions conversionOptions(MLIRContext *context) {
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  return options;
}

SyncLowering::SyncLowering(FunctionOpInterface kernel, const TargetInfo &target,
                           Translation translation)
    : kernel(kernel), target(target), translation(translation),
      typeConverter(kernel.getContext(),
                    conversionOptions(kernel.getContext())) {}

/// True if the threads of a program have to share a value or a wait status.
static bool needsSlots(Operation *op) {
  if (isa<WaitOp, BarrierOp, LeaveIfFailedOp>(op))
    return true;
  return isa<AtomicRMWOp, AtomicCASOp>(op) && !op->use_empty();
}

LogicalResult SyncLowering::run() {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    // What the kernel's arguments give is resolved with its signature.
    if (isa_and_nonnull<IrisDialect>(op->getDialect()) &&
        !isa<CtxFieldOp, HostArenaOp, TensorMapOp>(op))
      ops.push_back(op);
  });
  // The shared words change the entry block, so they come before the rest.
  if (!target.hasOneThread() && llvm::any_of(ops, needsSlots) &&
      failed(placeWords(ops)))
    return failure();
  for (Operation *op : ops) {
    if (op->getParentOp() != kernel.getOperation())
      return op->emitOpError("is inside ")
             << op->getParentOp()->getName()
             << "; expected unstructured control flow";
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<AtomicCASOp, AtomicRMWOp, BarrierOp, CheckOp, ElementCASOp,
                  ElementRMWOp, ExpectEqOp, FenceOp, GroupIndexOp,
                  GroupMemberOp, GroupSizeOp, HasFailedOp, LeaveIfFailedOp,
                  NumRanksOp, RankOp, ReadPacketsOp, RecordExpectOp, SignalOp,
                  TraceOp, TranslateOp, WaitOp, WritePacketsOp>(
                [&](auto concrete) { return lower(concrete); })
            .Default([](Operation *other) {
              return other->emitOpError("cannot be lowered here; expected an "
                                        "earlier pass to have expanded it");
            });
    if (failed(result))
      return failure();
  }
  leaveAttributes();
  return success();
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// "file:line:col" of the first such place in `loc`.
static std::string printLocation(Location loc) {
  std::string text = "unknown";
  loc->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place)
      return WalkResult::advance();
    text = (place.getFilename().getValue() + ":" + Twine(place.getLine()) +
            ":" + Twine(place.getColumn()))
               .str();
    return WalkResult::interrupt();
  });
  return text;
}

int64_t SyncLowering::addSite(Operation *op, StringRef what, Type element) {
  OpBuilder b(kernel.getContext());
  auto entry = [&](StringRef key, StringRef value) {
    return b.getNamedAttr(key, b.getStringAttr(value));
  };
  // What people wrote; tiles turn it into the other.
  auto check = dyn_cast<CheckOp>(op);
  StringRef name = check                     ? check.getOf()
                   : isa<RecordExpectOp>(op) ? ExpectEqOp::getOperationName()
                   : isa<ReadPacketsOp>(op)  ? PacketLoadOp::getOperationName()
                                             : op->getName().getStringRef();
  SmallVector<NamedAttribute> entries = {
      entry("op", name), entry("loc", printLocation(op->getLoc())),
      entry("what", what)};
  if (element) {
    std::string elementName;
    llvm::raw_string_ostream(elementName) << element;
    entries.push_back(entry("element", elementName));
  }
  sites.push_back(b.getDictionaryAttr(entries));
  return sites.size() - 1;
}

uint64_t SyncLowering::getKernelHash() {
  auto name = kernel->getAttrOfType<StringAttr>(kHostKernelAttr);
  uint64_t hash = 0xcbf29ce484222325ull;
  for (char c : name ? name.getValue() : kernel.getName())
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  return hash;
}

void SyncLowering::leaveAttributes() {
  OpBuilder b(kernel.getContext());
  if (!sites.empty())
    kernel->setAttr(kSitesAttr, b.getArrayAttr(sites));
  if (!barriers.empty())
    kernel->setAttr(kBarriersAttr, b.getArrayAttr(barriers.getArrayRef()));
  if (waits)
    kernel->setAttr(kCoresidentAttr, b.getUnitAttr());
  if (!slots)
    return;
  auto bytes = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttr);
  int64_t words = kNumSlots + (givenUp ? 1 : 0);
  kernel->setAttr(
      kSharedBytesAttr,
      b.getI64IntegerAttr((bytes ? bytes.getInt() : 0) + words * kSlotBytes));
}

//===----------------------------------------------------------------------===//
// Shared words
//===----------------------------------------------------------------------===//

/// True if `op` hands the threads more than a wait status, or one at any time:
/// that is nothing for a borrowed word, which is theirs only while the program
/// waits.
static bool needsOwnWords(Operation *op) {
  if (auto wait = dyn_cast<WaitOp>(op))
    return !wait.use_empty() || wait->hasAttr(kInWaveAttr);
  if (isa<BarrierOp>(op))
    return false;
  return needsSlots(op) || isa<HasFailedOp, ReadPacketsOp>(op);
}

LogicalResult SyncLowering::placeWords(ArrayRef<Operation *> ops) {
  // What the program's tiles take.
  llvm::MapVector<LLVM::GlobalOp, uint64_t> memory;
  uint64_t bytes = getWorkgroupAttributionBytes(kernel);
  DataLayout layout = DataLayout::closest(kernel);
  SymbolTableCollection tables;
  kernel.walk([&](LLVM::AddressOfOp op) {
    LLVM::GlobalOp global = op.getGlobal(tables);
    if (global && global.getAddrSpace() == target.getWorkgroupAddressSpace() &&
        memory.try_emplace(global, layout.getTypeSize(global.getType())).second)
      bytes += memory[global];
  });
  bool isInWave =
      llvm::any_of(ops, [](Operation *op) { return op->hasAttr(kInWaveAttr); });
  uint64_t words = (kNumSlots + (isInWave ? 1 : 0)) * kSlotBytes;
  std::optional<uint64_t> most = target.getMaxWorkgroupBytes();
  // Words of their own are not worth the place of a program.
  auto countPrograms = [&](uint64_t each) {
    return std::min(kMostPrograms, *most / each);
  };
  if (most && bytes && countPrograms(bytes + words) < countPrograms(bytes)) {
    auto op = llvm::find_if(ops, needsOwnWords);
    if (op == ops.end() && !memory.empty()) {
      borrowed = memory.front().first;
      return success();
    }
    if (op == ops.end())
      op = ops.begin();
    if (bytes + words > *most)
      return (*op)->emitOpError("needs ")
             << words << " bytes of workgroup memory beside the " << bytes
             << " of the program's tiles; expected at most " << *most
             << " in all";
  }
  if (isInWave)
    givenUp = getOrCreateWords(kGivenUpName, 1);
  // All waves of a kernel in roles meet before they part.
  createSlots(llvm::any_of(ops, llvm::IsaPred<ReadPacketsOp>) &&
              !kernel->hasAttr(kProducerWarpsAttr));
  return success();
}

/// `count` words of workgroup memory, the same for all kernels of the module.
LLVM::GlobalOp SyncLowering::getOrCreateWords(StringRef name, int64_t count) {
  Operation *module = kernel->getParentOp();
  if (auto words = dyn_cast_or_null<LLVM::GlobalOp>(
          SymbolTable::lookupSymbolIn(module, name)))
    return words;
  Builder b(kernel.getLoc(), kernel.getContext());
  b.setInsertionPointToStart(&module->getRegion(0).front());
  return LLVM::GlobalOp::create(
      b, LLVM::LLVMArrayType::get(b.getI64Type(), count),
      /*isConstant=*/false, LLVM::Linkage::Internal, name, Attribute(),
      kSlotBytes, target.getWorkgroupAddressSpace());
}

/// The wait status is 0 as long as the program runs: the leader clears it at
/// the kernel's entry, only failed waits write it, and after one of those every
/// thread leaves. A wait that succeeds need not touch it. Waits for packets may
/// fail in any thread, whose wait status the leader must not clear.
void SyncLowering::createSlots(bool meet) {
  slots = getOrCreateWords(kSlotsName, kNumSlots);
  Builder b(kernel.getLoc(), kernel.getContext());
  Block &entry = kernel.getFunctionBody().front();
  b.setInsertionPointToStart(&entry);
  // Variables become registers only if they stay in the first block, which is
  // split here.
  for (auto variable : entry.getOps<LLVM::AllocaOp>())
    b.setInsertionPointAfter(variable);
  emitInLeader(b, target, [&] {
    LLVM::StoreOp::create(b, emitI32(b, 0), emitSlot(b, Slot::WaitStatus));
    if (givenUp)
      LLVM::StoreOp::create(b, emitI32(b, 0), emitGivenUp(b));
  });
  if (meet)
    target.emitWorkgroupBarrier(b);
}

Value SyncLowering::emitSlot(Builder &b, Slot slot) {
  Value base = LLVM::AddressOfOp::create(b, slots);
  return LLVM::GEPOp::create(
      b, base.getType(), b.getI64Type(), base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(slot)});
}

Value SyncLowering::emitWaitStatusPointer(Builder &b) {
  if (!borrowed)
    return emitSlot(b, Slot::WaitStatus);
  return LLVM::AddressOfOp::create(b, borrowed);
}

/// A borrowed word holds anything. What a program writes to its memory it meets
/// behind, before it waits; so the word stays what it is, until a thread whose
/// wait has failed changes it. None does so before all have looked.
void SyncLowering::emitInitWaitStatus(Builder &b) {
  if (borrowed)
    quiet = emitLoadWaitStatus(b);
}

Value SyncLowering::emitLoadWaitStatus(Builder &b) {
  // Volatile where borrowed: LLVM might know, or choose, what it holds.
  Value waitStatus =
      LLVM::LoadOp::create(b, b.getI32Type(), emitWaitStatusPointer(b),
                           /*alignment=*/4, /*isVolatile=*/bool(borrowed));
  return target.emitUniform(b, waitStatus);
}

Value SyncLowering::emitGivenUp(Builder &b) {
  return LLVM::AddressOfOp::create(b, givenUp);
}

Value SyncLowering::emitLoadSlot(Builder &b, Slot slot, Type type) {
  Type bitsType = b.getIntegerType(type.getIntOrFloatBitWidth());
  Value bits = LLVM::LoadOp::create(b, bitsType, emitSlot(b, slot));
  unsigned width = bitsType.getIntOrFloatBitWidth();
  if (width >= 32)
    bits = target.emitUniform(b, bits);
  return emitFromBits(b, bits, type);
}

//===----------------------------------------------------------------------===//
// Leaving the kernel
//===----------------------------------------------------------------------===//

Block *SyncLowering::getExitBlock() {
  if (exitBlock)
    return exitBlock;
  Builder b(kernel.getLoc(), kernel.getContext());
  exitBlock = b.createBlock(&kernel.getFunctionBody());
  if (isa<gpu::GPUFuncOp>(kernel.getOperation()))
    gpu::ReturnOp::create(b);
  else
    func::ReturnOp::create(b);
  return exitBlock;
}

Block *SyncLowering::getFailureBlock(Builder &b, Block *joined) {
  if (target.hasOneThread())
    return getExitBlock();
  Block *failure = b.createBlock(joined);
  emitFailure(b);
  cf::BranchOp::create(b, joined);
  return failure;
}

void SyncLowering::emitFailure(Builder &b) {
  if (!slots && !borrowed)
    return;
  assert((!borrowed || quiet) && "the waitStatus was opened");
  Value waitStatus = emitI32(b, 1);
  if (borrowed)
    waitStatus = arith::XOrIOp::create(b, quiet, waitStatus);
  LLVM::StoreOp::create(b, waitStatus, emitWaitStatusPointer(b),
                        /*alignment=*/4,
                        /*isVolatile=*/bool(borrowed));
}

void SyncLowering::emitTakeGivenUp(Builder &b) {
  // Volatile: a wave may write it at any time.
  Value said = LLVM::LoadOp::create(b, b.getI32Type(), emitGivenUp(b),
                                    /*alignment=*/4, /*isVolatile=*/true);
  Value isSaid =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, said, emitI32(b, 0));
  emitIf(b, isSaid, [&] { emitFailure(b); });
}

void SyncLowering::emitExitIfFailed(Builder &b) {
  if (target.hasOneThread())
    return;
  Value waitStatus = emitLoadWaitStatus(b);
  // The next one to write it waits until all have read.
  if (givenUp || borrowed)
    target.emitWorkgroupBarrier(b);
  Value failed = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, waitStatus,
                                       borrowed ? quiet : Value(emitI32(b, 0)));
  // Of this wait alone.
  quiet = Value();
  Block *rest = splitBlockHere(b);
  cf::CondBranchOp::create(b, failed, getExitBlock(), rest);
  b.setInsertionPointToStart(rest);
}

LogicalResult mlir::iris::lowerSync(FunctionOpInterface kernel,
                                    const TargetInfo &target,
                                    Translation translation) {
  if (kernel.getNumResults() != 0)
    return kernel.emitOpError("returns values; expected a kernel");
  return SyncLowering(kernel, target, translation).run();
}
