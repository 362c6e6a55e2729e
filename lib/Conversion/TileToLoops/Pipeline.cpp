// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipeline.cpp - Stage `tiles` of the host target --------------------===//

#include "iris/Conversion/TileToLoops.h"

#include "iris/Dialect/Iris/Transforms/Passes.h"
#include "iris/Guards/Canonicalizer.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::iris;

void mlir::iris::buildTileToLoopsPipeline(OpPassManager &pm, GuardSet guards) {
  pm.addPass(createIrisOutlineKernelsPass());
  pm.addPass(createConvertTileToLoopsPass());
  // Must follow immediately: lifetimes are derived from the order of ops, which
  // CSE and LICM of addresses would change.
  pm.addPass(createIrisAssignArenaPass());
  pm.addPass(iris::createCanonicalizerPass(guards));
  pm.addPass(createCSEPass());
  // Math ops now apply to single elements. f16 and bf16 are legalized later,
  // because the lowering of synchronization also emits arithmetic on them.
  pm.addPass(createIrisExpandMathPass());
}
