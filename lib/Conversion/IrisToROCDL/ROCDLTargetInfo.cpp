// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ROCDLTargetInfo.cpp - AMD GPUs -------------------------------------===//
//
// Orderings follow the tables "Memory Model gfx90a", "gfx942" and "gfx10-gfx12"
// of LLVM's AMDGPU usage: LLVM fences and relaxed atomics with the right scope,
// and the backend inserts write-backs, invalidations and waits. Two waits that
// it does not insert on gfx9 are added here, see `emitReleaseWait`.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/IrisToROCDL.h"

#include "WaitCounts.h"
#include "iris-c/RuntimeABI.h"
#include "iris/Chips/ChipInfo.h"
#include "iris/Conversion/EmitHelpers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace mlir::iris;

static constexpr StringLiteral kWorkgroupScope = "workgroup";

static void emitFence(ImplicitLocOpBuilder &b, LLVM::AtomicOrdering ordering,
                      StringRef syncScope) {
  LLVM::FenceOp::create(b, ordering, syncScope);
}

/// No instruction, but for LLVM it may write all memory.
static void emitClobber(ImplicitLocOpBuilder &b) {
  LLVM::InlineAsmOp::create(b, TypeRange(), ValueRange(), "", "~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::tailcallkind::TailCallKind::None,
                            LLVM::AsmDialectAttr(), ArrayAttr());
}

namespace {
class ROCDLTargetInfo : public TargetInfo {
public:
  explicit ROCDLTargetInfo(const ChipInfo &chip)
      : TargetInfo(chip.name), chip(chip) {}

  unsigned getWaveSize() const override { return chip.waveSize; }
  unsigned getGlobalAddressSpace() const override { return 1; }
  /// HSA runs kernels in the unaligned access mode.
  bool hasUnalignedVectors() const override { return true; }
  int64_t getClockHz() const override { return IRISRT_CLOCK_HZ_AMDGPU; }
  std::optional<uint64_t> getMaxWorkgroupBytes() const override {
    return chip.maxSharedBytes;
  }

  /// Orderings on accesses would be right too, but make the backend repeat the
  /// fence at each of them, and its waits are not those that a program-wide
  /// release needs.
  bool accessesCarryOrdering() const override { return false; }

  StringRef getSyncScope(Scope scope) const override {
    switch (scope) {
    case Scope::Block:
      return kWorkgroupScope;
    case Scope::Gpu:
      return "agent";
    case Scope::Sys:
      return "";
    }
    llvm_unreachable("unknown scope");
  }

  Value emitGridDim(ImplicitLocOpBuilder &b, gpu::Dimension dim) const override;
  Value emitUniform(ImplicitLocOpBuilder &b, Value value) const override;
  void emitWorkgroupBarrier(ImplicitLocOpBuilder &b) const override;
  void emitProgramBarrier(ImplicitLocOpBuilder &b) const override;
  void emitReleaseArrive(ImplicitLocOpBuilder &b, Scope scope) const override;
  void emitReleaseFence(ImplicitLocOpBuilder &b, Scope scope) const override;
  void emitAcquireFence(ImplicitLocOpBuilder &b, Scope scope) const override;
  void emitProgramFence(ImplicitLocOpBuilder &b, MemSemantic sem,
                        Scope scope) const override;
  void emitSpinHint(ImplicitLocOpBuilder &b) const override;
  Value emitPacketBase(ImplicitLocOpBuilder &b, Value pointer) const override;
  void emitPacketStores(ImplicitLocOpBuilder &b, ValueRange words, Value flag,
                        Value base, ValueRange offsets) const override;
  SmallVector<Value> emitPacketLoads(ImplicitLocOpBuilder &b,
                                     unsigned wordsEach, Value base,
                                     ValueRange offsets) const override;

