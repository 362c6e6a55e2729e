// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PassTensorMaps.cpp - Tensor maps as by-value parameters ------------===//

#include "iris/Conversion/IrisToNVVM.h"

#include "iris-c/RuntimeABI.h"
#include "iris/Conversion/KernelABI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISNVVMPASSTENSORMAPSPASS
#include "iris/Conversion/IrisToNVVM.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

namespace {
struct PassTensorMapsPass
    : iris::impl::IrisNVVMPassTensorMapsPassBase<PassTensorMapsPass> {
  void runOnOperation() override {
    OpBuilder b(&getContext());
    auto bytes =
        LLVM::LLVMArrayType::get(b.getI8Type(), IRISRT_TENSOR_MAP_BYTES);
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      auto first = kernel->getAttrOfType<IntegerAttr>(kFirstMapParameterAttr);
      if (!first)
        continue;
      for (unsigned i = first.getInt(), e = kernel.getNumArguments(); i < e;
           ++i) {
        kernel.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                          TypeAttr::get(bytes));
        kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                          b.getI64IntegerAttr(IRISRT_TENSOR_MAP_ALIGNMENT));
        kernel.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                          b.getUnitAttr());
      }
      kernel->removeAttr(kFirstMapParameterAttr);
    }
  }
};
} // namespace
