// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipelines.h - Pass pipelines of the compiler -------------*- C++ -*-===//
//
// The order of the passes, by stage and as a whole. Every stage is registered
// under its own name, so that any prefix can be run and tested.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PIPELINES_PIPELINES_H
#define IRIS_PIPELINES_PIPELINES_H

#include "iris/Pipelines/OptionParsers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::iris {

/// Whether pipelines check the post-conditions of stages: in builds with
/// assertions.
extern const bool kVerifyStagesByDefault;

/// The stages of the kernel pipeline, in order: the values of `until`.
ArrayRef<StringRef> getStageNames();

/// The values of `translation`.
ArrayRef<StringRef> getTranslationNames();

struct IrisPipelineOptions : PassPipelineOptions<IrisPipelineOptions> {
  PassOptions::Option<std::string> target{
      *this, "target",
      llvm::cl::desc("What to compile for: host, or a chip of lib/Chips"),
      llvm::cl::init("host")};
  PassOptions::Option<std::string, NameParser<getTranslationNames>> translation{
      *this, "translation",
      llvm::cl::desc("How addresses on peers are computed: 'stride' (a "
                     "multiply-add) or 'table' (a load)"),
      llvm::cl::init("stride")};
  PassOptions::Option<bool> trace{
      *this, "trace",
      llvm::cl::desc("Keep iris.trace, and trace waits and barriers"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> allowNonportable{
      *this, "allow-nonportable",
      llvm::cl::desc("Accept ops that not all targets support"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> debug{
      *this, "debug",
      llvm::cl::desc("Check ranks, indices and sizes at run time; on the "
                     "host only"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> verifyStages{
      *this, "verify-stages",
      llvm::cl::desc("Check after each stage what it promises "
                     "(iris-verify-stage); in builds with assertions, unless "
                     "this is false"),
      llvm::cl::init(kVerifyStagesByDefault)};
  PassOptions::ListOption<Guard, GuardParser> disabledGuards{
      *this, "disable-guards",
      llvm::cl::desc("Names of guards against defects of MLIR that are not to "
                     "be used, which makes results wrong (iris-compile "
                     "--list-guards)")};
  PassOptions::Option<std::string, NameParser<getStageNames>> until{
      *this, "until",
      llvm::cl::desc(
          "Last stage to run: 'expand', 'translate', 'tiles', 'sync', 'abi' "
          "or 'llvm' (all of them)"),
      llvm::cl::init("llvm")};
};

/// Stage `expand`: collectives become kernels and launches. The same for all
/// targets.
void buildIrisExpandPipeline(OpPassManager &pm,
                             const IrisPipelineOptions &options);

/// Stage `translate`: expands remote tile accesses. The same for all targets.
void buildIrisTranslatePipeline(OpPassManager &pm,
                                const IrisPipelineOptions &options);

/// Stage `tiles`: tiles become registers of threads (GPU) or loops over memory
/// (host).
void buildIrisTilesPipeline(OpPassManager &pm,
                            const IrisPipelineOptions &options);

/// Stage `sync`: lowers atomics, signals, waits, barriers, checks and
/// translations according to the target's memory model.
void buildIrisSyncPipeline(OpPassManager &pm,
                           const IrisPipelineOptions &options);

/// Stage `abi`: kernels get the signature of RuntimeABI.h and their metadata.
void buildIrisABIPipeline(OpPassManager &pm,
                          const IrisPipelineOptions &options);

/// Stage `llvm`: lowers the remaining ops to the LLVM dialect and the target's
/// own dialect.
void buildIrisLLVMPipeline(OpPassManager &pm,
                           const IrisPipelineOptions &options);

/// A stage of the kernel pipeline.
struct PipelineStage {
  StringLiteral name;
  void (*build)(OpPassManager &pm, const IrisPipelineOptions &options);
};

/// All stages, in order.
ArrayRef<PipelineStage> getStages();

/// All stages up to `options.until`, on every `gpu.module` of a module.
void buildIrisPipeline(OpPassManager &pm, const IrisPipelineOptions &options);

/// Lowers `@main` of a module to the host program of RuntimeABI.h, and removes
/// the kernels.
void buildIrisMainPipeline(OpPassManager &pm,
                           const IrisPipelineOptions &options);

/// Registers all of the above, as `iris-<stage>-pipeline`, `iris-pipeline` and
/// `iris-main-pipeline`.
void registerIrisPipelines();

} // namespace mlir::iris

#endif // IRIS_PIPELINES_PIPELINES_H