  Value emitAtomicRMW(ImplicitLocOpBuilder &b, RMWKind kind, Value value,
                      Value address, LLVM::AtomicOrdering ordering, Scope scope,
                      bool) const override {
    // Without `amdgpu.no.remote.memory` and `amdgpu.no.fine.grained.memory`
    // LLVM keeps to what works on any memory: at system scope add, exchange and
    // compare-and-swap of 32 and 64-bit integers are instructions, everything
    // else is a compare-and-swap loop. The heap may be fine-grained and a peer
    // may be behind a bus, so nothing is promised here.
    return emitLLVMAtomicRMW(b, kind, value, address, ordering,
                             getSyncScope(scope));
  }

private:
  /// Waits until all accesses that the wave has issued are done, where LLVM's
  /// fences do not.
  ///
  /// On gfx9, LLVM 22.1.8 leaves out two waits that a program-wide release
  /// needs:
  ///  * its workgroup fence before `s_barrier` does not wait for the wave's own
  ///    global stores (in this mode all waves of a workgroup share one L1, so
  ///    that workgroup scope does not need it; a later release by another wave
  ///    does);
  ///  * once such a wait precedes the barrier, it assumes that nothing is
  ///    outstanding and drops the one after `buffer_wbl2`, whose completion it
  ///    does not count.
  /// From gfx10 on the fences wait: a workgroup may span two L0 caches.
  void emitReleaseWait(ImplicitLocOpBuilder &b) const {
    if (chip.amd.needsReleaseWaits)
      ROCDL::SWaitcntOp::create(b, kWaitForMemoryGFX9);
  }

  const ChipInfo &chip;
};
} // namespace

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

Value ROCDLTargetInfo::emitGridDim(ImplicitLocOpBuilder &b,
                                   gpu::Dimension dim) const {
  // Implicit arguments of code object v5 and v6 begin with the number of
  // workgroups in x, y and z (i32 each). gpu.grid_dim would become a call into
  // the device library, which is not linked.
  auto constant = LLVM::LLVMPointerType::get(b.getContext(), 4);
  Value arguments =
      LLVM::CallIntrinsicOp::create(
          b, constant, b.getStringAttr("llvm.amdgcn.implicitarg.ptr"),
          ValueRange())
          .getResult(0);
  Value address =
      LLVM::GEPOp::create(b, constant, b.getI32Type(), arguments,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(dim)});
  Value count = LLVM::LoadOp::create(b, b.getI32Type(), address,
                                     /*alignment=*/4, /*isVolatile=*/false,
                                     /*isNonTemporal=*/false,
                                     /*isInvariant=*/true);
  return arith::IndexCastUIOp::create(b, b.getIndexType(), count);
}

Value ROCDLTargetInfo::emitUniform(ImplicitLocOpBuilder &b, Value value) const {
  return ROCDL::ReadfirstlaneOp::create(b, value.getType(), value);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void ROCDLTargetInfo::emitWorkgroupBarrier(ImplicitLocOpBuilder &b) const {
  // Fences of workgroup memory alone: global accesses stay in flight.
  auto local =
      LLVM::MMRATagAttr::get(b.getContext(), "amdgpu-synchronize-as", "local");
  auto fence = [&](LLVM::AtomicOrdering ordering) {
    auto op = LLVM::FenceOp::create(b, ordering, kWorkgroupScope);
    op->setDiscardableAttr(LLVM::LLVMDialect::getMmraAttrName(), local);
  };
  fence(LLVM::AtomicOrdering::release);
  ROCDL::SBarrierOp::create(b);
  fence(LLVM::AtomicOrdering::acquire);
}

void ROCDLTargetInfo::emitProgramBarrier(ImplicitLocOpBuilder &b) const {
  emitFence(b, LLVM::AtomicOrdering::release, kWorkgroupScope);
  ROCDL::SBarrierOp::create(b);
  emitFence(b, LLVM::AtomicOrdering::acquire, kWorkgroupScope);
}

void ROCDLTargetInfo::emitReleaseArrive(ImplicitLocOpBuilder &b,
                                        Scope scope) const {
  if (scope == Scope::Block)
    return emitProgramBarrier(b);
  emitFence(b, LLVM::AtomicOrdering::release, kWorkgroupScope);
  emitReleaseWait(b);
  ROCDL::SBarrierOp::create(b);
  emitFence(b, LLVM::AtomicOrdering::acquire, kWorkgroupScope);
}

void ROCDLTargetInfo::emitReleaseFence(ImplicitLocOpBuilder &b,
                                       Scope scope) const {
  emitFence(b, LLVM::AtomicOrdering::release, getSyncScope(scope));
  if (scope != Scope::Block)
    emitReleaseWait(b);
}

void ROCDLTargetInfo::emitAcquireFence(ImplicitLocOpBuilder &b,
                                       Scope scope) const {
  emitFence(b, LLVM::AtomicOrdering::acquire, getSyncScope(scope));
  // LLVM 22.1.8 loads what is the same for all threads through the scalar
  // cache, which no acquire invalidates, where it believes that nothing has
  // written there since the kernel began. Fences and barriers do not count.
  emitClobber(b);
}

void ROCDLTargetInfo::emitProgramFence(ImplicitLocOpBuilder &b, MemSemantic sem,
                                       Scope scope) const {
  if (sem == MemSemantic::Relaxed)
    return;
  // One thread's write-back and invalidation serve the whole compute unit, and
  // the barriers on both sides pass the order on.
  emitReleaseArrive(b, scope);
  emitInLeader(b, *this, [&] {
    if (isRelease(sem))
      emitReleaseFence(b, scope);
    if (isAcquire(sem))
      emitAcquireFence(b, scope);
  });
  emitProgramBarrier(b);
}

void ROCDLTargetInfo::emitSpinHint(ImplicitLocOpBuilder &b) const {
  // About 64 clocks: short against a trip to memory, and it frees the issue
  // slots for the waves that work.
  ROCDL::SSleepOp::create(b, 1);
}

//===----------------------------------------------------------------------===//
// Packets
//
// LLVM has no atomic of 16 bytes here, and waits after every volatile access.
// Buffer instructions take the cache bits as an operand. Their offsets have 32
// bits, so that the address of the tile is the resource's base.
//===----------------------------------------------------------------------===//

Value ROCDLTargetInfo::emitPacketBase(ImplicitLocOpBuilder &b,
                                      Value pointer) const {
  // In scalar registers, or each access would be a loop over its values.
  Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), pointer);
  Value uniform =
      LLVM::IntToPtrOp::create(b, pointer.getType(), emitUniform(b, address));
  Value stride = arith::ConstantOp::create(b, b.getI16IntegerAttr(0));
  return ROCDL::MakeBufferRsrcOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), 8), uniform, stride,
      emitI64(b, 0xffffffff),
      emitI32(b, static_cast<int32_t>(chip.amd.bufferFlags)));
}

