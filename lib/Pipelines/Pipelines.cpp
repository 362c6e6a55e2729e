// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipelines.cpp - From kernels to the LLVM dialect -------------------===//

#include "iris/Pipelines/Pipelines.h"

#include "iris/Chips/ChipInfo.h"
#include "iris/Conversion/HostProgram.h"
#include "iris/Conversion/IrisToNVVM.h"
#include "iris/Conversion/IrisToROCDL.h"
#include "iris/Conversion/KernelABI.h"
#include "iris/Conversion/MathToIntrinsics.h"
#include "iris/Conversion/Matmul.h"
#include "iris/Conversion/Sync.h"
#include "iris/Conversion/TargetInfo.h"
#include "iris/Conversion/TileToLoops.h"
#include "iris/Conversion/TileToThreads.h"
#include "iris/Dialect/Iris/Transforms/Passes.h"
#include "iris/Dialect/Tile/Transforms/Passes.h"
#include "iris/Guards/Canonicalizer.h"
#include "iris/Kernels/Passes.h"
#include "iris/Pipelines/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Target facts the pass options need
//===----------------------------------------------------------------------===//

static bool isHost(const IrisPipelineOptions &options) {
  return options.target == "host";
}

static bool isAMD(const IrisPipelineOptions &options) {
  const ChipInfo *chip = findChip(options.target);
  return chip && chip->isAMD();
}

/// Threads in a wave. Passes report an unknown target; a pipeline is built
/// before one of them runs.
static unsigned waveSize(const IrisPipelineOptions &options) {
  const ChipInfo *chip = findChip(options.target);
  return chip ? chip->waveSize : 32;
}

/// Bytes of static shared memory (LDS) of a program. The host, which has none,
/// accepts what every chip does.
static uint64_t maxScratchBytes(const IrisPipelineOptions &options) {
  constexpr uint64_t least = 48 << 10;
  const ChipInfo *chip = findChip(options.target);
  return chip ? chip->staticSharedBytes : least;
}

static bool hasUnalignedVectors(const IrisPipelineOptions &options) {
  std::unique_ptr<TargetInfo> target = createTargetInfo(options.target);
  return target && target->hasUnalignedVectors();
}

/// The defects of MLIR to work around.
static GuardSet getGuards(const IrisPipelineOptions &options) {
  GuardSet guards = GuardSet::needed();
  for (Guard guard : options.disabledGuards)
    guards.remove(guard);
  return guards;
}

#ifdef NDEBUG
const bool mlir::iris::kVerifyStagesByDefault = false;
#else
const bool mlir::iris::kVerifyStagesByDefault = true;
#endif

/// Checks after `stage` what it promises.
static void addVerifier(OpPassManager &pm, const IrisPipelineOptions &options,
                        StringRef stage) {
  if (options.verifyStages)
    pm.addPass(
        createIrisVerifyStagePass({stage.str(), options.target.getValue()}));
}

static void addCleanup(OpPassManager &pm, const IrisPipelineOptions &options) {
  pm.addPass(createCanonicalizerPass(getGuards(options)));
  pm.addPass(createCSEPass());
}

static void addNarrowing(OpPassManager &pm,
                         const IrisPipelineOptions &options) {
  if (getGuards(options).contains(Guard::Narrowing)) {
    pm.addPass(createIrisNarrowIntegersPass());
    return;
  }
  arith::ArithIntRangeNarrowingOptions narrowing;
  narrowing.bitwidthsSupported = {32};
  pm.addPass(arith::createArithIntRangeNarrowing(narrowing));
}

//===----------------------------------------------------------------------===//
// iris-expand-pipeline
//===----------------------------------------------------------------------===//

void mlir::iris::buildIrisExpandPipeline(OpPassManager &pm,
                                         const IrisPipelineOptions &options) {
  pm.addPass(createIrisCheckFlagsPass());
  // Registers were counted for AMD GPUs only; other targets keep their tiles.
  constexpr unsigned widestWave = 64;
  pm.addPass(createIrisExpandCollectivesPass(
      {isAMD(options) ? waveSize(options) : widestWave}));
  pm.addPass(createIrisExpandMatmulsPass());
  addVerifier(pm, options, "expand");
}

//===----------------------------------------------------------------------===//
// iris-translate-pipeline
//===----------------------------------------------------------------------===//

