// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's command line. Flags become options here; what is done with
// them is in Driver.cpp.
#include "Driver.h"
#include "Output.h"
#include "Signals.h"

#include "iris-c/RuntimeABI.h"
#include "iris/InitAllDialects.h"
#include "iris/Pipelines/Pipelines.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"
#include <ctime>

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

static cl::opt<EmitKind> emitKind(
    "emit", cl::desc("What to write:"),
    cl::values(
        clEnumValN(EmitKind::MLIR, "mlir", "MLIR after the pipeline"),
        clEnumValN(EmitKind::LLVM, "llvm", "optimised LLVM IR"),
        clEnumValN(EmitKind::Assembly, "asm", "assembly: GCN, PTX or x86"),
        clEnumValN(EmitKind::Object, "obj",
                   "the bare image: HSACO, cubin or PTX, shared object"),
        clEnumValN(EmitKind::Package, "package",
                   "images for every target, metadata and @main (default)")),
    cl::init(EmitKind::Package), cl::cat(category));

static cl::opt<std::string>
    untilStage("until",
               cl::desc("Stop after this stage of the pipeline and write MLIR: "
                        "expand, translate, tiles, sync, abi or llvm"),
               cl::value_desc("stage"), cl::cat(category));

static cl::opt<std::string> translation(
    "translation",
    cl::desc("How addresses on other ranks are found: stride (default; one "
             "multiply-add), table (where heaps cannot lie at a uniform "
             "stride), or both (package only)"),
    cl::value_desc("stride|table|both"), cl::init("stride"), cl::cat(category));

static cl::opt<bool>
    trace("trace",
          cl::desc("Compile iris.trace, and waits and barriers as spans; "
                   "without it kernels do not tell about their time"),
          cl::init(false), cl::cat(category));

static cl::opt<unsigned> codeObjectVersion(
    "code-object-version",
    cl::desc("AMD code object version: 5 (default; HIP 5 to 7) or 6"),
    cl::value_desc("5|6"), cl::init(5), cl::cat(category));

static cl::opt<char>
    optLevel("O", cl::desc("Optimisation level of LLVM: -O0 to -O3 (default)"),
             cl::value_desc("0-3"), cl::Prefix, cl::init('3'),
             cl::cat(category));

static cl::opt<std::string>
    ptxasPath("ptxas",
              cl::desc("Program that turns PTX into a cubin: a path, 'auto' "
                       "(default: on PATH or in /usr/local/cuda/bin), or "
                       "'none' to keep PTX"),
              cl::value_desc("path|auto|none"), cl::init("auto"),
              cl::cat(category));

static cl::opt<bool>
    printRemarks("remarks",
                 cl::desc("Print what was vectorized how, and what was not"),
                 cl::cat(category));

static cl::opt<bool>
    printTime("time", cl::desc("Print where the time goes, stage by stage"),
              cl::cat(category));

static cl::opt<bool> listTargets("list-targets",
                                 cl::desc("Print the targets and exit"),
                                 cl::cat(category));

static constexpr const char *overview =
    "Compiles multi-GPU kernels written in MLIR.\n\n"
    "One source becomes machine code for AMD GPUs (HSACO), NVIDIA GPUs (PTX "
    "or\n"
    "cubin) and CPUs (a shared object). A package holds any number of these\n"
    "together with the kernels' metadata and the host program @main; iris-run\n"
    "and the runtime load it. A bare image (--emit=obj) loads with plain\n"
    "hipModuleLoad, cuModuleLoad or dlopen.\n";

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
    "\nThe exit status is 0 if the output was written, else 1.\n");

//===----------------------------------------------------------------------===//
// From flags to options
//===----------------------------------------------------------------------===//

/// Prints an error that has no place in the input.
static void printError(const llvm::Twine &message) {
  llvm::errs() << toolName << ": error: " << message << "\n";
}

static void printVersion(llvm::raw_ostream &os) {
  os << "Iris " << IRIS_VERSION << "\n"
     << "ABI " << IRISRT_ABI_VERSION_MAJOR << "." << IRISRT_ABI_VERSION_MINOR
     << "\n"
     << "LLVM " << LLVM_VERSION_STRING << "\n";
}

static void printTargets() {
  for (const TargetSpec &target : getKnownTargets())
    llvm::outs() << llvm::left_justify(target.name, 9) << target.description
                 << "\n";
}

