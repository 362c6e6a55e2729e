// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Driver.cpp - Compiles a source for all targets ---------------------===//
#include "Driver.h"

#include "iris-c/RuntimeABI.h"
#include "iris/Dialect/Iris/IR/IrisMatmul.h"
#include "iris/Dialect/Iris/IR/LaunchedKernel.h"
#include "iris/Dialect/Iris/Transforms/KernelLanguage.h"
#include "iris/Dialect/Iris/Transforms/Passes.h"
#include "iris/Pipelines/Pipelines.h"
#include "iris/Target/Metadata.h"
#include "iris/Target/Package.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// One compilation: its options and its output.
class Compilation {
public:
  Compilation(ModuleOp source, const DriverOptions &options)
      : source(source), options(options) {}

  /// Rejects a source that has nothing to compile for the requested output.
  LogicalResult check();

  /// Warns of errors in the source that a compiler need not refuse.
  LogicalResult warn(TimingScope &timing);

  /// Lowers the kernels for one target and translation, and emits them.
  LogicalResult compileKernels(const TargetSpec &target, StringRef translation,
                               TimingScope &timing);

  /// Compiles `@main`, if there is one, for the host.
  LogicalResult compileMain(TimingScope &timing);

  std::string takeOutput() { return std::move(output); }

private:
  LogicalResult emit(ArrayRef<Operation *> modules, const TargetSpec &target,
                     StringRef arch, StringRef translation,
                     TimingScope &timing);
  LogicalResult lower(ModuleOp module, const TargetSpec &target,
                      StringRef translation, bool mainProgram,
                      TimingScope &timing);
  LogicalResult lower(ModuleOp module, const PipelineStage &stage,
                      const IrisPipelineOptions &pipeline, TimingScope &timing);
  void append(ArrayRef<char> bytes) {
    output.append(bytes.begin(), bytes.end());
  }

  /// The host program, a `func.func @main` with a body, if any.
  func::FuncOp findMain() {
    auto main = source.lookupSymbol<func::FuncOp>("main");
    return main && !main.isExternal() ? main : func::FuncOp();
  }

  ModuleOp source;
  const DriverOptions &options;
  std::string output;
};
} // namespace

/// Other operations would be translated outside of any function.
static LogicalResult checkHoldsSymbols(gpu::GPUModuleOp module) {
  for (Operation &op : *module.getBody())
    if (!isa<SymbolOpInterface>(op))
      return op.emitOpError("is outside of the functions of its gpu.module; "
                            "expected functions and globals there");
  return success();
}

/// Whether `check` succeeds for every op of a kind.
template <typename OpT>
static bool all(ModuleOp source, LogicalResult (*check)(OpT)) {
  return !source.walk([&](OpT op) { return WalkResult(check(op)); })
              .wasInterrupted();
}

