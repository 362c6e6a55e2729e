// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandCeilDivs.cpp - Signed divisions that round up ----------------===//
//
// `inferCeilDivS` gives -2^(n-1) / y the sign of y on purpose, as an
// implementation by -(-x / y) would. The interpreter, the op's definition and
// every lowering round up instead. So ceildivsi is expanded before ranges are
// inferred; those of divsi, muli and select are right.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "iris/Dialect/Iris/Utils/RewriteOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISEXPANDCEILDIVSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;

namespace {
struct ExpandCeilDivsPass
    : iris::impl::IrisExpandCeilDivsPassBase<ExpandCeilDivsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    if (failed(iris::rewriteOps(getOperation(), std::move(patterns),
                                llvm::IsaPred<arith::CeilDivSIOp>)))
      signalPassFailure();
  }
};
} // namespace