void mlir::iris::buildIrisTranslatePipeline(
    OpPassManager &pm, const IrisPipelineOptions &options) {
  pm.addPass(createIrisPrepareTracesPass({options.trace}));
  auto &kernels = pm.nest<gpu::GPUModuleOp>();
  // Every target takes the same kernels: what one of them could not lower is
  // refused for all, before any lowering.
  kernels.addPass(
      createIrisVerifyPortablePass({options.allowNonportable.getValue()}));
  // Tiles have no calling convention.
  kernels.addPass(createIrisInlineFunctionsPass());
  // Functions are gone, whose allocas are their callers'; canonicalization
  // would take buffers for those of a thread.
  kernels.addPass(createIrisPlaceAllocasPass());
  kernels.addPass(createIrisLegalizeFloat8Pass());
  kernels.addPass(createIrisExpandSlicesPass());
  // In front of the first canonicalization and the first analysis of ranges.
  if (getGuards(options).contains(Guard::OverflowFlags))
    kernels.addPass(createIrisDropOverflowFlagsPass());
  if (getGuards(options).contains(Guard::LoopBounds))
    kernels.addPass(createIrisCountLoopsPass());
  if (getGuards(options).contains(Guard::VectorPositions))
    kernels.addPass(createIrisExpandPositionsPass());
  // In front of the first canonicalization.
  kernels.addPass(createIrisResolveDimsPass());
  if (options.debug) {
    // Accesses by affine maps become ones that the checks know.
    addCleanup(kernels, options);
    kernels.addPass(createIrisVerifyAffinePass());
    kernels.addPass(createLowerAffinePass());
    kernels.addPass(createIrisInsertChecksPass());
  }
  kernels.addPass(createIrisTranslatePointersPass());
  // One translation for all accesses to a buffer, outside of the tile loops:
  // it is pure address arithmetic.
  addCleanup(kernels, options);
  // Constants are part of the affine maps now. The analysis of ranges divides
  // by what they divide by, also where it only finds out that that is 0.
  kernels.addPass(createIrisVerifyAffinePass());
  kernels.addPass(createLowerAffinePass());
  // Once more, for what were affine loops.
  if (getGuards(options).contains(Guard::LoopBounds))
    kernels.addPass(createIrisCountLoopsPass());
  if (getGuards(options).contains(Guard::CeilDivisions))
    kernels.addPass(createIrisExpandCeilDivsPass());
  // Ranks are small: a peer's number, (rank + k) mod ranks, costs a 32-bit
  // division, not a 64-bit one.
  kernels.addPass(arith::createIntRangeOptimizationsPass());
  addNarrowing(kernels, options);
  addCleanup(kernels, options);
  kernels.addPass(createLoopInvariantCodeMotionPass());
  addVerifier(kernels, options, "translate");
}

//===----------------------------------------------------------------------===//
// iris-tiles-pipeline
//===----------------------------------------------------------------------===//

void mlir::iris::buildIrisTilesPipeline(OpPassManager &pm,
                                        const IrisPipelineOptions &options) {
  auto &kernels = pm.nest<gpu::GPUModuleOp>();
  if (isHost(options)) {
    // Launches that a GPU refuses are refused here, too.
    kernels.addPass(tile::createTileRecordOverlapsPass());
    buildTileToLoopsPipeline(kernels, getGuards(options));
  } else {
    // Each thread waits for its own packets.
    kernels.addPass(createIrisCheckWaitStatusPass());
    kernels.addPass(
        createTileAssignMatmulLayoutsPass({options.target.getValue()}));
    kernels.addPass(tile::createTileAssignLayoutsPass({waveSize(options)}));
    // Needs the layouts to know which thread accesses what, and whole windows.
    kernels.addPass(tile::createTileInsertBarriersPass());
    addVerifier(kernels, options, "barriers");
    // Needs the barriers to lie outside of the loops that it makes.
    kernels.addPass(
        createTileLowerMatmulPass({options.target.getValue(), waveSize(options),
                                   maxScratchBytes(options)}));
    kernels.addPass(createConvertTileToThreadsPass(
        {waveSize(options), maxScratchBytes(options),
         hasUnalignedVectors(options)}));
    // Before functions become many ops.
    kernels.addPass(createIrisScalarizeSinglesPass());
    // No target has a libm to link.
    kernels.addPass(createIrisExpandMathPass());
  }
  if (getGuards(options).contains(Guard::IntegersToBf16))
    kernels.addPass(
        createIrisExpandConversionsPass({/*fmaBf16=*/isAMD(options)}));
  addCleanup(kernels, options);
  // The accesses' uniform checks and addresses leave the loops.
  kernels.addPass(createLoopInvariantCodeMotionPass());
  if (!isHost(options))
    kernels.addPass(createIrisUnswitchLoopsPass());
  addVerifier(kernels, options, "tiles");
}

//===----------------------------------------------------------------------===//
// iris-sync-pipeline
//===----------------------------------------------------------------------===//

void mlir::iris::buildIrisSyncPipeline(OpPassManager &pm,
                                       const IrisPipelineOptions &options) {
  auto &kernels = pm.nest<gpu::GPUModuleOp>();
  // Sees loops that only signal, or only wait, while they are loops.
  kernels.addPass(createIrisElideFencesPass());
  // A wait that runs out of time leaves the kernel from wherever it is, so
  // control flow must be unstructured first.
  if (getGuards(options).contains(Guard::WideCases))
    kernels.addPass(createIrisNarrowCasesPass());
  kernels.addPass(createSCFToControlFlowPass());
  IrisLowerSyncPassOptions sync;
  sync.target = options.target.getValue();
  sync.translation = options.translation.getValue() == "table"
                         ? Translation::Table
                         : Translation::Stride;
  kernels.addPass(createIrisLowerSyncPass(sync));
  // After everything that computes with floats: x86 has neither arithmetic nor
  // all conversions of f16 and bf16.
  if (isHost(options))
    kernels.addPass(createIrisLegalizeHostFloatsPass());
  addCleanup(kernels, options);
  addVerifier(kernels, options, "sync");
}

