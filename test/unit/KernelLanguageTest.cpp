// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every registered op is either in the table of the portable kernel language,
// or rejected by name: also one that a new release of MLIR adds.
#include "iris/Dialect/Iris/Transforms/KernelLanguage.h"
#include "iris/Dialect/Iris/Transforms/OpForms.h"
#include "iris/Dialect/Iris/Transforms/Passes.h"
#include "iris/InitAllDialects.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::iris;

namespace {

struct KernelLanguageTest : testing::Test {
  KernelLanguageTest()
      : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  /// The verifier's first error about a kernel that holds a bare (invalid) op
  /// of that name; empty if there is none.
  std::string verify(StringRef name) {
    Location loc = UnknownLoc::get(&context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    OpBuilder b(&context);
    b.setInsertionPointToStart(module->getBody());
    auto kernels = gpu::GPUModuleOp::create(b, loc, "kernels");
    b.setInsertionPointToStart(kernels.getBody());
    auto kernel =
        gpu::GPUFuncOp::create(b, loc, "k", b.getFunctionType({}, {}));
    kernel.getBody().front().push_back(
        Operation::create(OperationState(loc, name)));

    std::string first;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (first.empty())
        first = diagnostic.str();
      return success();
    });
    PassManager passes(&context);
    passes.enableVerifier(false);
    passes.addNestedPass<gpu::GPUModuleOp>(createIrisVerifyPortablePass());
    return succeeded(passes.run(*module)) ? "" : first;
  }

  MLIRContext context;
};

TEST_F(KernelLanguageTest, RefusesEveryOpThatIsNotInTheTable) {
  unsigned refused = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    StringRef op = name.getStringRef();
    // Target-specific code passes unchanged.
    if (findKernelOp(op) || op == LLVM::LLVMFuncOp::getOperationName() ||
        op == LLVM::GlobalOp::getOperationName())
      continue;
    std::string error = verify(op);
    EXPECT_NE(error.find("is not in the portable kernel language"),
              std::string::npos)
        << op.str() << ": " << error;
    ++refused;
  }
  EXPECT_GT(refused, 1000u);
}

TEST_F(KernelLanguageTest, NamesOnlyOpsThatExist) {
  for (StringRef dialect : getKernelDialects())
    for (StringRef name : getKernelOpNames(dialect)) {
      std::string op = (dialect + "." + name).str();
      EXPECT_TRUE(RegisteredOperationName::lookup(op, &context)) << op;
    }
}

/// A kernel that holds the op `form`, with a definition of each operand.
std::string kernelWith(StringRef form) {
  return R"(
#layout = #tile.blocked<size_per_thread = [1], threads_per_warp = [32],
                        warps_per_cta = [4], order = [0]>
!buffer = memref<?xi32, #iris.symmetric>
!matrix = memref<?x?xf16, #iris.symmetric>
!table = memref<?xi64, #iris.symmetric>
gpu.module @m {
  gpu.func @k(%ctx: !iris.ctx, %buffer: !buffer, %in: !buffer, %out: !buffer,
              %flags: !buffer, %state: !buffer, %a: !matrix, %b: !matrix,
              %c: !matrix, %counts: !table, %offsets: !table, %i: index,
              %j: index, %n: index, %r: index, %s: index, %value: i32,
              %expected: i32, %tile: tensor<64xi32>, %got: tensor<64xi32>,
              %want: tensor<64xi32>, %column: tensor<64x1xi32>,
              %mask: tensor<64xi1>, %indices: tensor<64xindex>) kernel {
    )" + form.str() +
         "\n gpu.return\n } }";
}

TEST_F(KernelLanguageTest, ParsesTheFormsOfOps) {
  // Not verified: host programs and matmuls hold some of the ops.
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  for (StringRef form : getOpForms())
    EXPECT_TRUE(parseSourceString<ModuleOp>(kernelWith(form), config))
        << form.str();
}

TEST_F(KernelLanguageTest, HasAFormOfEachOpOfItsDialects) {
  for (StringRef dialect : {"iris", "tile"})
    for (StringRef name : getKernelOpNames(dialect)) {
      std::string op = (dialect + "." + name).str();
      EXPECT_TRUE(getOpForm(op).contains(op)) << op;
    }
}

} // namespace
