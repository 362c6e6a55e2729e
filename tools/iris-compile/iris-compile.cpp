// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- iris-compile.cpp - Command line of the compiler --------------------===//
//
// Driver.cpp compiles.
#include "Driver.h"
#include "Hints.h"
#include "Output.h"
#include "Signals.h"
#include "Split.h"
#include "debug-log/DebugLog.h"
#include "stack/LargeStack.h"
#include "terminal/Terminal.h"

#include "iris-c/RuntimeABI.h"
#include "iris/Dialect/Iris/Transforms/KernelLanguage.h"
#include "iris/InitAllDialects.h"
#include "iris/Pipelines/Pipelines.h"
#include "iris/Pipelines/PostConditions.h"
#include "iris/Plan/Collectives.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"
#include <ctime>
#include <thread>

using namespace mlir;
using namespace mlir::iris;
namespace cl = llvm::cl;

static constexpr const char *toolName = "iris-compile";

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

static cl::OptionCategory category("iris-compile options");

static cl::opt<std::string> inputPath(cl::Positional, cl::desc("<IN.mlir>"),
                                      cl::init("-"), cl::cat(category));

static cl::opt<std::string>
    outputPath("o", cl::desc("Output file; - is standard output (default)"),
               cl::value_desc("file"), cl::init("-"), cl::cat(category));

static cl::opt<std::string>
    targetNames("target",
                cl::desc("Targets, separated by commas (default: host); see "
                         "--list-targets"),
                cl::value_desc("names"), cl::init("host"), cl::cat(category));

static cl::opt<std::string> emitName(
    "emit",
    cl::desc(
        "Output format:\n"
        "  mlir     MLIR after the pipeline\n"
        "  llvm     optimized LLVM IR\n"
        "  asm      assembly: GCN, PTX or x86\n"
        "  obj      one image: HSACO, cubin or PTX, or a shared object\n"
        "  package  images for every target, metadata and @main (default)\n"
        "hsaco and cubin are aliases of obj, and ptx of asm, for targets "
        "with that format"),
    cl::value_desc("kind"), cl::init("package"), cl::cat(category));

static cl::opt<std::string>
    untilStage("until",
               cl::desc("Stop after this stage of the pipeline and write MLIR: "
                        "expand, translate, tiles, sync, abi or llvm"),
               cl::value_desc("stage"), cl::cat(category));

static cl::opt<std::string> translation(
    "translation",
    cl::desc("How addresses on peers are computed: stride (default; one "
             "multiply-add), table (for heaps without a uniform stride), or "
             "both (package only)"),
    cl::value_desc("stride|table|both"), cl::init("stride"), cl::cat(category));

static cl::opt<bool> split(
    "split",
    cl::desc("Compile the parts of the input, separated by lines '// -----', "
             "to a package each, NAME.iris in the folder of -o, where NAME is "
             "the symbol of the part's only kernel or module"),
    cl::init(false), cl::cat(category));

static cl::opt<unsigned>
    jobs("jobs",
         cl::desc("Processes that compile parts at once (default: one for each "
                  "processor)"),
         cl::value_desc("n"), cl::init(0), cl::cat(category));

static cl::opt<bool> trace(
    "trace",
    cl::desc("Record spans for iris.trace, waits and barriers; without it "
             "kernels record no trace"),
    cl::init(false), cl::cat(category));

static cl::opt<bool> allowNonportable(
    "allow-nonportable",
    cl::desc("Accept ops that only some targets support; without it kernels "
             "must use the portable language (see --list-ops)"),
    cl::init(false), cl::cat(category));

static cl::opt<bool> debugChecks(
    "debug",
    cl::desc("Check every rank, index and size in remote, atomic and "
             "synchronizing accesses at run time; host only "
             "(iris-run --debug)"),
    cl::init(false), cl::cat(category));