LogicalResult Compilation::check() {
  if (failed(verifyIrisAttributes(source)) ||
      !all<gpu::GPUModuleOp>(source, checkHoldsSymbols) ||
      !all<LaunchOp>(source, verifyLaunchedKernel))
    return failure();
  // Calls of collectives and matmuls in @main also become kernels.
  bool hasKernels =
      source
          .walk([](Operation *op) {
            return isa<gpu::GPUModuleOp, CollectiveOp, MatmulKernelOp,
                       CollectiveCallOpInterface, MatmulCallOpInterface>(op)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  if (options.emit == EmitKind::MLIR)
    return success();
  if (!hasKernels && options.emit != EmitKind::Package)
    return source.emitError("nothing to compile; expected a 'gpu.module'");
  if (!hasKernels && !findMain())
    return source.emitError("nothing to compile; expected a 'gpu.module' or a "
                            "'func.func @main'");
  return success();
}

LogicalResult Compilation::warn(TimingScope &timing) {
  if (!options.checkSync)
    return success();
  TimingScope scope = timing.nest("checks of synchronization");
  // Once, on the source, and not for each target.
  PassManager passes(source.getContext(), ModuleOp::getOperationName());
  passes.enableVerifier(options.verifyStages);
  passes.addPass(createIrisCheckSyncPass());
  return passes.run(source);
}

LogicalResult Compilation::lower(ModuleOp module, const TargetSpec &target,
                                 StringRef translation, bool mainProgram,
                                 TimingScope &timing) {
  TimingScope scope =
      timing.nest(mainProgram ? "lowering of @main" : "lowering of kernels");
  IrisPipelineOptions pipeline;
  pipeline.target = target.name.str();
  pipeline.translation = translation.str();
  pipeline.trace = options.trace;
  pipeline.allowNonportable = options.allowNonportable;
  pipeline.debug = options.debug;
  pipeline.verifyStages = options.verifyStages;
  pipeline.disabledGuards = ArrayRef<Guard>(options.disabledGuards);
  if (!options.until.empty())
    pipeline.until = options.until;
  if (mainProgram)
    return lower(module, {"main", buildIrisMainPipeline}, pipeline, scope);
  for (const PipelineStage &stage : getStages()) {
    if (failed(lower(module, stage, pipeline, scope)))
      return failure();
    if (pipeline.until == stage.name)
      break;
  }
  return success();
}

LogicalResult Compilation::lower(ModuleOp module, const PipelineStage &stage,
                                 const IrisPipelineOptions &pipeline,
                                 TimingScope &timing) {
  TimingScope scope = timing.nest(stage.name);
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  passes.enableTiming(scope);
  // After every pass, it would take a third of the lowering's time.
  passes.enableVerifier(options.verifyStages);
  stage.build(passes, pipeline);
  if (failed(passes.run(module)))
    return failure();
  return verify(module);
}

LogicalResult Compilation::emit(ArrayRef<Operation *> modules,
                                const TargetSpec &target, StringRef arch,
                                StringRef translation, TimingScope &timing) {
  CodegenOptions codegen = options.codegen;
  // A host program is a long sequence of calls that runs once, so optimizing it
  // is not worth the time.
  if (arch == IRISRT_ARCH_MAIN)
    codegen.optLevel = 0;
  codegen.keepValueNames =
      options.emit == EmitKind::LLVM || options.emit == EmitKind::Assembly;
  ModuleToObject compiler(modules, target, codegen);
  {
    TimingScope scope = timing.nest("translation to LLVM IR");
    if (failed(compiler.translate()))
      return failure();
  }
  {
    TimingScope scope = timing.nest("optimization");
    if (failed(compiler.optimize()))
      return failure();
  }

  if (options.emit == EmitKind::LLVM) {
    llvm::raw_string_ostream os(output);
    compiler.emitLLVM(os);
    return success();
  }
  if (options.emit == EmitKind::Assembly) {
    TimingScope scope = timing.nest("code generation");
    FailureOr<SmallVector<char, 0>> text = compiler.emitAssembly();
    if (failed(text))
      return failure();
    append(*text);
    return success();
  }

  FailureOr<Image> image = compiler.emitObject(timing);
  if (failed(image))
    return failure();
  if (options.emit == EmitKind::Object) {
    append(image->bytes);
    return success();
  }

  PackageEntry entry;
  entry.triple = target.triple;
  entry.arch = arch;
  entry.kind = target.kind;
  entry.translation = translation.str();
  if (arch != IRISRT_ARCH_MAIN) {
    FailureOr<std::string> meta = buildKernelMetadata(modules);
    if (failed(meta))
      return failure();
    entry.meta = std::move(*meta);
  }
  entry.image = std::move(*image);
  append(serializeEntry(entry));
  return success();
}

LogicalResult Compilation::compileKernels(const TargetSpec &target,
                                          StringRef translation,
                                          TimingScope &timing) {
  OwningOpRef<ModuleOp> clone = source.clone();
  if (failed(lower(*clone, target, translation, /*mainProgram=*/false, timing)))
    return failure();
  if (options.emit == EmitKind::MLIR) {
    llvm::raw_string_ostream os(output);
    clone->print(os);
    os << "\n";
    return success();
  }
  SmallVector<Operation *> modules;
  for (auto module : clone->getOps<gpu::GPUModuleOp>())
    modules.push_back(module);
  if (modules.empty()) // a package with only @main
    return success();
  return emit(modules, target, target.name, translation, timing);
}

LogicalResult Compilation::compileMain(TimingScope &timing) {
  if (!findMain())
    return success();
  TargetSpec host = llvm::cantFail(parseTarget("host"));
  OwningOpRef<ModuleOp> clone = source.clone();
  if (failed(lower(*clone, host, "stride", /*mainProgram=*/true, timing)))
    return failure();
  // The kernels were only needed to check the launches against them.
  for (auto module :
       llvm::make_early_inc_range(clone->getOps<gpu::GPUModuleOp>()))
    module.erase();
  return emit(clone->getOperation(), host, IRISRT_ARCH_MAIN,
              /*translation=*/"", timing);
}

FailureOr<std::string> mlir::iris::compile(ModuleOp source,
                                           const DriverOptions &options,
                                           TimingScope &timing) {
  Compilation compilation(source, options);
  if (failed(compilation.check()) || failed(compilation.warn(timing)))
    return failure();
  for (const TargetSpec &target : options.targets) {
    for (const std::string &translation : options.translations) {
      TimingScope scope = timing.nest(target.name);
      if (failed(compilation.compileKernels(target, translation, scope)))
        return failure();
    }
  }
  if (options.emit == EmitKind::Package) {
    TimingScope scope = timing.nest("main");
    if (failed(compilation.compileMain(scope)))
      return failure();
  }
  return compilation.takeOutput();
}
