// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- iris-interpret.cpp - Executes a program by its definition ----------===//
//
// What `iris-run --device=reference` starts: the ranks of a program, in this
// process, with the interpreter.
#include "Check.h"
#include "DeviceComparison.h"
#include "stack/LargeStack.h"
#include "terminal/Terminal.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Iris/IR/IrisMatmul.h"
#include "iris/Interpreter/Interpreter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace iristools;
using namespace mlir;
using namespace mlir::iris;
namespace cl = llvm::cl;

/// The name in messages.
static std::string toolName = "iris-interpret";

static cl::OptionCategory category("iris-interpret options");

static cl::opt<std::string> inputPath(cl::Positional, cl::desc("<IN.mlir>"),
                                      cl::init("-"), cl::cat(category));
static cl::opt<unsigned> numRanks("n", cl::desc("Ranks (default: 2)"),
                                  cl::value_desc("N"), cl::init(2),
                                  cl::cat(category));
static cl::opt<uint64_t>
    seed("schedule-seed",
         cl::desc("Determines the order in which programs take steps "
                  "(default: 0)"),
         cl::value_desc("N"), cl::init(0), cl::cat(category));
static cl::opt<bool>
    checkRaces("check",
               cl::desc("Report data races: accesses that no synchronization "
                        "orders; the program needs no checks"),
               cl::cat(category));
static cl::opt<unsigned> numSchedules(
    "schedules",
    cl::desc("With --check: orders of the steps to try, with seeds "
             "from --schedule-seed on (default: 10)"),
    cl::value_desc("N"), cl::init(10), cl::cat(category));
static cl::opt<bool> exhaust(
    "exhaust",
    cl::desc("With --check: execute all orders, up to equivalence, in place of "
             "random ones"),
    cl::cat(category));
static cl::opt<uint64_t>
    maxExecutions("max-executions",
                  cl::desc("With --exhaust: executions after which to stop "
                           "(default: 100000)"),
                  cl::value_desc("N"), cl::init(100000), cl::cat(category));
static cl::opt<uint64_t>
    resident("resident",
             cl::desc("Programs of a device that run at once; another one "
                      "starts when one ends (default: all of a launch)"),
             cl::value_desc("N"), cl::init(0), cl::cat(category));
static cl::opt<std::string>
    replay("replay", cl::desc("With --check: repeat the order of a file"),
           cl::value_desc("FILE"), cl::cat(category));
static cl::opt<std::string>
    saveSchedule("save-schedule",
                 cl::desc("With --check: write the order that failed"),
                 cl::value_desc("FILE"), cl::cat(category));
static cl::opt<std::string>
    draw("draw",
         cl::desc("With --check: draw the order that failed, as an image "
                  "(FILE.svg) or for ui.perfetto.dev (FILE.json)"),
         cl::value_desc("FILE"), cl::cat(category));
static cl::opt<bool> printEnds("print-ends", cl::Hidden,
                               cl::desc("Print how each execution ended"),
                               cl::cat(category));
static cl::opt<uint64_t> heapBytes("heap",
                                   cl::desc("Bytes of a rank's symmetric heap "
                                            "(default: 1 GiB)"),
                                   cl::value_desc("N"),
                                   cl::init(uint64_t(1) << 30),
                                   cl::cat(category));
static cl::opt<std::string> callerName("caller",
                                       cl::desc("The tool that messages name"),
                                       cl::Hidden, cl::cat(category));

// Of `iris-run --compare=reference`, after the ranks of the device have ended.
static cl::list<int> compareFds("compare-fds", cl::CommaSeparated, cl::Hidden,
                                cl::desc("Files of the ranks' buffers"),
                                cl::cat(category));
static cl::opt<std::string> compareDevice("compare-device", cl::Hidden,
                                          cl::desc("The device's name"),
                                          cl::cat(category));
static cl::opt<std::string> tolerances("tolerance", cl::Hidden,
                                       cl::desc("Of floats, by type"),
                                       cl::cat(category));
static cl::opt<bool> deviceFailed("device-failed", cl::Hidden,
                                  cl::desc("A rank of the device failed"),
                                  cl::cat(category));