static cl::opt<bool>
    warningsAreErrors("Werror",
                      cl::desc("Treat warnings as errors: nothing is written"),
                      cl::init(false), cl::cat(category));

static cl::opt<bool> noSyncWarnings(
    "Wno-sync",
    cl::desc("Do not warn of errors in the synchronization of ranks "
             "(iris-opt --iris-check-sync)"),
    cl::init(false), cl::cat(category));

static cl::opt<bool> verifyStages(
    "verify-stages",
    cl::desc("Check after each stage of the pipeline what it promises (see "
             "--list-stages), and the IR after each pass; in builds with "
             "assertions, unless --verify-stages=false"),
    cl::init(kVerifyStagesByDefault), cl::ZeroOrMore, cl::cat(category));

static cl::list<Guard, bool, GuardParser> disabledGuards(
    "disable-guards",
    cl::desc("Do not work around these defects of MLIR and LLVM (see "
             "--list-guards), which makes results wrong: to see whether a "
             "version of LLVM has a defect"),
    cl::value_desc("names"), cl::CommaSeparated, cl::cat(category));

static cl::opt<unsigned> codeObjectVersion(
    "code-object-version",
    cl::desc("AMD code object version: 5 (default; HIP 5 to 7) or 6"),
    cl::value_desc("5|6"), cl::init(5), cl::cat(category));

static cl::opt<char>
    optLevel("O", cl::desc("Optimization level of LLVM: -O0 to -O3 (default)"),
             cl::value_desc("0-3"), cl::Prefix, cl::init('3'),
             cl::cat(category));

static cl::opt<char> debugInfo(
    "g",
    cl::desc("Debug information: -g0 for none, or -g1 (default) for line "
             "tables, which debuggers and profilers read"),
    cl::value_desc("0-1"), cl::Prefix, cl::init('1'), cl::cat(category));

static cl::opt<std::string>
    ptxasPath("ptxas",
              cl::desc("Program that assembles PTX to a cubin: a path, 'auto' "
                       "(default: on PATH or in /usr/local/cuda/bin), or "
                       "'none' to keep PTX"),
              cl::value_desc("path|auto|none"), cl::init("auto"),
              cl::cat(category));

static cl::opt<bool>
    printRemarks("remarks",
                 cl::desc("Print how each access was vectorized, or why not"),
                 cl::cat(category));

static cl::opt<bool> printTime("time", cl::desc("Print the time of each stage"),
                               cl::cat(category));

static cl::opt<bool> listTargets("list-targets",
                                 cl::desc("Print the targets and exit"),
                                 cl::cat(category));

static cl::opt<bool>
    listCollectives("list-collectives",
                    cl::desc("Print the table of collectives as JSON: buffers, "
                             "variants and what these can do"),
                    cl::init(false), cl::cat(category));

static cl::opt<bool>
    listStages("list-stages",
               cl::desc("Print what holds after each stage of the pipeline, "
                        "and exit"),
               cl::cat(category));

static cl::opt<bool> listOps(
    "list-ops",
    cl::desc("Print the ops that kernels may use, with their types, and exit"),
    cl::cat(category));

static cl::opt<bool>
    listGuards("list-guards",
               cl::desc("Print the defects of MLIR and LLVM that the compiler "
                        "works around, and exit"),
               cl::cat(category));

static constexpr const char *overview =
    "Compiles multi-GPU kernels written in MLIR.\n\n"
    "One source becomes machine code for AMD GPUs (HSACO), NVIDIA GPUs (PTX "
    "or\n"
    "cubin) and CPUs (a shared object). A package holds any number of these\n"
    "together with the kernels' metadata and the host program @main; iris-run\n"
    "and the runtime load it. A bare image (--emit=obj) loads with plain\n"
    "hipModuleLoad, cuModuleLoad or dlopen, where kernel k is iris.k.\n";