//===----------------------------------------------------------------------===//
// iris-abi-pipeline
//===----------------------------------------------------------------------===//

void mlir::iris::buildIrisABIPipeline(OpPassManager &pm,
                                      const IrisPipelineOptions &options) {
  auto &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createIrisLowerKernelABIPass(
      {options.target.getValue(), maxScratchBytes(options)}));
  // Waits call the clock through an argument that kernels have only now.
  if (isHost(options))
    kernels.addPass(createIrisLowerHostCallbacksPass());
  addVerifier(kernels, options, "abi");
}

//===----------------------------------------------------------------------===//
// iris-llvm-pipeline
//===----------------------------------------------------------------------===//

void mlir::iris::buildIrisLLVMPipeline(OpPassManager &pm,
                                       const IrisPipelineOptions &options) {
  auto &kernels = pm.nest<gpu::GPUModuleOp>();
  // Subviews become arithmetic on the base; affine maps become arith.
  kernels.addPass(createIrisLowerExpandShapePass());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  addCleanup(kernels, options);
  // The conversions to ROCDL and NVVM would call libraries that nothing links.
  if (!isHost(options))
    kernels.addPass(createIrisMathToIntrinsicsPass());
  if (isAMD(options)) {
    ConvertGpuOpsToROCDLOpsOptions rocdl;
    rocdl.chipset = options.target.getValue();
    rocdl.indexBitwidth = 64;
    kernels.addPass(createConvertGpuOpsToROCDLOps(rocdl));
  } else if (!isHost(options)) {
    ConvertGpuOpsToNVVMOpsOptions nvvm;
    nvvm.indexBitwidth = 64;
    kernels.addPass(createIrisNVVMNameBarriersPass());
    kernels.addPass(createConvertGpuOpsToNVVMOps(nvvm));
    kernels.addPass(createIrisNVVMPassTensorMapsPass());
  } else {
    // Every dialect brings its own patterns, through an interface.
    kernels.addPass(createConvertToLLVMPass());
    kernels.addPass(createIrisBf16AsBitsPass());
  }
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createIrisApplyLoopAnnotationsPass());
  addCleanup(kernels, options);
  // Last: it looks at what is left between stores.
  if (isAMD(options))
    kernels.addPass(createIrisROCDLGatherStoresPass());
  addVerifier(kernels, options, "llvm");
}

//===----------------------------------------------------------------------===//
// iris-pipeline, iris-main-pipeline
//===----------------------------------------------------------------------===//

ArrayRef<PipelineStage> mlir::iris::getStages() {
  static constexpr PipelineStage stages[] = {
      {"expand", buildIrisExpandPipeline},
      {"translate", buildIrisTranslatePipeline},
      {"tiles", buildIrisTilesPipeline},
      {"sync", buildIrisSyncPipeline},
      {"abi", buildIrisABIPipeline},
      {"llvm", buildIrisLLVMPipeline}};
  return stages;
}

ArrayRef<StringRef> mlir::iris::getStageNames() {
  static const auto names = llvm::map_to_vector(
      getStages(),
      [](const PipelineStage &stage) -> StringRef { return stage.name; });
  return names;
}

ArrayRef<StringRef> mlir::iris::getTranslationNames() {
  static const StringRef names[] = {"stride", "table"};
  return names;
}

void mlir::iris::buildIrisPipeline(OpPassManager &pm,
                                   const IrisPipelineOptions &options) {
  for (const PipelineStage &stage : getStages()) {
    stage.build(pm, options);
    if (options.until == stage.name)
      return;
  }
}

void mlir::iris::buildIrisMainPipeline(OpPassManager &pm,
                                       const IrisPipelineOptions &options) {
  buildIrisExpandPipeline(pm, options);
  buildHostProgramPipeline(pm, getGuards(options));
  addVerifier(pm, options, "main");
}

void mlir::iris::registerIrisPipelines() {
  using Registration = PassPipelineRegistration<IrisPipelineOptions>;
  Registration("iris-expand-pipeline",
               "Collectives become kernels and launches",
               buildIrisExpandPipeline);
  Registration("iris-translate-pipeline",
               "Kernels: ranks disappear from tile accesses",
               buildIrisTranslatePipeline);
  Registration("iris-tiles-pipeline",
               "Kernels: tiles become registers (GPU) or loops (host)",
               buildIrisTilesPipeline);
  Registration("iris-sync-pipeline",
               "Kernels: synchronisation becomes the target's memory model",
               buildIrisSyncPipeline);
  Registration("iris-abi-pipeline",
               "Kernels: signature and metadata of the binary contract",
               buildIrisABIPipeline);
  Registration("iris-llvm-pipeline", "Kernels: the rest becomes LLVM",
               buildIrisLLVMPipeline);
  Registration("iris-pipeline",
               "Kernels: all stages, from tiles to the LLVM dialect",
               buildIrisPipeline);
  Registration("iris-main-pipeline",
               "Host program: @main becomes calls of the runtime",
               buildIrisMainPipeline);
}
