// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Target/ModuleToObject.h"

#include "ArithmeticFences.h"
#include "BackendGuard.h"
#include "Bf16Extensions.h"
#include "ByteSums.h"
#include "ConstantOrs.h"
#include "CopiedSigns.h"
#include "DecreasingInductions.h"
#include "ExactSelection.h"
#include "ExtendedFloats.h"
#include "GuardedShifts.h"
#include "HiddenOperands.h"
#include "IntegersToBf16.h"
#include "LineTables.h"
#include "Linker.h"
#include "LoadsBeforeBarriers.h"
#include "LongLoops.h"
#include "Magnitudes.h"
#include "MatrixKernels.h"
#include "MixedLimits.h"
#include "MultiplyHigh.h"
#include "NarrowRecurrences.h"
#include "NarrowStores.h"
#include "NegatedBooleans.h"
#include "NegatedVectors.h"
#include "NestedMinMax.h"
#include "RotatedSums.h"
#include "ScalarConditions.h"
#include "ScalarPressure.h"
#include "SelectedZeros.h"
#include "ShortIntegers.h"
#include "ShortLimits.h"
#include "ShortShifts.h"
#include "SpillSearch.h"
#include "SpillSlots.h"
#include "TruncatedComparisons.h"
#include "UnsignedConversions.h"
#include "WaitsInLoops.h"
#include "WideDivisions.h"
#include "iris/Target/Metadata.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// Converts LLVM's diagnostics to MLIR diagnostics, and counts the errors.
struct ForwardingHandler final : llvm::DiagnosticHandler {
  ForwardingHandler(Location loc, const llvm::StringMap<Operation *> &kernels,
                    unsigned &numErrors)
      : loc(loc), kernels(kernels), numErrors(numErrors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error &&
        info.getSeverity() != llvm::DS_Warning)
      return true;
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::DiagnosticPrinterRawOStream printer(os);
    info.print(printer);
    // The diagnostic has a location of its own, also where LLVM's is unknown.
    StringRef message = StringRef(text).trim();
    const llvm::DiagnosticInfoWithLocationBase *located = findLocated(info);
    message.consume_front(
        (located ? located->getLocationStr() : "<unknown>:0:0") + ": ");
    if (info.getSeverity() == llvm::DS_Warning) {
      emitWarning(locate(info)) << message;
      return true;
    }
    ++numErrors;
    emitError(locate(info)) << message;
    return true;
  }

private:
  /// `info` as one that refers to a kernel; null: it does not.
  static const llvm::DiagnosticInfoWithLocationBase *
  findLocated(const llvm::DiagnosticInfo &info) {
    if (auto *limit = dyn_cast<llvm::DiagnosticInfoResourceLimit>(&info))
      return limit;
    return dyn_cast<llvm::DiagnosticInfoUnsupported>(&info);
  }

  /// The location of the kernel that `info` refers to, if known.
  Location locate(const llvm::DiagnosticInfo &info) const {
    const llvm::DiagnosticInfoWithLocationBase *located = findLocated(info);
    Operation *kernel =
        located ? kernels.lookup(located->getFunction().getName()) : nullptr;
    return kernel ? kernel->getLoc() : loc;
  }

  Location loc;
  const llvm::StringMap<Operation *> &kernels;
  unsigned &numErrors;
};
} // namespace

void mlir::iris::registerTargetTranslations(TargetKind kind,
                                            DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  if (kind == TargetKind::AMDGPU)
    registerROCDLDialectTranslation(registry);
  if (kind == TargetKind::NVPTX)
    registerNVVMDialectTranslation(registry);
}

ModuleToObject::ModuleToObject(ArrayRef<Operation *> modules,
                               const TargetSpec &target,
                               const CodegenOptions &options)
    : modules(modules), loc(modules.front()->getLoc()), target(target),
      options(options), context(std::make_unique<llvm::LLVMContext>()) {
  context->setDiscardValueNames(!options.keepValueNames);
  context->setDiagnosticHandler(
      std::make_unique<ForwardingHandler>(loc, kernels, numErrors));
}