static cl::extrahelp examples(
    "\nExamples:\n"
    "  iris-compile all_gather.mlir --target=gfx942,sm_90a,host -o ag.iris\n"
    "      a package for three targets; then: iris-run -n 4 ag.iris\n"
    "  iris-compile all_gather.mlir --target=gfx942 --emit=obj -o ag.hsaco\n"
    "      an HSACO; no ROCm installation is needed\n"
    "  iris-compile all_gather.mlir --target=gfx942 --emit=asm\n"
    "      the GCN assembly, on standard output\n"
    "  iris-compile all_gather.mlir --target=sm_90a --until=tiles\n"
    "      the IR after one stage of the pipeline\n"
    "  iris-compile all_gather.mlir --target=gfx942 --remarks --time -o "
    "ag.iris\n"
    "      how each access was vectorized, and where the time went\n"
    "  iris-bench --nccl --requests=list.mlir --target=sm_90a\n"
    "  iris-compile list.mlir --split --target=sm_90a --translation=both \\\n"
    "      -o kernels.sm_90a\n"
    "      a folder of kernels for machines without a compiler\n"
    "\nThe exit status is 0 if the output was written, else 1.\n");

//===----------------------------------------------------------------------===//
// From flags to options
//===----------------------------------------------------------------------===//

/// Prints an error without a source location.
static void printError(const llvm::Twine &message) {
  EscapedErrors() << toolName << ": error: " << message << "\n";
}

static void printVersion(llvm::raw_ostream &os) {
  os << "Iris " << IRIS_VERSION << "\n"
     << "ABI " << IRISRT_ABI_VERSION_MAJOR << "." << IRISRT_ABI_VERSION_MINOR
     << "\n"
     << "LLVM " << LLVM_VERSION_STRING << "\n";
}

static void printTargets() {
  for (const TargetSpec &target : getKnownTargets())
    llvm::outs() << llvm::left_justify(target.name, 9) << target.gpus << ": "
                 << target.image << "\n";
}

static void printOps() {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  printKernelLanguage(llvm::outs(), context);
}

namespace {
/// A value of --emit.
struct EmitName {
  StringLiteral name;
  EmitKind kind;
  /// The only kind of target with the format; none: all targets.
  std::optional<TargetKind> target = std::nullopt;
};
} // namespace

static constexpr EmitName emitNames[] = {
    {"mlir", EmitKind::MLIR},
    {"llvm", EmitKind::LLVM},
    {"asm", EmitKind::Assembly},
    {"obj", EmitKind::Object},
    {"package", EmitKind::Package},
    {"hsaco", EmitKind::Object, TargetKind::AMDGPU},
    {"cubin", EmitKind::Object, TargetKind::NVPTX},
    {"ptx", EmitKind::Assembly, TargetKind::NVPTX}};

/// The output kind that --emit selects for these targets.
static llvm::Expected<EmitKind> parseEmit(ArrayRef<TargetSpec> targets) {
  const auto *found = llvm::find_if(emitNames, [](const EmitName &candidate) {
    return candidate.name == emitName;
  });
  if (found == std::end(emitNames))
    return llvm::createStringError(
        "unknown --emit=%s; expected mlir, llvm, asm, obj (one image: "
        "HSACO, cubin or PTX, or a shared object) or package",
        emitName.c_str());
  for (const TargetSpec &target : targets)
    if (found->target && target.kind != *found->target)
      return llvm::createStringError(
          "--emit=%s is not a format of target %s; expected --emit=%s",
          emitName.c_str(), target.name.str().c_str(),
          found->kind == EmitKind::Object ? "obj" : "asm");
  return found->kind;
}

