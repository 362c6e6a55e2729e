// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisHostOps.cpp - Ops of host programs -----------------------------===//

#include "iris/Dialect/Iris/IR/BufferSpan.h"
#include "iris/Dialect/Iris/IR/LaunchedKernel.h"
#include "iris/Text/Nearest.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::iris;

#define GET_OP_CLASSES
#include "iris/Dialect/Iris/IR/IrisOps.cpp.inc"

static constexpr StringLiteral kKernelForm =
    "a gpu.func with the `kernel` keyword";

/// A buffer in the heap: row-major and in #iris.symmetric.
static LogicalResult verifyHeapBuffer(Operation *op, Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  if (!buffer || !isSymmetric(buffer))
    return op->emitOpError("buffer is ")
           << type << "; expected a memref in memory space #iris.symmetric";
  return success();
}

LogicalResult AllocOp::verify() {
  if (failed(verifyHeapBuffer(*this, getType())))
    return failure();
  auto buffer = cast<MemRefType>(getType());
  if (!buffer.getLayout().isIdentity())
    return emitOpError("result is ") << buffer << "; expected a row-major one";
  if (!isAddressable(buffer))
    return emitOpError("result is ")
           << buffer << "; expected " << kAddressableBytes;
  if (static_cast<int64_t>(getSizes().size()) !=
      static_cast<int64_t>(buffer.getNumDynamicDims()))
    return emitOpError("has ") << getSizes().size() << " sizes for " << buffer
                               << "; expected " << buffer.getNumDynamicDims();
  return success();
}

LogicalResult DeallocOp::verify() {
  return verifyHeapBuffer(*this, getBuffer().getType());
}

LogicalResult LaunchOp::verify() {
  if (getPrograms().empty() || getPrograms().size() > 3)
    return emitOpError("has ")
           << getPrograms().size() << " grid extents; expected 1 to 3";
  return verifyGroup(*this, getGroupAttr(), kMaxGroup);
}

/// Whether a kernel argument of type `expected` accepts a value of type `got`.
/// A buffer in the symmetric heap is accepted for any buffer.
static bool isPassable(Type got, Type expected) {
  if (got == expected)
    return true;
  auto from = dyn_cast<MemRefType>(got), to = dyn_cast<MemRefType>(expected);
  return from && to && !to.getMemorySpace() &&
         isa_and_nonnull<SymmetricAttr>(from.getMemorySpace()) &&
         MemRefType::get(from.getShape(), from.getElementType(),
                         from.getLayout()) == to;
}

/// The names of all kernels of a module, as launches write them.
static SmallVector<std::string> kernelNames(ModuleOp module) {
  SmallVector<std::string> names;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel())
        names.push_back(
            ("@" + kernels.getName() + "::@" + kernel.getName()).str());
  return names;
}

/// Reports that there is no function of the name that `op` launches.
static LogicalResult refuseName(LaunchOp op) {
  SmallVector<std::string> names = kernelNames(op->getParentOfType<ModuleOp>());
  std::string name = llvm::to_string(op.getKernel());
  StringRef nearest = iristext::findNearest(name, names);
  InFlightDiagnostic error = op.emitOpError("there is no kernel ") << name;
  if (!nearest.empty())
    error << "; did you mean " << nearest << "?";
  else if (names.empty())
    error << "; expected " << kKernelForm << " in this file";
  else
    error << "; expected " << llvm::join(names, ", ");
  return error;
}

LogicalResult mlir::iris::verifyLaunchedKernel(LaunchOp op) {
  Operation *found =
      SymbolTable::lookupNearestSymbolFrom(op, op.getKernelAttr());
  if (!found)
    return refuseName(op);
  if (isa<gpu::GPUFuncOp, LLVM::LLVMFuncOp>(found))
    return success();
  return op.emitOpError() << op.getKernel() << " is a " << found->getName()
                          << "; expected " << kKernelForm;
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel =
      symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(*this, getKernelAttr());
  // Kernels that were lowered or removed are not checked.
  if (!kernel) {
    if (symbols.lookupNearestSymbolFrom(*this, getKernelAttr()) ||
        !symbols.lookupNearestSymbolFrom(*this,
                                         getKernelAttr().getRootReference()))
      return success();
    return refuseName(*this);
  }
  // A lowered kernel has the signature of the runtime ABI.
  if (kernel->hasAttr(kMetaAttr))
    return success();
  if (!kernel.isKernel())
    return emitOpError() << getKernelAttr() << " is not a kernel; expected "
                         << kKernelForm;
  TypeRange expected = kernel.getArgumentTypes();
  TypeRange got = getKernelOperands().getTypes();
  if (expected.size() != got.size())
    return emitOpError("has ")
           << got.size() << " arguments; expected " << expected.size()
           << ", as " << getKernelAttr() << " has";
  for (auto [index, pair] : llvm::enumerate(llvm::zip(expected, got)))
    if (!isPassable(std::get<1>(pair), std::get<0>(pair)))
      return emitOpError("argument ")
             << index << " has type " << std::get<1>(pair) << "; expected "
             << std::get<0>(pair);
  return success();
}
