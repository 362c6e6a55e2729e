// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipeline.cpp - From @main to the LLVM dialect ----------------------===//

#include "iris/Conversion/HostProgram.h"
#include "iris/Conversion/TileToLoops.h"
#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::iris;

void mlir::iris::buildHostProgramPipeline(OpPassManager &pm) {
  // Helper functions would have to pass the runtime's errors on. The inliner
  // would canonicalize what dimensions are not resolved in.
  pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  OpPassManager &inlined = pm.nest<func::FuncOp>();
  inlined.addPass(createIrisResolveDimsPass());
  inlined.addPass(createCanonicalizerPass());
  pm.addPass(createIrisVerifyHostProgramPass());
  OpPassManager &main = pm.nest<func::FuncOp>();
  // Views become arithmetic on the address, as affine maps; those become arith.
  main.addPass(memref::createExpandStridedMetadataPass());
  main.addPass(createLowerAffinePass());
  main.addPass(createCanonicalizerPass());
  main.addPass(createIrisLegalizeHostFloatsPass());
  // A failed call leaves @main from wherever it is.
  main.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertIrisHostProgramPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}
