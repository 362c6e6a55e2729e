// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Dialect/Iris/Utils/RewriteOps.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

LogicalResult
mlir::iris::rewriteOps(Operation *root, const FrozenRewritePatternSet &patterns,
                       llvm::function_ref<bool(Operation *)> isCandidate) {
  SmallVector<Operation *> ops;
  for (Region &region : root->getRegions())
    region.walk([&](Operation *op) {
      if (isCandidate(op))
        ops.push_back(op);
    });
  if (ops.empty())
    return success();
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  return applyOpPatternsGreedily(ops, patterns, config);
}
