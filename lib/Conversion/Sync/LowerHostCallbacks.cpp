// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerHostCallbacks.cpp - Runtime callbacks on the host -------------===//

#include "iris/Conversion/IrisToLLVM.h"
#include "iris/Conversion/Sync.h"

#define DEBUG_TYPE "iris-lower-host-callbacks"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISLOWERHOSTCALLBACKSPASS
#include "iris/Conversion/Sync.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

namespace {
struct LowerHostCallbacksPass
    : iris::impl::IrisLowerHostCallbacksPassBase<LowerHostCallbacksPass> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](FunctionOpInterface kernel) {
      if (!kernel->hasAttr(kHostKernelAttr))
        return WalkResult::advance();
      // The argument block, then the program.
      if (kernel.getNumArguments() != 2) {
        kernel.emitOpError("has ")
            << kernel.getNumArguments()
            << " arguments; expected the argument block and the program";
        return WalkResult::interrupt();
      }
      lowerHostCallbacks(kernel, kernel.getArgument(1));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    // The linker must not see the placeholders.
    SmallVector<LLVM::LLVMFuncOp> placeholders;
    getOperation()->walk([&](LLVM::LLVMFuncOp function) {
      if (function.isExternal() &&
          llvm::is_contained({kHostClockSymbol, kHostYieldSymbol},
                             function.getName()))
        placeholders.push_back(function);
    });
    for (LLVM::LLVMFuncOp function : placeholders)
      if (SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()))
        function.erase();
  }
};
} // namespace