/// The path of `ptxas`; empty: none.
static llvm::Expected<std::string> findPtxas() {
  if (ptxasPath == "none")
    return std::string();
  if (ptxasPath != "auto") {
    if (llvm::sys::fs::can_execute(ptxasPath))
      return ptxasPath;
    return llvm::createStringError(
        "'%s', given by --ptxas, is not an executable", ptxasPath.c_str());
  }
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  if (auto found =
          llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"}))
    return *found;
  return std::string();
}

namespace {
/// The checked flags. No flag is read later, because lld parses options, too,
/// and first resets all options of this process.
struct Invocation {
  std::string input;
  std::string output;
  bool remarks = false;
  bool time = false;
  bool warningsAreErrors = false;
  bool split = false;
  /// Processes of `split`.
  unsigned jobs = 1;
  DriverOptions driver;
};
} // namespace

/// Checks the flags and fills in `invocation`.
static llvm::Error readFlags(Invocation &invocation) {
  invocation.input = inputPath;
  invocation.output = outputPath;
  invocation.remarks = printRemarks;
  invocation.time = printTime;
  invocation.warningsAreErrors = warningsAreErrors;
  DriverOptions &options = invocation.driver;
  llvm::Expected<SmallVector<TargetSpec, 4>> targets =
      parseTargetList(targetNames);
  if (!targets)
    return targets.takeError();
  options.targets = std::move(*targets);

  options.trace = trace;
  options.allowNonportable = allowNonportable;
  options.debug = debugChecks;
  options.checkSync = !noSyncWarnings;
  options.verifyStages = verifyStages;
  for (Guard guard : disabledGuards) {
    options.disabledGuards.push_back(guard);
    options.codegen.guards.remove(guard);
  }
  for (const TargetSpec &target : options.targets)
    if (options.debug && target.kind != TargetKind::Host)
      return llvm::createStringError(
          "--debug supports the host only; expected --target=host, but "
          "got %s",
          target.name.str().c_str());
  llvm::Expected<EmitKind> emit = parseEmit(options.targets);
  if (!emit)
    return emit.takeError();
  options.emit = *emit;
  options.until = untilStage;
  if (!options.until.empty()) {
    if (emitName.getNumOccurrences() && options.emit != EmitKind::MLIR)
      return llvm::createStringError(
          "--until writes MLIR; expected --emit=mlir or no --emit");
    if (!llvm::is_contained(getStageNames(), options.until))
      return llvm::createStringError("unknown stage '%s'; expected one of %s",
                                     options.until.c_str(),
                                     llvm::join(getStageNames(), ", ").c_str());
    options.emit = EmitKind::MLIR;
  }

  if (translation == "both")
    options.translations = {"stride", "table"};
  else if (translation == "stride" || translation == "table")
    options.translations = {translation};
  else
    return llvm::createStringError("unknown translation '%s'; expected stride, "
                                   "table or both",
                                   translation.c_str());
  if (options.emit != EmitKind::Package) {
    if (options.targets.size() > 1)
      return llvm::createStringError(
          "only a package can hold several targets; give one target, or use "
          "--emit=package");
    if (options.translations.size() > 1)
      return llvm::createStringError(
          "only a package can hold both translations; give one, or use "
          "--emit=package");
  }

  if (codeObjectVersion != 5 && codeObjectVersion != 6)
    return llvm::createStringError(
        "unknown code object version %u; expected 5 or 6",
        unsigned(codeObjectVersion));
  options.codegen.codeObjectVersion = codeObjectVersion;
  if (optLevel < '0' || optLevel > '3')
    return llvm::createStringError(
        "unknown optimization level -O%c; expected -O0 to -O3", char(optLevel));
  options.codegen.optLevel = optLevel - '0';
  if (debugInfo != '0' && debugInfo != '1')
    return llvm::createStringError(
        "unknown debug information -g%c; expected -g0 (none) or -g1 (line "
        "tables)",
        char(debugInfo));
  options.codegen.lineTables = debugInfo == '1';

  bool needsPtxas = isBinary(options.emit) &&
                    llvm::any_of(options.targets, [](const TargetSpec &target) {
                      return target.kind == TargetKind::NVPTX;
                    });
  if (needsPtxas) {
    llvm::Expected<std::string> ptxas = findPtxas();
    if (!ptxas)
      return ptxas.takeError();
    if (ptxas->empty() && emitName == "cubin")
      return llvm::createStringError(
          "--emit=cubin needs ptxas, which is neither on PATH nor in "
          "/usr/local/cuda/bin; give its path with --ptxas, or use --emit=ptx");
    options.codegen.ptxas = std::move(*ptxas);
  }
  invocation.split = split;
  if (!split && jobs.getNumOccurrences())
    return llvm::createStringError("--jobs needs --split");
  if (!split)
    return checkOutput(outputPath, isBinary(options.emit));
  if (options.emit != EmitKind::Package || outputPath == "-")
    return llvm::createStringError(
        "--split writes packages to a folder; expected -o FOLDER, and no "
        "--emit or --until");
  invocation.jobs = jobs;
  if (jobs == 0)
    invocation.jobs = std::max(1u, std::thread::hardware_concurrency());
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Main
//===----------------------------------------------------------------------===//

/// Prints the remarks of the passes like other diagnostics.
static LogicalResult enableRemarks(MLIRContext &context) {
  remark::RemarkCategories categories;
  // `all` only filters these categories, and alone selects nothing.
  categories.passed = categories.missed = ".*";
  categories.analysis = categories.failed = ".*";
  return remark::enableOptimizationRemarks(
      context, /*streamer=*/nullptr,
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}

namespace {
/// A compiled input.
struct Compiled {
  /// The symbol of the input's only symbol; empty if it has another number.
  std::string name;
  std::string bytes;
};
} // namespace

/// The symbol of the only symbol in a module.
static std::string findName(ModuleOp module) {
  std::string name;
  for (Operation &op : *module.getBody()) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (!symbol || !name.empty())
      return "";
    name = symbol.getName().str();
  }
  return name;
}

/// Reports a warning as an error, with its notes.
static void reportAsError(Diagnostic &warning) {
  InFlightDiagnostic error = emitError(warning.getLocation());
  error << warning.str();
  for (const Diagnostic &note : warning.getNotes())
    error.attachNote(note.getLocation()) << note.str();
}

/// Parses and compiles.
static FailureOr<Compiled>
compileBuffer(std::unique_ptr<llvm::MemoryBuffer> input,
              const Invocation &invocation, TimingScope &timing) {
  const DriverOptions &options = invocation.driver;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(input), llvm::SMLoc());

  DialectRegistry registry;
  registerAllDialects(registry);
  bool needsHost = options.emit == EmitKind::Package; // for @main
  for (const TargetSpec &target : options.targets) {
    registerTargetTranslations(target.kind, registry);
    needsHost &= target.kind != TargetKind::Host;
  }
  if (needsHost)
    registerTargetTranslations(TargetKind::Host, registry);
  // Kernels are small, so starting threads costs more than it saves.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // Print the location only, because the op is often a whole module.
  context.printOpOnDiagnostic(false);
  EscapedErrors errors;
  SourceMgrDiagnosticHandler diagnostics(sources, &context, errors);
  bool hasWarnings = false;
  ScopedDiagnosticHandler warnings(&context, [&](Diagnostic &diagnostic) {
    if (!invocation.warningsAreErrors ||
        diagnostic.getSeverity() != DiagnosticSeverity::Warning)
      return failure();
    hasWarnings = true;
    reportAsError(diagnostic);
    return success();
  });
  if (invocation.remarks && failed(enableRemarks(context)))
    return failure();

  TimingScope parsing = timing.nest("parsing");
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler hints(&context, [&](Diagnostic &diagnostic) {
      return addHint(diagnostic, sources);
    });
    module = parseSourceFile<ModuleOp>(sources, &context);
  }
  parsing.stop();
  if (!module)
    return failure();

  std::string name = findName(*module);
  FailureOr<std::string> output = compile(*module, options, timing);
  if (failed(output) || hasWarnings)
    return failure();
  return Compiled{std::move(name), std::move(*output)};
}

