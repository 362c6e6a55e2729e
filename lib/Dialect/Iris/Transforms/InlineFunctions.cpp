// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InlineFunctions.cpp - Inlines calls in kernels ---------------------===//
//
// Upstream's inliner only visits callable functions; a gpu.func is not one.
// This pass finds the calls and uses upstream's inlining utility.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "iris/Dialect/Iris/IR/InlinedLocation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-inline-functions"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISINLINEFUNCTIONSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// Maximum depth of nested calls; deeper nesting is recursion.
static constexpr unsigned kMaxDepth = 64;

namespace {
/// Upstream's rules, but inlining into a gpu.func, for which its dialect has no
/// interface, is always legal.
struct KernelInliner : InlinerInterface {
  using InlinerInterface::InlinerInterface;
  using InlinerInterface::isLegalToInline;
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override {
    return true;
  }
};
} // namespace

/// Inlines one call.
static LogicalResult inlineOne(func::CallOp call, SymbolTable &symbols) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal())
    return call.emitOpError("calls ")
           << call.getCallee()
           << ", which has no body in this gpu.module; nothing is linked to "
              "kernels";
  LDBG() << "inline " << call;
  KernelInliner interface(call.getContext());
  InlinerConfig config;
  if (!callee.getBody().hasOneBlock() ||
      failed(inlineCall(interface, config.getCloneCallback(), call, callee,
                        &callee.getBody())))
    return call.emitOpError("cannot be inlined; expected a function of one "
                            "block, without early returns");
  call.erase();
  return success();
}

namespace {
struct InlineFunctionsPass
    : iris::impl::IrisInlineFunctionsPassBase<InlineFunctionsPass> {
  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (auto function : module.getOps<func::FuncOp>())
      function.getBody().walk([&](Operation *op) {
        op->setLoc(locationInFunction(op->getLoc(), function.getSymNameAttr()));
      });
    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      if (failed(inlineCalls(kernel, symbols)))
        return signalPassFailure();
    // Called functions are now part of their callers.
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      function.erase();
  }

private:
  static LogicalResult inlineCalls(gpu::GPUFuncOp kernel,
                                   SymbolTable &symbols) {
    for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
      SmallVector<func::CallOp> calls;
      kernel.walk([&](func::CallOp call) { calls.push_back(call); });
      if (calls.empty())
        return success();
      for (func::CallOp call : calls)
        if (failed(inlineOne(call, symbols)))
          return failure();
    }
    return kernel.emitOpError("calls functions that call themselves; kernels "
                              "have no stack to recurse on");
  }
};
} // namespace
