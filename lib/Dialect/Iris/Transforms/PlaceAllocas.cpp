// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlaceAllocas.cpp - Lowers allocas to workgroup memory --------------===//
//
// A kernel reads as if one thread executed it, so `memref.alloca` is one buffer
// of the program, not one per thread: workgroup memory, which `gpu.func`
// declares. Its address space becomes part of the types of all its views. The
// host lowering allocates it in the program's arena.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "iris/Analysis/WorkgroupMemory.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-place-allocas"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISPLACEALLOCASPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

static LogicalResult verifyAlloca(memref::AllocaOp op) {
  MemRefType type = op.getType();
  if (!type.hasStaticShape())
    return op.emitOpError("allocates ")
           << type
           << " with a size that is not constant; expected a static shape: "
              "workgroup memory is laid out when the kernel is compiled";
  if (!type.getLayout().isIdentity())
    return op.emitOpError("allocates ")
           << type << "; expected no layout, and views of the buffer";
  Type element = type.getElementType();
  bool isNumber =
      isa<IntegerType, Float16Type, BFloat16Type, Float32Type, Float64Type>(
          element);
  if (!isNumber ||
      !llvm::is_contained({8u, 16u, 32u, 64u}, element.getIntOrFloatBitWidth()))
    return op.emitOpError("allocates elements of ")
           << element << "; expected f16, bf16, f32, f64, i8, i16, i32 or i64";
  if (type.getMemorySpace() && !isWorkgroupMemory(type))
    return op.emitOpError("allocates ")
           << type
           << "; expected no memory space, or that of workgroup memory, in "
              "which buffers of a program are";
  if (op.getAlignment().value_or(1) > kWorkgroupAlignment)
    return op.emitOpError("has an alignment of ")
           << *op.getAlignment() << " bytes; expected at most "
           << kWorkgroupAlignment;
  return success();
}

/// True if `op` may access a buffer of the program like any other buffer.
static bool isPlainAccess(Operation *op) {
  // One of the buffers of get and put is remote, which their verifiers check.
  if (isa<GetOp, PutOp>(op))
    return true;
  return !isa<IrisDialect>(op->getDialect());
}

/// The buffer that `op` makes of a part or another shape of its first operand;
/// null if it makes none, or does anything else.
static Value getView(Operation *op) {
  if (!isa<ViewLikeOpInterface, memref::TransposeOp>(op))
    return Value();
  // The metadata are numbers, and the buffer that they describe.
  bool isOne =
      op->getNumResults() == 1 || isa<memref::ExtractStridedMetadataOp>(op);
  return isOne ? op->getResult(0) : Value();
}

/// Reports that `user` chooses at run time which buffer is used, `buffer` or
/// another one.
static LogicalResult emitChoice(Operation *user, Value buffer, bool carries) {
  InFlightDiagnostic diagnostic =
      user->emitOpError(carries ? "carries " : "chooses ")
      << buffer.getType()
      << ", a buffer of the program (memref.alloca); expected ops that access "
         "it, and views";
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !type.hasStaticShape())
    return diagnostic;
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 2);
  return diagnostic << "; in place of two buffers, index one of "
                    << MemRefType::get(shape, type.getElementType());
}

/// Rejects uses of `buffer` and its views that prevent tracking it, or that
/// other programs would see.
static LogicalResult verifyUses(Value buffer) {
  for (Operation *user : buffer.getUsers()) {
    if (isa<memref::DeallocOp>(user))
      return user->emitOpError("frees a buffer of the program; expected none: "
                               "it lives as long as the program");
    if (!isPlainAccess(user))
      return user->emitOpError("uses ")
             << buffer.getType()
             << ", a buffer local to the program (memref.alloca); expected "
                "one that other programs can access, an argument of the kernel";
    bool makesBuffers =
        llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
    bool isFlow = user->getNumRegions() != 0 && !isa<tile::MatmulOp>(user);
    bool yieldsBuffer =
        user->hasTrait<OpTrait::IsTerminator>() && !isa<tile::YieldOp>(user);
    Value view = getView(user);
    if (isFlow || yieldsBuffer || (makesBuffers && !view))
      return emitChoice(user, buffer, isFlow || yieldsBuffer);
    if (!makesBuffers)
      continue;
    if (!isa<MemRefType>(view.getType()))
      return user->emitOpError("makes ")
             << view.getType() << " of a buffer of the program; expected a "
             << "view with a rank";
    if (failed(verifyUses(view)))
      return failure();
  }
  return success();
}