/// Prints the checks of all ranks as iris-run does. In a comparison there may
/// be none.
static int summarize(ArrayRef<RankChecks> ranks) {
  uint64_t checked = 0, failed = 0, badRanks = 0;
  for (auto [rank, checks] : llvm::enumerate(ranks)) {
    checked += checks.checked;
    failed += checks.failed;
    badRanks += checks.failed != 0;
    if (checks.failed != 0)
      llvm::errs() << toolName << ": rank " << rank << ": " << checks.failed
                   << " of " << checks.checked
                   << " checks failed; the first: " << checks.first << "\n";
  }
  std::string where = std::to_string(ranks.size()) +
                      (ranks.size() == 1 ? " rank" : " ranks") +
                      " on reference";
  if (badRanks != 0) {
    llvm::errs() << toolName << ": FAILED on " << badRanks << " of " << where
                 << " (" << failed << " of " << checked << " checks failed)\n";
    return 1;
  }
  if (checked == 0 && !compareFds.empty())
    return 0;
  if (checked == 0) {
    llvm::errs() << toolName << ": FAILED: the program ran on " << where
                 << " but checked nothing; its kernels must check results with "
                    "iris.expect_eq\n";
    return 1;
  }
  llvm::outs() << toolName << ": " << where << ": all " << checked
               << " checks passed\n";
  return 0;
}

/// Executes the program and compares the device's buffers with its own.
static int compare(ModuleOp module, InterpreterOptions &options) {
  if (compareFds.size() != options.numRanks) {
    llvm::errs() << toolName << ": --compare-fds has " << compareFds.size()
                 << " files; expected one for each of " << options.numRanks
                 << " ranks\n";
    return 1;
  }
  DeviceComparison comparison(
      toolName, compareDevice,
      std::vector<int>(compareFds.begin(), compareFds.end()));
  if (!tolerances.empty() && failed(comparison.setTolerances(tolerances)))
    return 1;
  bool differs = false;
  options.atSync = [&](const SyncSnapshot &sync) {
    LogicalResult result = comparison.compare(sync);
    differs = failed(result);
    return result;
  };
  FailureOr<std::vector<RankChecks>> checks = interpret(module, options);
  bool failedChecks = succeeded(checks) && summarize(*checks) != 0;
  if (succeeded(checks))
    differs = failed(comparison.finish());
  if (differs)
    llvm::errs() << toolName << ": FAILED: " << compareDevice
                 << " differs from the reference\n";
  return failed(checks) || differs || failedChecks || deviceFailed;
}

static int check(ModuleOp module, InterpreterOptions &options, uint64_t hash) {
  CheckOptions check;
  check.tool = toolName;
  check.numSchedules = numSchedules;
  check.exhaust = exhaust;
  check.maxExecutions = maxExecutions;
  check.replay = replay;
  check.saveSchedule = saveSchedule;
  check.draw = draw;
  check.program = hash;
  check.printEnds = printEnds;
  return iristools::check(
      module, options, check,
      [](ArrayRef<RankChecks> checks) { (void)summarize(checks); });
}

static int runTool(int argc, char **argv) {
  if (failed(checkArguments(argc, argv)))
    return 1;
  cl::SetVersionPrinter(
      [](raw_ostream &os) { os << toolName << " " << IRIS_VERSION << "\n"; });
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Executes a program by the definition of its "
                              "ops, without compiling it\n");
  if (!callerName.empty())
    toolName = callerName;
  if (numRanks < 1 || numRanks > kMaxRanks) {
    llvm::errs() << toolName << ": -n is " << numRanks << "; expected 1 to "
                 << kMaxRanks << "\n";
    return 1;
  }
  if (numSchedules < 1 || (numSchedules.getNumOccurrences() && !checkRaces)) {
    llvm::errs() << toolName << ": --schedules is " << numSchedules
                 << "; expected 1 or more, and --check\n";
    return 1;
  }
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(inputPath, &message);
  if (!input) {
    llvm::errs() << toolName << ": " << message << "\n";
    return 1;
  }
  DialectRegistry registry;
  registry.insert<IrisDialect, tile::TileDialect, affine::AffineDialect,
                  arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<llvm::SourceMgr>();
  const uint64_t hash = hashText(input->getBuffer());
  sources->AddNewSourceBuffer(std::move(input), SMLoc());
  SourceMgrDiagnosticHandler handler(*sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;
  InterpreterOptions options;
  options.numRanks = numRanks;
  options.seed = seed;
  options.heapBytes = heapBytes;
  options.resident = resident;
  if (!compareFds.empty())
    return compare(*module, options);
  if (checkRaces)
    return check(*module, options, hash);
  FailureOr<std::vector<RankChecks>> checks = interpret(*module, options);
  return failed(checks) ? 1 : summarize(*checks);
}

int main(int argc, char **argv) {
  return iristools::runOnLargeStack(toolName.c_str(), runTool, argc, argv);
}