/// The `ptxas` to use; empty: none.
static llvm::Expected<std::string> findPtxas() {
  if (ptxasPath == "none")
    return std::string();
  if (ptxasPath != "auto") {
    if (llvm::sys::fs::can_execute(ptxasPath))
      return ptxasPath;
    return llvm::createStringError("'%s', named by --ptxas, is not a program",
                                   ptxasPath.c_str());
  }
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  if (auto found =
          llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"}))
    return *found;
  return std::string();
}

namespace {
/// The flags, checked. Nothing reads a flag later: lld parses options too and
/// resets all of this process's to their defaults first.
struct Invocation {
  std::string input;
  std::string output;
  bool remarks = false;
  bool time = false;
  DriverOptions driver;
};
} // namespace

/// Checks the flags and fills in `invocation`.
static llvm::Error readFlags(Invocation &invocation) {
  invocation.input = inputPath;
  invocation.output = outputPath;
  invocation.remarks = printRemarks;
  invocation.time = printTime;
  DriverOptions &options = invocation.driver;
  llvm::Expected<SmallVector<TargetSpec, 4>> targets =
      parseTargetList(targetNames);
  if (!targets)
    return targets.takeError();
  options.targets = std::move(*targets);

  options.trace = trace;
  options.emit = emitKind;
  options.until = untilStage;
  if (!options.until.empty()) {
    if (emitKind.getNumOccurrences() && emitKind != EmitKind::MLIR)
      return llvm::createStringError(
          "--until writes MLIR; it goes with --emit=mlir only");
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
          "only a package can hold several targets; name one target, or use "
          "--emit=package");
    if (options.translations.size() > 1)
      return llvm::createStringError(
          "only a package can hold both translations; name one, or use "
          "--emit=package");
  }

  if (codeObjectVersion != 5 && codeObjectVersion != 6)
    return llvm::createStringError(
        "unknown code object version %u; expected 5 or 6",
        unsigned(codeObjectVersion));
  options.codegen.codeObjectVersion = codeObjectVersion;
  if (optLevel < '0' || optLevel > '3')
    return llvm::createStringError(
        "unknown optimisation level -O%c; expected -O0 to -O3", char(optLevel));
  options.codegen.optLevel = optLevel - '0';

  bool needsPtxas = isBinary(options.emit) &&
                    llvm::any_of(options.targets, [](const TargetSpec &target) {
                      return target.kind == TargetKind::NVPTX;
                    });
  if (needsPtxas) {
    llvm::Expected<std::string> ptxas = findPtxas();
    if (!ptxas)
      return ptxas.takeError();
    options.codegen.ptxas = std::move(*ptxas);
  }
  return checkOutput(outputPath, isBinary(options.emit));
}

//===----------------------------------------------------------------------===//
// Main
//===----------------------------------------------------------------------===//

/// Prints the remarks of the passes like other diagnostics.
static LogicalResult enableRemarks(MLIRContext &context) {
  remark::RemarkCategories categories;
  // `all` is a filter on top of these, and alone selects nothing.
  categories.passed = categories.missed = ".*";
  categories.analysis = categories.failed = ".*";
  return remark::enableOptimizationRemarks(
      context, /*streamer=*/nullptr,
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}

/// Parses, compiles and writes.
static LogicalResult run(const Invocation &invocation, TimingScope &timing) {
  const DriverOptions &options = invocation.driver;
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(invocation.input, &error);
  if (!input) {
    printError(error);
    return failure();
  }
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
  // Kernels are small: starting threads costs more than they win.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // The location says enough; printing the op, often a whole module, hides it.
  context.printOpOnDiagnostic(false);
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  if (invocation.remarks && failed(enableRemarks(context)))
    return failure();

  TimingScope parsing = timing.nest("parsing");
  auto module = parseSourceFile<ModuleOp>(sources, &context);
  parsing.stop();
  if (!module)
    return failure();

  FailureOr<std::string> output = compile(*module, options, timing);
  if (failed(output))
    return failure();

  TimingScope writing = timing.nest("writing");
  if (llvm::Error failed = writeOutput(invocation.output, *output)) {
    printError(llvm::toString(std::move(failed)));
    return failure();
  }
  return success();
}

int main(int argc, char **argv) {
  cleanUpOnSignals();
  // What went before `main` is the dynamic linker's and static constructors'.
  timespec used = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);

  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(printVersion);
  cl::ParseCommandLineOptions(argc, argv, overview);
  if (listTargets) {
    printTargets();
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
