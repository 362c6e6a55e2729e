// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SyncLowering.cpp - Lowers the sync ops of one kernel ---------------===//
//
// Lowers the scalar ops of the iris dialect, and those below tile level, in one
// kernel. A failed wait ends the program, which requires unstructured control
// flow. Ops are rewritten one by one instead of by patterns, because the exit
// block, the shared words and the table of sites belong to the whole kernel.
//
//===----------------------------------------------------------------------===//

#include "SyncLowering.h"

#include "iris/Conversion/SourceLocation.h"

#include "iris/Analysis/WorkgroupMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::iris;

/// Name of the workgroup variable with the shared words.
static constexpr StringLiteral kSlotsName = "__iris_sync_slots";
/// Name of the variable in which a wave that waits alone records a failed wait.
static constexpr StringLiteral kWaveFailedName = "__iris_wave_failed";
/// One word of 64 bits per slot.
static constexpr int64_t kNumSlots = 2;
static constexpr int64_t kSlotBytes = 8;
/// Maximum number of co-resident programs worth preserving workgroup memory
/// for: more would not have enough registers for tiles.
static constexpr uint64_t kMaxResidentPrograms = 4;

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

/// True if the threads of a program must share a value or a wait status.
static bool needsSlots(Operation *op) {
  if (isa<WaitOp, BarrierOp, LeaveIfFailedOp>(op))
    return true;
  return isa<AtomicRMWOp, AtomicCASOp>(op) && !op->use_empty();
}

LogicalResult SyncLowering::run() {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    // CtxFieldOp, HostArenaOp and TensorMapOp are lowered with the kernel's
    // signature.
    if (isa_and_nonnull<IrisDialect>(op->getDialect()) &&
        !isa<CtxFieldOp, HostArenaOp, TensorMapOp>(op))
      ops.push_back(op);
  });
  // Creating the shared words changes the entry block, so it comes first.
  if (!target.hasOneThread() && llvm::any_of(ops, needsSlots) &&
      failed(allocateSharedWords(ops)))
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
  setAttributes();
  return success();
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

int64_t SyncLowering::addSite(Operation *op, StringRef what, Type element) {
  OpBuilder b(kernel.getContext());
  auto entry = [&](StringRef key, StringRef value) {
    return b.getNamedAttr(key, b.getStringAttr(value));
  };
  // Report the op that the user wrote, not the one it was expanded to.
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

void SyncLowering::setAttributes() {
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
  int64_t words = kNumSlots + (waveFailed ? 1 : 0);
  kernel->setAttr(
      kSharedBytesAttr,
      b.getI64IntegerAttr((bytes ? bytes.getInt() : 0) + words * kSlotBytes));
}

//===----------------------------------------------------------------------===//
// Shared words
//===----------------------------------------------------------------------===//

/// True if `op` broadcasts more than a wait status, or may set it at any time.
/// A borrowed word does not support this, because it is free only while the
/// program waits.
static bool needsOwnWords(Operation *op) {
  if (auto wait = dyn_cast<WaitOp>(op))
    return !wait.use_empty() || wait->hasAttr(kInWaveAttr);
  if (isa<BarrierOp>(op))
    return false;
  return needsSlots(op) || isa<HasFailedOp, ReadPacketsOp>(op);
}

LogicalResult SyncLowering::allocateSharedWords(ArrayRef<Operation *> ops) {
  // The workgroup memory of the program's tiles.
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
  // Separate words must not reduce the number of co-resident programs.
  auto countPrograms = [&](uint64_t each) {
    return std::min(kMaxResidentPrograms, *most / each);
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
             << words << " bytes of workgroup memory in addition to the "
             << bytes << " of the program's tiles; expected at most " << *most
             << " in all";
  }
  if (isInWave)
    waveFailed = getOrCreateWords(kWaveFailedName, 1);
  // In a warp-specialized kernel a barrier precedes the split into kinds of
  // warps.
  createSlots(llvm::any_of(ops, llvm::IsaPred<ReadPacketsOp>) &&
              !kernel->hasAttr(kProducerWarpsAttr));
  return success();
}

/// `count` words of workgroup memory, shared by all kernels of the module.
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

/// The wait status is 0 while the program runs: the leader clears it at the
/// kernel's entry, only failed waits write it, and after a failed wait every
/// thread leaves. Successful waits do not access it. Packet waits may fail in
/// any thread; the leader must not clear the wait status after that, so a
/// barrier follows the clear.
void SyncLowering::createSlots(bool withBarrier) {
  slots = getOrCreateWords(kSlotsName, kNumSlots);
  Builder b(kernel.getLoc(), kernel.getContext());
  Block &entry = kernel.getFunctionBody().front();
  b.setInsertionPointToStart(&entry);
  // LLVM promotes variables to registers only if they are in the entry block,
  // which is split here.
  for (auto variable : entry.getOps<LLVM::AllocaOp>())
    b.setInsertionPointAfter(variable);
  emitInLeader(b, target, [&] {
    LLVM::StoreOp::create(b, emitI32(b, 0), emitSlot(b, Slot::WaitStatus));
    if (waveFailed)
      LLVM::StoreOp::create(b, emitI32(b, 0), emitWaveFailedPointer(b));
  });
  if (withBarrier)
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

/// A borrowed word has an arbitrary value. A barrier separates the program's
/// writes to its workgroup memory from a wait, so the word keeps its value
/// until a thread whose wait has failed changes it. No thread does so before
/// all have read the word.
void SyncLowering::emitInitWaitStatus(Builder &b) {
  if (borrowed)
    savedWord = emitLoadWaitStatus(b);
}

Value SyncLowering::emitLoadWaitStatus(Builder &b) {
  // Volatile if borrowed: LLVM could otherwise assume its value.
  Value waitStatus =
      LLVM::LoadOp::create(b, b.getI32Type(), emitWaitStatusPointer(b),
                           /*alignment=*/4, /*isVolatile=*/bool(borrowed));
  return target.emitUniform(b, waitStatus);
}

Value SyncLowering::emitWaveFailedPointer(Builder &b) {
  return LLVM::AddressOfOp::create(b, waveFailed);
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
  assert((!borrowed || savedWord) && "the wait status was initialized");
  Value waitStatus = emitI32(b, 1);
  if (borrowed)
    waitStatus = arith::XOrIOp::create(b, savedWord, waitStatus);
  LLVM::StoreOp::create(b, waitStatus, emitWaitStatusPointer(b),
                        /*alignment=*/4,
                        /*isVolatile=*/bool(borrowed));
}

void SyncLowering::emitMergeWaveFailure(Builder &b) {
  // Volatile: a wave may write it at any time.
  Value value =
      LLVM::LoadOp::create(b, b.getI32Type(), emitWaveFailedPointer(b),
                           /*alignment=*/4, /*isVolatile=*/true);
  Value hasFailed =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, emitI32(b, 0));
  emitIf(b, hasFailed, [&] { emitFailure(b); });
}

void SyncLowering::emitExitIfFailed(Builder &b) {
  if (target.hasOneThread())
    return;
  Value waitStatus = emitLoadWaitStatus(b);
  // All threads must read the status before a later wait writes it.
  if (waveFailed || borrowed)
    target.emitWorkgroupBarrier(b);
  Value failed =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, waitStatus,
                            borrowed ? savedWord : Value(emitI32(b, 0)));
  // The saved value is valid for one wait only.
  savedWord = Value();
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