ModuleToObject::~ModuleToObject() = default;

LogicalResult ModuleToObject::guarded(StringRef what,
                                      llvm::function_ref<void()> work) {
  numErrors = 0;
  if (succeeded(runBackend(loc, what, work)))
    return success(numErrors == 0);
  // The LLVM objects in use are in an unknown state. Destroying them could
  // crash, so they are leaked.
  (void)llvmModule.release();
  (void)machine.release();
  (void)context.release();
  return failure();
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// What the code of `modules` needs beyond the target's features: the first
/// version of PTX, of CUDA 12.4, in which `mma.sync` multiplies f8. On chips
/// with WGMMA few kernels do, and drivers need not be that new for the others.
static StringRef getAdditionalFeatures(ArrayRef<Operation *> modules) {
  auto multipliesFloat8 = [](LLVM::CallIntrinsicOp op) {
    StringRef name = op.getIntrin();
    bool isMma = name.starts_with("llvm.nvvm.mma.m16n8k32.") &&
                 (name.contains(".e4m3") || name.contains(".e5m2"));
    return isMma ? WalkResult::interrupt() : WalkResult::advance();
  };
  bool isNewer = llvm::any_of(modules, [&](Operation *module) {
    return module->walk(multipliesFloat8).wasInterrupted();
  });
  return isNewer ? ",+ptx84" : "";
}

/// Without `dot7-insts`, instruction selection makes no dot products of sums,
/// without `bitop3-insts` no operations on the bits of three values.
static std::string getGuardedFeatures(TargetKind kind, const GuardSet &guards) {
  std::string features;
  if (kind != TargetKind::AMDGPU)
    return features;
  if (guards.contains(Guard::ByteDots))
    features += ",-dot7-insts";
  if (guards.contains(Guard::BitOps3))
    features += ",-bitop3-insts";
  return features;
}

LogicalResult ModuleToObject::createTargetMachine() {
  initializeBackend(target.kind);
  llvm::Triple triple(target.triple);
  std::string error;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return emitError(loc) << "cannot compile for " << target.name << ": "
                          << error;
  auto level = static_cast<llvm::CodeGenOptLevel>(options.optLevel);
  llvm::TargetOptions targetOptions;
  // Contract floating-point operations only if they allow it (`fmuladd` or a
  // `contract` flag).
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  // The comments in assembly contain register counts, scratch and occupancy.
  targetOptions.MCOptions.AsmVerbose = true;
  machine.reset(backend->createTargetMachine(
      triple, target.chip,
      (target.features + getAdditionalFeatures(modules) +
       getGuardedFeatures(target.kind, options.guards))
          .str(),
      targetOptions, llvm::Reloc::PIC_, /*CM=*/std::nullopt, level));
  if (!machine)
    return emitError(loc) << "cannot compile for " << target.name
                          << ": LLVM has no code generator for it";
  return success();
}

LogicalResult ModuleToObject::collectKernels() {
  for (Operation *module : modules) {
    for (Operation *kernel : getExportedFunctions(module)) {
      StringRef symbol = getExportedSymbol(kernel);
      auto [entry, isNew] = kernels.try_emplace(symbol, kernel);
      if (isNew)
        continue;
      InFlightDiagnostic diag =
          kernel->emitOpError()
          << "exports the symbol '" << symbol
          << "', and so does a kernel of another module; expected kernels of "
             "one image to have different names";
      diag.attachNote(entry->second->getLoc()) << "the other kernel";
      return diag;
    }
  }
  return success();
}

/// Gives kernels the symbols that the image exports. Only they stay visible;
/// other functions are inlined and dropped.
void ModuleToObject::nameSymbols(Operation *module, llvm::Module &translated) {
  llvm::DenseMap<llvm::GlobalObject *, StringRef> exported;
  for (Operation *kernel : getExportedFunctions(module))
    exported[translated.getFunction(
        cast<LLVM::LLVMFuncOp>(kernel).getSymName())] =
        getExportedSymbol(kernel);
  for (llvm::GlobalObject &global : translated.global_objects()) {
    if (global.isDeclaration() || global.hasAppendingLinkage() ||
        exported.contains(&global))
      continue; // llvm.used and its like are appending
    if (!global.hasLocalLinkage())
      global.setLinkage(llvm::GlobalValue::InternalLinkage);
    // Even a local symbol would replace the library function of its name.
    if (target.kind == TargetKind::Host)
      global.setName("local." + global.getName());
  }
  for (auto [kernel, symbol] : exported) {
    kernel->setName(symbol);
    kernel->setDSOLocal(true);
    // A kernel of another image must not be able to replace this one.
    if (target.kind != TargetKind::NVPTX)
      kernel->setVisibility(llvm::GlobalValue::ProtectedVisibility);
  }
}

void ModuleToObject::setConventions(llvm::Module &translated) {
  for (llvm::Function &function : translated)
    if (!function.isDeclaration())
      function.setDoesNotThrow();
  if (target.kind == TargetKind::AMDGPU)
    translated.setModuleFlag(llvm::Module::Error, "amdhsa_code_object_version",
                             options.codeObjectVersion * 100);
}

/// The code generator allocates registers for the range of workgroup sizes in
/// the function's attribute; a launch outside the range fails or has undefined
/// behavior.
LogicalResult ModuleToObject::checkWorkgroups() {
  if (target.kind != TargetKind::AMDGPU)
    return success();
  for (auto &[symbol, kernel] : kernels) {
    std::optional<int64_t> threads = getWorkgroupThreads(kernel);
    llvm::Function *function = llvmModule->getFunction(symbol);
    if (!threads || !function)
      continue;
    StringRef range = function->getFnAttribute("amdgpu-flat-work-group-size")
                          .getValueAsString();
    auto [low, high] = range.split(',');
    int64_t min = 1, max = 1024;
    if (!range.empty() &&
        (low.trim().getAsInteger(10, min) || high.trim().getAsInteger(10, max)))
      return kernel->emitOpError() << "has a malformed range of workgroup "
                                      "sizes '"
                                   << range << "'";
    if (*threads < min || *threads > max)
      return kernel->emitOpError()
             << "is compiled for workgroups of " << min << " to " << max
             << " threads; expected the " << *threads
             << " of its metadata to be among them";
  }
  return success();
}

FailureOr<std::unique_ptr<llvm::Module>>
ModuleToObject::translate(Operation *module) {
  std::unique_ptr<llvm::Module> translated;
  // The translation gives accesses without an alignment that of their type in
  // this layout, as the lowering to LLVM's dialect expects. In LLVM's default
  // layout an i64 has 4 bytes.
  std::string layout = machine->createDataLayout().getStringRepresentation();
  module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                  StringAttr::get(module->getContext(), layout));
  if (options.lineTables)
    addLineTables(module, target.kind, /*isOptimized=*/options.optLevel > 0);
  LogicalResult result = guarded("translation to LLVM IR", [&] {
    translated = translateModuleToLLVMIR(module, *context, "iris",
                                         /*disableVerification=*/true);
  });
  if (failed(result) || !translated) // the translation has said why
    return failure();
  translated->setTargetTriple(machine->getTargetTriple());
  nameSymbols(module, *translated);
  setConventions(*translated);

  // Verify here, because the translation would not report a diagnostic.
  std::string problems;
  llvm::raw_string_ostream os(problems);
  if (llvm::verifyModule(*translated, &os))
    return module->emitOpError()
           << "translates to invalid LLVM IR: " << StringRef(problems).trim();
  return translated;
}

