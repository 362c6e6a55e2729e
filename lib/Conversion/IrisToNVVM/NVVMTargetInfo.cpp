// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NVVMTargetInfo.cpp - NVIDIA GPUs -----------------------------------===//
//
// Orderings follow the memory consistency model of the PTX ISA. LLVM 22 lowers
// the orderings and scopes of loads, stores, compare-and-swap and fences; those
// of `atomicrmw` it drops, so that read-modify-writes are inline PTX.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/IrisToNVVM.h"

#include "PTX.h"
#include "iris-c/RuntimeABI.h"
#include "iris/Chips/ChipInfo.h"
#include "iris/Conversion/EmitHelpers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
class NVVMTargetInfo : public TargetInfo {
public:
  explicit NVVMTargetInfo(const ChipInfo &chip)
      : TargetInfo(chip.name), chip(chip) {}

  unsigned getWaveSize() const override { return chip.waveSize; }
  unsigned getGlobalAddressSpace() const override { return 1; }
  bool accessesCarryOrdering() const override { return true; }

  StringRef getSyncScope(Scope scope) const override {
    switch (scope) {
    case Scope::Block:
      return "block";
    case Scope::Gpu:
      return "device";
    case Scope::Sys:
      return "";
    }
    llvm_unreachable("unknown scope");
  }

  bool hasDependentLaunch() const override {
    return chip.nvidia.hasDependentLaunch;
  }
  // Inline PTX: accesses may move across LLVM's intrinsics.
  void emitDependentStart(ImplicitLocOpBuilder &b,
                          bool startsNext) const override {
    emitPTX(b, Type(), {}, "griddepcontrol.wait;", "~{memory}");
    if (startsNext)
      emitPTX(b, Type(), {}, "griddepcontrol.launch_dependents;", "~{memory}");
  }

  // bar.sync orders all accesses of the participating threads.
  void emitWorkgroupBarrier(ImplicitLocOpBuilder &b) const override {
    gpu::BarrierOp::create(b);
  }
  void emitProgramBarrier(ImplicitLocOpBuilder &b) const override {
    gpu::BarrierOp::create(b);
  }
  void emitReleaseArrive(ImplicitLocOpBuilder &b, Scope) const override {
    gpu::BarrierOp::create(b);
  }

  void emitReleaseFence(ImplicitLocOpBuilder &b, Scope scope) const override {
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::release,
                          getSyncScope(scope));
  }
  void emitAcquireFence(ImplicitLocOpBuilder &b, Scope scope) const override {
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acquire,
                          getSyncScope(scope));
  }

  void emitProgramFence(ImplicitLocOpBuilder &b, MemSemantic sem,
                        Scope scope) const override {
    if (sem == MemSemantic::Relaxed)
      return;
    // The model pairs a fence with accesses of the same thread, so every thread
    // has its own. Loads before it: fence, then barrier. Stores after it:
    // barrier, then fence.
    if (isRelease(sem))
      gpu::BarrierOp::create(b);
    LLVM::FenceOp::create(b, toLLVM(sem), getSyncScope(scope));
    if (isAcquire(sem))
      gpu::BarrierOp::create(b);
  }

  Value emitAtomicRMW(ImplicitLocOpBuilder &b, RMWKind kind, Value value,
                      Value address, LLVM::AtomicOrdering ordering, Scope scope,
                      bool needsResult) const override;

  void emitPacketStores(ImplicitLocOpBuilder &b, ValueRange words, Value flag,
                        Value base, ValueRange offsets) const override;
  SmallVector<Value> emitPacketLoads(ImplicitLocOpBuilder &b,
                                     unsigned wordsEach, Value base,
                                     ValueRange offsets) const override;

  int64_t getClockHz() const override { return IRISRT_CLOCK_HZ_NVPTX; }
  /// None: a poll takes longer than the shortest sleep, and a flag that comes
  /// during the sleep is late.
  void emitSpinHint(ImplicitLocOpBuilder &) const override {}

private:
  /// PTX's operation and type, "add.u32"; empty if there is none for elements
  /// of `type`.
  StringRef getInstruction(RMWKind kind, Type type) const;

  const ChipInfo &chip;
};
} // namespace

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

StringRef NVVMTargetInfo::getInstruction(RMWKind kind, Type type) const {
  unsigned width = type.getIntOrFloatBitWidth();
  if (kind == RMWKind::Xchg)
    return width == 32 ? "exch.b32" : width == 64 ? "exch.b64" : "";
  if (isa<FloatType>(type)) {
    // `sub` is an add of the negative. atom.add.f32 flushes denormals in global
    // memory, and there is no float min and max: those are loops.
    if (kind != RMWKind::Add && kind != RMWKind::Sub)
      return "";
    if (type.isF64())
      return "add.f64";
    if (type.isF16())
      return "add.noftz.f16";
    if (type.isBF16() && chip.nvidia.hasBF16AtomicAdd)
      return "add.noftz.bf16";
    return "";
  }
  if (width != 32 && width != 64)
    return "";
  bool wide = width == 64;
  switch (kind) {
  case RMWKind::Add:
  case RMWKind::Sub:
    return wide ? "add.u64" : "add.u32";
  case RMWKind::And:
    return wide ? "and.b64" : "and.b32";
  case RMWKind::Or:
    return wide ? "or.b64" : "or.b32";
  case RMWKind::Xor:
    return wide ? "xor.b64" : "xor.b32";
  case RMWKind::Min:
    return wide ? "min.s64" : "min.s32";
  case RMWKind::Max:
    return wide ? "max.s64" : "max.s32";
  case RMWKind::UMin:
    return wide ? "min.u64" : "min.u32";
  case RMWKind::UMax:
    return wide ? "max.u64" : "max.u32";
  case RMWKind::Xchg:
    break;
  }
  llvm_unreachable("handled above");
}