static LogicalResult write(StringRef path, StringRef bytes,
                           TimingScope &timing) {
  TimingScope writing = timing.nest("writing");
  if (llvm::Error failed = writeOutput(path, bytes)) {
    printError(llvm::toString(std::move(failed)));
    return failure();
  }
  return success();
}

/// Compiles a part of the input to a package in the folder.
static LogicalResult runPart(const InputPart &part,
                             const Invocation &invocation,
                             TimingScope &timing) {
  // Lines before the part, so that diagnostics have the line in the input.
  std::string text(part.line - 1, '\n');
  text += part.text;
  FailureOr<Compiled> compiled = compileBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, invocation.input), invocation,
      timing);
  if (failed(compiled))
    return failure();
  if (compiled->name.empty() || !llvm::all_of(compiled->name, [](char c) {
        return llvm::isAlnum(c) || c == '_';
      })) {
    printError(invocation.input + ":" + llvm::Twine(part.line) +
               ": the part names no package; expected one kernel or module, "
               "whose symbol has letters, digits and _ only");
    return failure();
  }
  llvm::SmallString<128> path(invocation.output);
  llvm::sys::path::append(path, compiled->name + ".iris");
  if (failed(write(path, compiled->bytes, timing)))
    return failure();
  // The runtime refuses what others may write.
  if (std::error_code error = llvm::sys::fs::setPermissions(
          path, llvm::sys::fs::all_read | llvm::sys::fs::owner_write)) {
    printError("cannot set the mode of '" + path + "': " + error.message());
    return failure();
  }
  return success();
}

