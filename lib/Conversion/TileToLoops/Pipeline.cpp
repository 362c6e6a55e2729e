// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipeline.cpp - Stage `tiles` of the host target --------------------===//

#include "iris/Conversion/TileToLoops.h"

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::iris;

void mlir::iris::buildTileToLoopsPipeline(OpPassManager &pm) {
  pm.addPass(createIrisOutlineKernelsPass());
  pm.addPass(createConvertTileToLoopsPass());
  // Right after: the places are found from the order of ops, which CSE and
  // LICM of addresses would blur.
  pm.addPass(createIrisAssignArenaPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Element by element now. f16 and bf16 are legalized later: synchronisation
  // computes with them, too.
  pm.addPass(createIrisExpandMathPass());
}