static StringRef ptxOrdering(LLVM::AtomicOrdering ordering) {
  switch (ordering) {
  case LLVM::AtomicOrdering::acquire:
    return "acquire";
  case LLVM::AtomicOrdering::release:
    return "release";
  case LLVM::AtomicOrdering::acq_rel:
    return "acq_rel";
  default:
    return "relaxed";
  }
}

static StringRef ptxScope(Scope scope) {
  switch (scope) {
  case Scope::Block:
    return "cta";
  case Scope::Gpu:
    return "gpu";
  case Scope::Sys:
    return "sys";
  }
  llvm_unreachable("unknown scope");
}

/// The register class of inline PTX for values of `type`.
static StringRef constraintOf(Type type) {
  if (type.isF32())
    return "f";
  if (type.isF64())
    return "d";
  unsigned width = type.getIntOrFloatBitWidth();
  return width == 16 ? "h" : width == 32 ? "r" : "l";
}

Value NVVMTargetInfo::emitAtomicRMW(ImplicitLocOpBuilder &b, RMWKind kind,
                                    Value value, Value address,
                                    LLVM::AtomicOrdering ordering, Scope scope,
                                    bool needsResult) const {
  Type type = value.getType();
  StringRef instruction = getInstruction(kind, type);
  if (instruction.empty())
    return emitCASLoop(b, kind, value, address, ordering, getSyncScope(scope));

  if (kind == RMWKind::Sub)
    value = emitNegation(b, value);
  // 16-bit floats travel in integer registers.
  if (kind == RMWKind::Xchg || type.getIntOrFloatBitWidth() == 16)
    value = emitToBits(b, value);
  Type asmType = value.getType();
  StringRef constraint = constraintOf(asmType);

  // `red` neither acquires nor exchanges.
  bool acquires = ordering == LLVM::AtomicOrdering::acquire ||
                  ordering == LLVM::AtomicOrdering::acq_rel;
  bool reduce = !needsResult && !acquires && kind != RMWKind::Xchg;
  std::string suffix = ("." + ptxOrdering(ordering) + "." + ptxScope(scope) +
                        ".global." + instruction)
                           .str();
  auto create = [&](TypeRange result, const Twine &text,
                    const Twine &constraints) {
    return LLVM::InlineAsmOp::create(
        b, result, ValueRange{address, value}, text.str(), constraints.str(),
        /*has_side_effects=*/true, /*is_align_stack=*/false,
        LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
        ArrayAttr());
  };
  if (reduce) {
    create({}, "red" + suffix + " [$0], $1;", "l," + constraint + ",~{memory}");
    return Value();
  }
  Value old = create(asmType, "atom" + suffix + " $0, [$1], $2;",
                     "=" + constraint + ",l," + constraint + ",~{memory}")
                  .getRes();
  return asmType == type ? old : emitFromBits(b, old, type);
}

//===----------------------------------------------------------------------===//
// Packets
//
// PTX takes an access to a vector as accesses to its elements, in no order: as
// two of 64 bits, each of which is whole. LLVM has no such atomic.
//===----------------------------------------------------------------------===//

static Value emitByteAddress(ImplicitLocOpBuilder &b, Value base,
                             Value offset) {
  Value distance = arith::ExtUIOp::create(b, b.getI64Type(), offset);
  return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{distance});
}

void NVVMTargetInfo::emitPacketStores(ImplicitLocOpBuilder &b, ValueRange words,
                                      Value flag, Value base,
                                      ValueRange offsets) const {
  if (words.size() == offsets.size())
    return TargetInfo::emitPacketStores(b, words, flag, base, offsets);
  for (auto [i, offset] : llvm::enumerate(offsets))
    emitPTX(b, Type(),
            {emitByteAddress(b, base, offset), words[2 * i], words[2 * i + 1],
             flag},
            "{ .reg .b64 lo, hi; mov.b64 lo, {$1, $3}; mov.b64 hi, {$2, $3}; "
            "st.relaxed.sys.global.v2.b64 [$0], {lo, hi}; }",
            "l,r,r,r,~{memory}");
}

SmallVector<Value> NVVMTargetInfo::emitPacketLoads(ImplicitLocOpBuilder &b,
                                                   unsigned wordsEach,
                                                   Value base,
                                                   ValueRange offsets) const {
  if (wordsEach == 1)
    return TargetInfo::emitPacketLoads(b, wordsEach, base, offsets);
  SmallVector<Type> fields(4, b.getI32Type());
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), fields);
  SmallVector<Value> loaded, result;
  for (Value offset : offsets)
    loaded.push_back(emitPTX(b, type, emitByteAddress(b, base, offset),
                             "{ .reg .b64 lo, hi; "
                             "ld.relaxed.sys.global.v2.b64 {lo, hi}, [$4]; "
                             "mov.b64 {$0, $1}, lo; mov.b64 {$2, $3}, hi; }",
                             "=r,=r,=r,=r,l,~{memory}"));
  for (Value vector : loaded)
    for (int64_t i = 0; i < 4; ++i)
      result.push_back(
          LLVM::ExtractValueOp::create(b, vector, ArrayRef<int64_t>{i}));
  return result;
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

void mlir::iris::registerNVVMDialect(DialectRegistry &registry) {
  registry.insert<NVVM::NVVMDialect>();
}

std::unique_ptr<TargetInfo> mlir::iris::createNVVMTargetInfo(StringRef name) {
  const ChipInfo *chip = findChip(name);
  if (!chip || chip->isAMD())
    return nullptr;
  return std::make_unique<NVVMTargetInfo>(*chip);
}