/// `words` and their flags as the vector that one access moves.
static Value emitPackets(ImplicitLocOpBuilder &b, ValueRange words,
                         Value flag) {
  auto type =
      VectorType::get({static_cast<int64_t>(2 * words.size())}, b.getI32Type());
  Value vector = LLVM::PoisonOp::create(b, type);
  for (auto [i, word] : llvm::enumerate(words)) {
    vector = LLVM::InsertElementOp::create(b, vector, word, emitI32(b, 2 * i));
    vector =
        LLVM::InsertElementOp::create(b, vector, flag, emitI32(b, 2 * i + 1));
  }
  return vector;
}

void ROCDLTargetInfo::emitPacketStores(ImplicitLocOpBuilder &b,
                                       ValueRange words, Value flag, Value base,
                                       ValueRange offsets) const {
  unsigned wordsEach = words.size() / offsets.size();
  Value zero = emitI32(b, 0), aux = emitI32(b, chip.amd.systemStoreBits);
  for (auto [i, offset] : llvm::enumerate(offsets))
    ROCDL::RawPtrBufferStoreOp::create(
        b, emitPackets(b, words.slice(i * wordsEach, wordsEach), flag), base,
        offset, zero, aux, ArrayAttr(), ArrayAttr(), ArrayAttr());
}

SmallVector<Value> ROCDLTargetInfo::emitPacketLoads(ImplicitLocOpBuilder &b,
                                                    unsigned wordsEach,
                                                    Value base,
                                                    ValueRange offsets) const {
  // The loads are ordinary ones for LLVM, which would take them out of the
  // loop, volatile or not: this is what they may not be moved across.
  emitClobber(b);
  auto type = VectorType::get({2 * wordsEach}, b.getI32Type());
  Value zero = emitI32(b, 0), aux = emitI32(b, chip.amd.systemLoadBits);
  SmallVector<Value> loaded, result;
  for (Value offset : offsets)
    loaded.push_back(ROCDL::RawPtrBufferLoadOp::create(
        b, type, base, offset, zero, aux, ArrayAttr(), ArrayAttr(),
        ArrayAttr()));
  for (Value vector : loaded)
    for (unsigned i = 0; i < 2 * wordsEach; ++i)
      result.push_back(
          LLVM::ExtractElementOp::create(b, vector, emitI32(b, i)));
  return result;
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

void mlir::iris::registerROCDLDialect(DialectRegistry &registry) {
  registry.insert<ROCDL::ROCDLDialect>();
}

std::unique_ptr<TargetInfo> mlir::iris::createROCDLTargetInfo(StringRef name) {
  const ChipInfo *chip = findChip(name);
  if (!chip || !chip->isAMD())
    return nullptr;
  return std::make_unique<ROCDLTargetInfo>(*chip);
}
