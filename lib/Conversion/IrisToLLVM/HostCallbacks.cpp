// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostCallbacks.cpp - Runtime callbacks on the host ------------------===//
//
// Waits read the clock and yield through callbacks in IrisRtHostProgram. A
// kernel receives it only with its final signature; until then, calls use
// placeholders.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/IrisToLLVM.h"

#include "iris-c/RuntimeABI.h"

using namespace mlir;
using namespace mlir::iris;

/// The offset in IrisRtHostProgram of the callback for `symbol`.
static std::optional<int32_t> callbackOffset(StringRef symbol) {
  if (symbol == kHostClockSymbol)
    return offsetof(IrisRtHostProgram, clock);
  if (symbol == kHostYieldSymbol)
    return offsetof(IrisRtHostProgram, yield);
  return std::nullopt;
}

void mlir::iris::lowerHostCallbacks(Operation *kernel, Value program) {
  SmallVector<LLVM::CallOp> calls;
  kernel->walk([&](LLVM::CallOp call) {
    if (call.getCallee() && callbackOffset(*call.getCallee()))
      calls.push_back(call);
  });
  for (LLVM::CallOp call : calls) {
    ImplicitLocOpBuilder b(call.getLoc(), call);
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value address = LLVM::GEPOp::create(
        b, pointer, b.getI8Type(), program,
        ArrayRef<LLVM::GEPArg>{*callbackOffset(*call.getCallee())});
    Value callee = LLVM::LoadOp::create(b, pointer, address);
    auto type = LLVM::LLVMFunctionType::get(
        call.getNumResults() ? call.getResult().getType()
                             : LLVM::LLVMVoidType::get(b.getContext()),
        {});
    auto indirect = LLVM::CallOp::create(b, type, ValueRange{callee});
    call->replaceAllUsesWith(indirect->getResults());
    call.erase();
  }
}