/// Reads the input, compiles and writes.
static LogicalResult run(const Invocation &invocation, TimingScope &timing) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(invocation.input, &error);
  if (!input) {
    printError(error);
    return failure();
  }
  if (!invocation.split) {
    FailureOr<Compiled> compiled =
        compileBuffer(std::move(input), invocation, timing);
    return failed(compiled) ? failure()
                            : write(invocation.output, compiled->bytes, timing);
  }
  SmallVector<InputPart> parts = splitInput(input->getBuffer());
  if (llvm::Error failed = createFolder(invocation.output)) {
    printError(llvm::toString(std::move(failed)));
    return failure();
  }
  return success(runInProcesses(invocation.jobs, parts.size(), [&](size_t i) {
    return succeeded(runPart(parts[i], invocation, timing));
  }));
}

static int runTool(int argc, char **argv) {
  cleanUpOnSignals();
  // The time before `main`: dynamic linking and static constructors.
  timespec used = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);

  if (failed(checkArguments(argc, argv)))
    return 1;
  registerDebugLogOption(category);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(printVersion);
  cl::ParseCommandLineOptions(argc, argv, overview);
  if (listTargets) {
    printTargets();
    return 0;
  }
  if (listCollectives) {
    llvm::outs() << ::irisplan::listCollectivesAsJson();
    return 0;
  }
  if (listStages) {
    printPostConditions(llvm::outs());
    return 0;
  }
  if (listGuards) {
    printGuards(llvm::outs());
    return 0;
  }
  if (listOps) {
    printOps();
    return 0;
  }

  Invocation invocation;
  if (llvm::Error error = readFlags(invocation)) {
    printError(llvm::toString(std::move(error)));
    return 1;
  }

  DefaultTimingManager timingManager;
  timingManager.setEnabled(invocation.time);
  TimingScope timing = timingManager.getRootScope();
  LogicalResult result = run(invocation, timing);
  timing.stop();
  if (invocation.time)
    llvm::errs() << "before main: " << used.tv_sec * 1000.0 + used.tv_nsec / 1e6
                 << " ms of CPU time (dynamic linking, static constructors)\n";
  return succeeded(result) ? 0 : 1;
}

int main(int argc, char **argv) {
  return iristools::runOnLargeStack(toolName, runTool, argc, argv);
}