LogicalResult ModuleToObject::translate() {
  if (failed(createTargetMachine()) || failed(collectKernels()))
    return failure();
  for (Operation *module : modules) {
    FailureOr<std::unique_ptr<llvm::Module>> translated = translate(module);
    if (failed(translated))
      return failure();
    if (!llvmModule) {
      llvmModule = std::move(*translated);
      continue;
    }
    // Symbols that are not exported are internal, so names cannot clash.
    if (llvm::Linker::linkModules(*llvmModule, std::move(*translated)))
      return module->emitOpError() << "cannot be put into one image with the "
                                      "modules before it";
  }
  return checkWorkgroups();
}

//===----------------------------------------------------------------------===//
// Optimisation
//===----------------------------------------------------------------------===//

/// The library functions that LLVM may call: those that the linker allows.
static llvm::TargetLibraryInfoImpl getLibraryInfo(const TargetSpec &target) {
  llvm::TargetLibraryInfoImpl info{llvm::Triple(target.triple)};
  info.disableAllFunctions();
  if (target.kind == TargetKind::Host) {
    info.setAvailable(llvm::LibFunc_memcpy);
    info.setAvailable(llvm::LibFunc_memmove);
    info.setAvailable(llvm::LibFunc_memset);
  }
  return info;
}

/// Adds a pass over functions to a module's passes.
template <typename PassT>
static void addFunctionPass(llvm::ModulePassManager &passes, PassT pass) {
  passes.addPass(
      llvm::createModuleToFunctionPassAdaptor(std::forward<PassT>(pass)));
}

