// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VerifyHostProgram.cpp - Verifies the ops of @main ------------------===//

#include "iris/Conversion/HostProgram.h"

#include "iris-c/RuntimeABI.h"
#include "iris/Dialect/Iris/IR/BufferSpan.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Iris/Transforms/KernelLanguage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "iris-verify-host-program"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISVERIFYHOSTPROGRAMPASS
#include "iris/Conversion/HostProgramPasses.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// Types that a kernel argument may have.
static bool isArgumentType(Type type) {
  if (auto buffer = dyn_cast<MemRefType>(type))
    return buffer.getRank() <= IRISRT_MAX_DIMS && buffer.isStrided() &&
           isArgumentType(buffer.getElementType());
  if (auto integer = dyn_cast<IntegerType>(type))
    return llvm::is_contained({1, 8, 16, 32, 64}, integer.getWidth());
  return isa<CtxType, IndexType, Float16Type, BFloat16Type, Float32Type,
             Float64Type>(type);
}

static bool isView(Operation *op) {
  return isa<memref::AssumeAlignmentOp, memref::CastOp, memref::CollapseShapeOp,
             memref::DimOp, memref::ExpandShapeOp,
             memref::ExtractStridedMetadataOp, memref::MemorySpaceCastOp,
             memref::ReinterpretCastOp, memref::SubViewOp, memref::TransposeOp,
             memref::ViewOp>(op);
}

static bool isAllowed(Operation *op) {
  if (isa<RankOp, NumRanksOp, AllocOp, DeallocOp, LaunchOp, SyncOp>(op) ||
      isView(op) || isa<func::ReturnOp>(op))
    return true;
  return isa<cf::BranchOp, cf::CondBranchOp, cf::SwitchOp>(op) ||
         isa<scf::SCFDialect>(op->getDialect());
}

/// Reports an op that the host cannot run. Arithmetic is that of kernels.
static LogicalResult verifyKind(Operation *op) {
  if (isa_and_nonnull<arith::ArithDialect>(op->getDialect())) {
    if (findKernelOp(op->getName().getStringRef()))
      return success();
    return op->emitOpError("cannot run on the host; expected an op of arith "
                           "that kernels may use (")
           << kKernelLanguagePage << ")";
  }
  if (op->getDialect() && isAllowed(op))
    return success();
  return op->emitOpError(
      "cannot run on the host; expected scalar arith, scf, views of buffers "
      "or iris ops of host programs in @main");
}

/// True if `function` calls itself, directly or through other functions.
static bool isRecursive(func::FuncOp function, SymbolTable &symbols) {
  llvm::SmallSetVector<func::FuncOp, 8> reached;
  auto addCallees = [&](func::FuncOp caller) {
    caller.walk([&](func::CallOp call) {
      if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
        reached.insert(callee);
    });
  };
  addCallees(function);
  for (size_t i = 0; i < reached.size(); ++i)
    addCallees(reached[i]);
  return reached.contains(function);
}

/// Reports a call that the inliner has left.
static LogicalResult refuseCall(func::CallOp call) {
  SymbolTable symbols(call->getParentOfType<ModuleOp>());
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  InFlightDiagnostic error = call.emitOpError("cannot be inlined into @main; ");
  if (!callee || callee.isExternal())
    return error << "expected a function defined in this module";
  if (isRecursive(callee, symbols))
    return error << "@" << call.getCallee()
                 << " calls itself; expected no recursion, but scf.for or "
                    "scf.while";
  return error << "expected a function of one block, without early returns";
}

/// Sizes that only a run knows are checked by the run.
static LogicalResult verifySizes(AllocOp op) {
  for (auto [index, size] : llvm::enumerate(op.getSizes()))
    if (std::optional<int64_t> value = getConstantIntValue(size);
        value && *value < 0)
      return op.emitOpError("size ")
             << index << " is " << *value << "; expected 0 or more";
  return success();
}

static LogicalResult verifyOp(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return refuseCall(call);
  if (auto alloc = dyn_cast<AllocOp>(op))
    return verifySizes(alloc);
  if (failed(verifyKind(op)))
    return failure();
  for (Type type : op->getResultTypes()) {
    if (!isArgumentType(type))
      return op->emitOpError("has a result of type ")
             << type
             << "; expected index, i1, i8, i16, i32, i64, f16, bf16, f32, f64 "
                "or a strided buffer of these of at most "
             << IRISRT_MAX_DIMS << " dimensions in @main";
    if (auto buffer = dyn_cast<MemRefType>(type);
        buffer && !isAddressable(buffer))
      return op->emitOpError("has a result of type ")
             << type << "; expected " << kAddressableBytes;
  }
  if (auto launch = dyn_cast<LaunchOp>(op))
    for (auto [index, type] :
         llvm::enumerate(launch.getKernelOperands().getTypes()))
      if (!isArgumentType(type))
        return op->emitOpError("argument ")
               << index << " has type " << type
               << "; expected !iris.ctx, a scalar or a buffer of at most "
               << IRISRT_MAX_DIMS << " dimensions";
  return success();
}

namespace {
struct VerifyHostProgramPass
    : iris::impl::IrisVerifyHostProgramPassBase<VerifyHostProgramPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal()) {
      getOperation().emitError(
          "there is no host program; expected func.func @main(%ctx: "
          "!iris.ctx)");
      return signalPassFailure();
    }
    if (main.getNumArguments() != 1 ||
        !isa<CtxType>(main.getArgumentTypes().front()) ||
        main.getNumResults() != 0) {
      main.emitOpError("has type ")
          << main.getFunctionType() << "; expected (!iris.ctx) -> ()";
      return signalPassFailure();
    }
    bool valid = true;
    for (Operation &op : *getOperation().getBody())
      if (!isa<func::FuncOp, gpu::GPUModuleOp>(op)) {
        op.emitOpError("is outside of @main; expected only functions and "
                       "kernels at module level");
        valid = false;
      }
    main.walk([&](Operation *op) {
      valid &= succeeded(verifyIrisAttributes(op)) &&
               (op == main || succeeded(verifyOp(op)));
    });
    if (!valid)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
