// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OutlineKernels.cpp - Kernels as ordinary functions -----------------===//

#include "iris/Conversion/TileToLoops.h"

#include "iris/Analysis/WorkgroupMemory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#define DEBUG_TYPE "iris-outline-kernels"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISOUTLINEKERNELSPASS
#include "iris/Conversion/TileToLoopsPasses.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// A program is one thread, whose own memory its buffers can be.
static void allocateBuffers(gpu::GPUFuncOp kernel) {
  unsigned count = kernel.getNumWorkgroupAttributions();
  if (count == 0)
    return;
  AttrTypeReplacer replacer;
  replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
    if (!isWorkgroupMemory(type))
      return std::nullopt;
    return MemRefType::get(type.getShape(), type.getElementType(),
                           type.getLayout());
  });
  replacer.recursivelyReplaceElementsIn(kernel, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  Block &entry = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  for (BlockArgument buffer : kernel.getWorkgroupAttributions()) {
    auto alloc = memref::AllocOp::create(builder, buffer.getLoc(),
                                         cast<MemRefType>(buffer.getType()));
    alloc->setAttr(kProgramMemoryAttr, builder.getUnitAttr());
    buffer.replaceAllUsesWith(alloc);
  }
  entry.eraseArguments(kernel.getFirstWorkgroupAttributionIndex(), count);
}

static LogicalResult outline(gpu::GPUFuncOp kernel) {
  if (kernel.getNumPrivateAttributions() != 0)
    return kernel.emitOpError("has private memory; expected workgroup memory "
                              "(memref.alloca), or buffers to be arguments");
  allocateBuffers(kernel);
  OpBuilder builder(kernel);
  auto func = func::FuncOp::create(builder, kernel.getLoc(), kernel.getName(),
                                   kernel.getFunctionType());
  // Attributes that users attached to the kernel, such as iris.num_warps.
  func->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  func->removeDiscardableAttr(gpu::GPUDialect::getKernelFuncAttrName());
  func->removeDiscardableAttr(kernel.getNumWorkgroupAttributionsAttrName());
  func->removeDiscardableAttr(kernel.getWorkgroupAttribAttrsAttrName());
  if (kernel.isKernel())
    func->setDiscardableAttr(kKernelAttr, builder.getUnitAttr());
  else
    func.setPrivate();
  for (unsigned i = 0, e = kernel.getNumArguments(); i != e; ++i)
    if (DictionaryAttr attrs = kernel.getArgAttrDict(i))
      func.setArgAttrs(i, attrs);

  func.getBody().takeBody(kernel.getBody());
  func.walk([](gpu::ReturnOp op) {
    OpBuilder builder(op);
    func::ReturnOp::create(builder, op.getLoc(), op.getOperands());
    op.erase();
  });
  kernel.erase();
  return success();
}

namespace {
struct OutlineKernelsPass
    : iris::impl::IrisOutlineKernelsPassBase<OutlineKernelsPass> {
  void runOnOperation() override {
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<gpu::GPUFuncOp>()))
      if (failed(outline(kernel)))
        return signalPassFailure();
  }
};
} // namespace