/// The same, if its defect is to be guarded.
template <typename PassT>
static void addGuard(llvm::ModulePassManager &passes, const GuardSet &guards,
                     Guard guard, PassT pass) {
  if (guards.contains(guard))
    addFunctionPass(passes, std::move(pass));
}

/// Passes that work on what LLVM's optimisations have not changed yet.
static void addFirstPasses(llvm::ModulePassManager &passes, TargetKind kind,
                           const GuardSet &guards) {
  addGuard(passes, guards, Guard::NestedMinMax, NestedMinMaxPass());
  addGuard(passes, guards, Guard::UnsignedConversions,
           UnsignedConversionsPass());
  addGuard(passes, guards, Guard::TruncatedComparisons,
           TruncatedComparisonsPass());
  if (kind != TargetKind::Host)
    addGuard(passes, guards, Guard::Bf16Extensions, Bf16ExtensionsPass());
}

/// Passes in front of the loop vectorizer.
static void addVectorizerPasses(llvm::FunctionPassManager &passes,
                                TargetKind kind, const GuardSet &guards) {
  if (kind == TargetKind::NVPTX)
    passes.addPass(LeaveMatrixKernelsPass());
  if (guards.contains(Guard::DecreasingInductions))
    passes.addPass(DecreasingInductionsPass());
  if (guards.contains(Guard::NarrowRecurrences))
    passes.addPass(NarrowRecurrencesPass());
}

static void addLastAMDGPUPasses(llvm::ModulePassManager &passes,
                                const GuardSet &guards, bool isOptimized) {
  addGuard(passes, guards, Guard::ExactSelection, ExactSelectionPass());
  addGuard(passes, guards, Guard::NegatedVectors, NegatedVectorsPass());
  addGuard(passes, guards, Guard::CopiedSigns, CopiedSignsPass());
  // Makes divisions whose operands are to be hidden.
  addGuard(passes, guards, Guard::WideDivisions, WideDivisionsPass());
  addFunctionPass(passes, HiddenOperandsPass(guards));
  if (isOptimized)
    addFunctionPass(passes, ScalarPressurePass());
  // Last: it looks at where values are used.
  addGuard(passes, guards, Guard::LoadsBeforeBarriers,
           LoadsBeforeBarriersPass());
}

static void addLastNVPTXPasses(llvm::ModulePassManager &passes,
                               const GuardSet &guards) {
  addFunctionPass(passes, RestoreMatrixKernelsPass());
  addGuard(passes, guards, Guard::ShortIntegers, ShortIntegersPass());
  addGuard(passes, guards, Guard::Magnitudes, MagnitudesPass());
  addGuard(passes, guards, Guard::MixedLimits, MixedLimitsPass());
  addGuard(passes, guards, Guard::ShortLimits, ShortLimitsPass());
  addGuard(passes, guards, Guard::NegatedBooleans, NegatedBooleansPass());
  addGuard(passes, guards, Guard::RotatedSums, RotatedSumsPass());
  addGuard(passes, guards, Guard::GuardedShifts, GuardedShiftsPass());
  addGuard(passes, guards, Guard::LongLoops, LongLoopsPass());
}

