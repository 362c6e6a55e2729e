// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- iris-opt.cpp - mlir-opt with the Iris dialects and pipelines -------===//

#include "EscapeErrors.h"
#include "debug-log/DebugLog.h"
#include "stack/LargeStack.h"
#include "terminal/Terminal.h"

#include "iris/InitAllDialects.h"
#include "iris/InitAllPasses.h"

#include "iris-c/RuntimeABI.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#ifdef IRIS_INCLUDE_TESTS
#include "TestPasses.h"
#endif

static void printVersion(llvm::raw_ostream &os) {
  os << "Iris " << IRIS_VERSION << "\nABI " << IRISRT_ABI_VERSION_MAJOR << "."
     << IRISRT_ABI_VERSION_MINOR << "\n";
}

static int runTool(int argc, char **argv) {
  mlir::iris::escapeErrors();
  if (failed(mlir::iris::checkArguments(argc, argv)))
    return 1;
  llvm::cl::AddExtraVersionPrinter(printVersion);
  mlir::iris::registerDebugLogOption(llvm::cl::getGeneralCategory());
  mlir::registerAllPasses();
  mlir::iris::registerAllPasses();
#ifdef IRIS_INCLUDE_TESTS
  mlir::iris::test::registerTestPasses();
#endif

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::iris::registerAllDialects(registry);

  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv,
      "Iris modular optimizer driver\n\n"
      "Runs MLIR and Iris passes on a .mlir file. Whole pipelines:\n"
      "  iris-opt kernel.mlir --iris-pipeline=target=gfx942\n"
      "Single passes are named as in --pass-pipeline.\n",
      registry));
}

int main(int argc, char **argv) {
  return iristools::runOnLargeStack("iris-opt", runTool, argc, argv);
}
