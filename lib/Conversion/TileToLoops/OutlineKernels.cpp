// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OutlineKernels.cpp - Kernels as ordinary functions -----------------===//

#include "iris/Conversion/TileToLoops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#define DEBUG_TYPE "iris-outline-kernels"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISOUTLINEKERNELSPASS
#include "iris/Conversion/TileToLoopsPasses.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

static LogicalResult outline(gpu::GPUFuncOp kernel) {
  if (kernel.getNumWorkgroupAttributions() != 0 ||
      kernel.getNumPrivateAttributions() != 0)
    return kernel.emitOpError("has workgroup or private memory; expected "
                              "buffers to be arguments");
  OpBuilder builder(kernel);
  auto func = func::FuncOp::create(builder, kernel.getLoc(), kernel.getName(),
                                   kernel.getFunctionType());
  // What users attached to the kernel: iris.num_warps and the like.
  func->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  func->removeDiscardableAttr(gpu::GPUDialect::getKernelFuncAttrName());
  func->removeDiscardableAttr(kernel.getNumWorkgroupAttributionsAttrName());
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