/// Passes that only code generation follows.
static void addLastPasses(llvm::ModulePassManager &passes, TargetKind kind,
                          const GuardSet &guards, bool isOptimized) {
  // In front of the passes that look for patterns across fences.
  addFunctionPass(passes, RemoveArithmeticFencesPass());
  if (kind != TargetKind::Host) {
    addGuard(passes, guards, Guard::IntegersToBf16, IntegersToBf16Pass());
    addGuard(passes, guards, Guard::SelectedZeros, SelectedZerosPass());
    if (isOptimized)
      addFunctionPass(passes, ByteSumsPass());
  } else {
    addGuard(passes, guards, Guard::MultiplyHigh, MultiplyHighPass());
  }
  if (kind == TargetKind::AMDGPU)
    addLastAMDGPUPasses(passes, guards, isOptimized);
  if (kind == TargetKind::NVPTX)
    addLastNVPTXPasses(passes, guards);
}

/// Adds our passes to the pipeline that `builder` makes.
static void addOurPasses(llvm::PassBuilder &builder, TargetKind kind,
                         const GuardSet &guards) {
  builder.registerPipelineStartEPCallback(
      [=](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
        addFirstPasses(passes, kind, guards);
      });
  builder.registerVectorizerStartEPCallback(
      [=](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
        addVectorizerPasses(passes, kind, guards);
      });
  builder.registerOptimizerLastEPCallback([=](llvm::ModulePassManager &passes,
                                              llvm::OptimizationLevel level,
                                              llvm::ThinOrFullLTOPhase) {
    addLastPasses(passes, kind, guards, level != llvm::OptimizationLevel::O0);
  });
}

LogicalResult ModuleToObject::optimize() {
  return guarded("optimisation", [&] {
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = tuning.SLPVectorization = options.optLevel >= 2;
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager sccs;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(machine.get(), tuning);
    functions.registerPass(
        [&] { return llvm::TargetLibraryAnalysis(getLibraryInfo(target)); });
    addOurPasses(builder, target.kind, options.guards);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);

    static constexpr const llvm::OptimizationLevel *levels[] = {
        &llvm::OptimizationLevel::O0, &llvm::OptimizationLevel::O1,
        &llvm::OptimizationLevel::O2, &llvm::OptimizationLevel::O3};
    const llvm::OptimizationLevel &level = *levels[options.optLevel];
    llvm::ModulePassManager passes =
        options.optLevel == 0 ? builder.buildO0DefaultPipeline(level)
                              : builder.buildPerModuleDefaultPipeline(level);
    passes.run(*llvmModule, modules);
  });
}

//===----------------------------------------------------------------------===//
// Code generation
//===----------------------------------------------------------------------===//

void ModuleToObject::emitLLVM(llvm::raw_ostream &os) {
  llvmModule->print(os, /*AAW=*/nullptr);
}

