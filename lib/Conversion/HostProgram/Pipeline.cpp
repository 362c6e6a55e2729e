// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipeline.cpp - Lowers @main to the LLVM dialect --------------------===//

#include "iris/Conversion/HostProgram.h"
#include "iris/Conversion/TileToLoops.h"
#include "iris/Dialect/Iris/Transforms/Passes.h"
#include "iris/Guards/Canonicalizer.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::iris;

void mlir::iris::buildHostProgramPipeline(OpPassManager &pm, GuardSet guards) {
  // Inline helper functions, which would otherwise have to propagate the
  // runtime's errors. No canonicalization before dimensions are resolved.
  pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  OpPassManager &inlined = pm.nest<func::FuncOp>();
  if (guards.contains(Guard::OverflowFlags))
    inlined.addPass(createIrisDropOverflowFlagsPass());
  if (guards.contains(Guard::LoopBounds))
    inlined.addPass(createIrisCountLoopsPass());
  inlined.addPass(createIrisResolveDimsPass());
  inlined.addPass(iris::createCanonicalizerPass(guards));
  pm.addPass(createIrisVerifyHostProgramPass());
  OpPassManager &main = pm.nest<func::FuncOp>();
  // Views become affine maps on the address, and those become arith ops.
  main.addPass(createIrisLowerExpandShapePass());
  main.addPass(memref::createExpandStridedMetadataPass());
  main.addPass(createLowerAffinePass());
  main.addPass(iris::createCanonicalizerPass(guards));
  if (guards.contains(Guard::IntegersToBf16))
    main.addPass(createIrisExpandConversionsPass());
  main.addPass(createIrisLegalizeHostFloatsPass());
  if (guards.contains(Guard::WideCases))
    main.addPass(createIrisNarrowCasesPass());
  // A failed call returns from @main at any point.
  main.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertIrisHostProgramPass());
  pm.addPass(iris::createCanonicalizerPass(guards));
  pm.addPass(createCSEPass());
}
