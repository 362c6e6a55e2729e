// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InitAllPasses.cpp - Registration of passes and pipelines -----------===//

#include "iris/InitAllPasses.h"

#include "iris/Conversion/HostProgram.h"
#include "iris/Conversion/IrisToNVVM.h"
#include "iris/Conversion/IrisToROCDL.h"
#include "iris/Conversion/KernelABI.h"
#include "iris/Conversion/MathToIntrinsics.h"
#include "iris/Conversion/Matmul.h"
#include "iris/Conversion/Sync.h"
#include "iris/Conversion/TileToLoops.h"
#include "iris/Conversion/TileToThreads.h"
#include "iris/Dialect/Iris/Transforms/Passes.h"
#include "iris/Dialect/Tile/Transforms/Passes.h"
#include "iris/Kernels/Passes.h"
#include "iris/Pipelines/Passes.h"
#include "iris/Pipelines/Pipelines.h"

void mlir::iris::registerAllPasses() {
  registerIrisHostProgramPasses();
  registerIrisKernelABIPasses();
  registerIrisKernelsPasses();
  registerIrisMathToIntrinsicsPasses();
  registerIrisMatmulPasses();
  registerIrisPipelinesPasses();
  registerIrisSyncPasses();
  registerIrisToNVVMPasses();
  registerIrisToROCDLPasses();
  registerIrisTileToLoopsPasses();
  registerIrisTileToThreadsPasses();
  registerIrisTransformsPasses();
  tile::registerIrisTilePasses();
  registerIrisPipelines();
}