FailureOr<SmallVector<char, 0>> ModuleToObject::generate(llvm::Module &input,
                                                         bool toObject,
                                                         SpillSearch *search) {
  SmallVector<char, 0> output;
  bool supported = true;
  LogicalResult result = guarded("code generation", [&] {
    llvm::raw_svector_ostream os(output);
    llvm::legacy::PassManager passes;
    passes.add(new llvm::TargetLibraryInfoWrapperPass(getLibraryInfo(target)));
    auto type = toObject ? llvm::CodeGenFileType::ObjectFile
                         : llvm::CodeGenFileType::AssemblyFile;
    // LLVM calls it for every target machine of the process.
    llvm::RegisterTargetPassConfigCallback callback(
        [&](llvm::TargetMachine &other, llvm::legacy::PassManagerBase &,
            llvm::TargetPassConfig *config) {
          if (&other != machine.get())
            return;
          if (target.kind == TargetKind::NVPTX &&
              options.guards.contains(Guard::NarrowStores))
            copyNarrowlyStored(*config);
          if (target.kind != TargetKind::AMDGPU)
            return;
          if (options.guards.contains(Guard::WaitsInLoops))
            keepWaitsInLoops(*config);
          if (options.guards.contains(Guard::ShortShifts))
            keepShortShifts(*config);
          if (options.guards.contains(Guard::ExtendedFloats))
            keepExtendedFloats(*config);
          if (options.guards.contains(Guard::ConstantOrs))
            foldConstantOrs(*config);
          if (options.guards.contains(Guard::ScalarConditions))
            keepScalarConditions(*config);
          if (search)
            search->addPasses(*config);
          removeUnusedSpillSlots(*config);
        });
    // The translation has verified the module.
    supported = !machine->addPassesToEmitFile(passes, os, /*DwoOut=*/nullptr,
                                              type, /*DisableVerify=*/true);
    if (supported)
      passes.run(input);
  });
  if (failed(result))
    return failure();
  if (!supported)
    return emitError(loc) << "cannot compile for " << target.name
                          << ": LLVM cannot write this kind of file";
  return output;
}

FailureOr<SmallVector<char, 0>> ModuleToObject::codegen(bool toObject) {
  // Without optimization, LLVM has another allocator of registers.
  if (target.kind != TargetKind::AMDGPU || options.optLevel == 0)
    return generate(*llvmModule, toObject, /*search=*/nullptr);
  SpillSearch search(*context);
  FailureOr<SmallVector<char, 0>> code;
  do {
    std::unique_ptr<llvm::Module> input = std::move(llvmModule);
    llvmModule = llvm::CloneModule(*input);
    code = generate(*input, toObject, &search);
    if (failed(code)) {
      (void)input.release(); // its context owns it, if there still is one
      return failure();
    }
  } while (search.wantsAnother());
  return code;
}

/// PTX is not linked: a call of an undefined function would only fail when the
/// driver loads the image on the user's machine.
static LogicalResult checkPTXResolved(Location loc, llvm::Module &llvmModule) {
  // The CUDA driver defines these functions in every module.
  static const llvm::StringSet<> provided = {"vprintf", "__assertfail"};
  for (llvm::Function &function : llvmModule) {
    if (!function.isDeclaration() || function.isIntrinsic() ||
        function.use_empty() || provided.contains(function.getName()))
      continue;
    return emitError(loc) << "the PTX calls an undefined function (no device "
                             "or math library is linked): '"
                          << function.getName() << "'";
  }
  return success();
}

FailureOr<SmallVector<char, 0>> ModuleToObject::emitAssembly() {
  if (target.kind == TargetKind::NVPTX &&
      failed(checkPTXResolved(loc, *llvmModule)))
    return failure();
  return codegen(/*toObject=*/false);
}

FailureOr<Image> ModuleToObject::emitObject(TimingScope &timing) {
  Image image;
  FailureOr<SmallVector<char, 0>> code;
  {
    TimingScope codegenTiming = timing.nest("code generation");
    code = target.kind == TargetKind::NVPTX ? emitAssembly()
                                            : codegen(/*toObject=*/true);
  }
  if (failed(code))
    return failure();

  image.kind = llvm::object::IMG_Object;
  if (target.kind == TargetKind::NVPTX) {
    image.kind = llvm::object::IMG_PTX;
    if (options.ptxas.empty()) {
      image.bytes = std::move(*code);
      return image;
    }
    image.kind = llvm::object::IMG_Cubin;
    TimingScope linkTiming = timing.nest("ptxas");
    code = assemblePTX(loc, target, options.ptxas, options.optLevel,
                       options.lineTables, *code);
  } else {
    TimingScope linkTiming = timing.nest("link");
    code = linkSharedObject(loc, target, *code);
  }
  if (failed(code))
    return failure();
  image.bytes = std::move(*code);
  return image;
}