/// Sets the memory space of all views of `buffer`, whose uses are verified.
static void propagate(Value buffer, Attribute space) {
  for (Operation *user : buffer.getUsers()) {
    Value view = getView(user);
    auto type = view ? dyn_cast<MemRefType>(view.getType()) : MemRefType();
    if (!type)
      continue;
    view.setType(MemRefType::get(type.getShape(), type.getElementType(),
                                 type.getLayout(), space));
    propagate(view, space);
  }
}

/// Reports at `op`, the kernel or an alloca that has become one of its buffers,
/// that there are too many bytes. Also checked on the host, because kernels
/// must compile for all targets.
static LogicalResult verifyBytes(Operation *op, gpu::GPUFuncOp kernel) {
  uint64_t bytes = getWorkgroupAttributionBytes(kernel);
  if (bytes <= kMaxWorkgroupBytes)
    return success();
  return op->emitOpError(op == kernel.getOperation() ? "has "
                                                     : "brings the kernel to ")
         << (bytes == kSaturatedBytes ? "at least " : "") << bytes
         << " bytes of buffers of the program (memref.alloca); "
         << "expected at most " << kMaxWorkgroupBytes
         << ", the maximum of all targets";
}

static LogicalResult lowerAlloca(gpu::GPUFuncOp kernel, memref::AllocaOp op) {
  if (failed(verifyAlloca(op)) || failed(verifyUses(op)))
    return failure();
  auto space = gpu::AddressSpaceAttr::get(
      op.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
  MemRefType type = op.getType();
  auto declared = MemRefType::get(type.getShape(), type.getElementType(),
                                  MemRefLayoutAttrInterface(), space);
  LDBG() << op << ": workgroup memory of " << kernel.getName();
  Value buffer = kernel.addWorkgroupAttribution(declared, op.getLoc());
  if (failed(verifyBytes(op, kernel)))
    return failure();
  op.replaceAllUsesWith(buffer);
  op.erase();
  propagate(buffer, space);
  return success();
}

/// Required by the widest accesses; LLVM would align to the element.
static void alignBuffers(gpu::GPUFuncOp kernel) {
  StringAttr name = StringAttr::get(kernel.getContext(),
                                    LLVM::LLVMDialect::getAlignAttrName());
  OpBuilder b(kernel.getContext());
  for (unsigned i = 0, e = kernel.getNumWorkgroupAttributions(); i < e; ++i)
    if (!kernel.getWorkgroupAttributionAttr(i, name))
      kernel.setWorkgroupAttributionAttr(
          i, name, b.getI64IntegerAttr(kWorkgroupAlignment));
}

namespace {
struct PlaceAllocasPass
    : iris::impl::IrisPlaceAllocasPassBase<PlaceAllocasPass> {
  void runOnOperation() override {
    WalkResult walk = getOperation()->walk([](memref::AllocOp op) {
      if (!op->getParentOfType<gpu::GPUFuncOp>())
        return WalkResult::advance();
      op.emitOpError("allocates ")
          << op.getType()
          << " in a kernel; expected memref.alloca, a buffer of the program, "
             "or an argument";
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    getOperation()->walk([&](gpu::GPUFuncOp kernel) {
      if (failed(verifyBytes(kernel, kernel)))
        return signalPassFailure();
      SmallVector<memref::AllocaOp> ops;
      kernel.walk([&](memref::AllocaOp op) { ops.push_back(op); });
      for (memref::AllocaOp op : ops)
        if (failed(lowerAlloca(kernel, op)))
          return signalPassFailure();
      alignBuffers(kernel);
    });
  }
};
} // namespace
