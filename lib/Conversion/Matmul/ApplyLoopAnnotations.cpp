// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ApplyLoopAnnotations.cpp - Loop annotations for LLVM ---------------===//

#include "iris/Conversion/Matmul.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISAPPLYLOOPANNOTATIONSPASS
#include "iris/Conversion/Matmul.h.inc"
} // namespace mlir::iris

using namespace mlir;

static constexpr StringLiteral kAttr = "llvm.loop_annotation";

namespace {
struct IrisApplyLoopAnnotationsPass
    : iris::impl::IrisApplyLoopAnnotationsPassBase<
          IrisApplyLoopAnnotationsPass> {
  void runOnOperation() override {
    auto apply = [](auto branch) {
      auto annotation =
          branch->template getAttrOfType<LLVM::LoopAnnotationAttr>(kAttr);
      if (!annotation)
        return;
      branch->removeAttr(kAttr);
      branch.setLoopAnnotationAttr(annotation);
    };
    getOperation()->walk([&](LLVM::BrOp branch) { apply(branch); });
    getOperation()->walk([&](LLVM::CondBrOp branch) { apply(branch); });
  }
};
} // namespace
