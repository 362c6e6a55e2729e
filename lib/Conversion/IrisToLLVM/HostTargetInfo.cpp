// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostTargetInfo.cpp - The host target: one thread per program -------===//
//
// Uses C++11 atomics. Orderings are on the accesses, not on fences, because
// ThreadSanitizer does not support fences.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/IrisToLLVM.h"

#include "iris-c/RuntimeABI.h"
#include "iris/Conversion/EmitHelpers.h"

using namespace mlir;
using namespace mlir::iris;

/// Calls the placeholder `symbol`, and declares it if necessary.
static LLVM::CallOp emitPlaceholderCall(ImplicitLocOpBuilder &b,
                                        StringRef symbol, Type result) {
  Operation *module = b.getInsertionBlock()->getParentOp();
  while (!module->hasTrait<OpTrait::SymbolTable>())
    module = module->getParentOp();
  auto callee = dyn_cast_or_null<LLVM::LLVMFuncOp>(
      SymbolTable::lookupSymbolIn(module, symbol));
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&module->getRegion(0).front());
    callee = LLVM::LLVMFuncOp::create(b, symbol,
                                      LLVM::LLVMFunctionType::get(result, {}));
  }
  return LLVM::CallOp::create(b, callee, ValueRange());
}

namespace {
class HostTargetInfo : public TargetInfo {
public:
  using TargetInfo::TargetInfo;

  unsigned getWaveSize() const override { return 1; }
  unsigned getGlobalAddressSpace() const override { return 0; }
  bool accessesCarryOrdering() const override { return true; }
  bool convertsBF16() const override { return false; }
  StringRef getSyncScope(Scope) const override { return ""; }

  Value emitThreadId(ImplicitLocOpBuilder &b) const override {
    return emitI32(b, 0);
  }

  // A program is one thread, so barriers are no-ops.
  void emitWorkgroupBarrier(ImplicitLocOpBuilder &) const override {}
  void emitProgramBarrier(ImplicitLocOpBuilder &) const override {}
  void emitReleaseArrive(ImplicitLocOpBuilder &, Scope) const override {}

  void emitReleaseFence(ImplicitLocOpBuilder &b, Scope) const override {
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::release);
  }
  void emitAcquireFence(ImplicitLocOpBuilder &b, Scope) const override {
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acquire);
  }
  void emitProgramFence(ImplicitLocOpBuilder &b, MemSemantic sem,
                        Scope) const override {
    if (sem != MemSemantic::Relaxed)
      LLVM::FenceOp::create(b, toLLVM(sem));
  }

  Value emitAtomicRMW(ImplicitLocOpBuilder &b, RMWKind kind, Value value,
                      Value address, LLVM::AtomicOrdering ordering, Scope,
                      bool) const override {
    // Floats use a CAS loop: LLVM's expansion would call a library for bf16.
    if (isa<FloatType>(value.getType()) && kind != RMWKind::Xchg)
      return emitCASLoop(b, kind, value, address, ordering, "");
    return emitLLVMAtomicRMW(b, kind, value, address, ordering, "");
  }

  int64_t getClockHz() const override { return IRISRT_CLOCK_HZ_HOST; }
  Value emitClock(ImplicitLocOpBuilder &b) const override {
    return emitPlaceholderCall(b, kHostClockSymbol, b.getI64Type()).getResult();
  }
  void emitSpinHint(ImplicitLocOpBuilder &b) const override {
    emitPlaceholderCall(b, kHostYieldSymbol,
                        LLVM::LLVMVoidType::get(b.getContext()));
  }
};
} // namespace

std::unique_ptr<TargetInfo> mlir::iris::createHostTargetInfo(StringRef name) {
  if (name != "host")
    return nullptr;
  return std::make_unique<HostTargetInfo>(name);
}
