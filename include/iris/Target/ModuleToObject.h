// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a module in the LLVM dialect to machine code: HSACO, PTX, cubin or a
// shared object.
#ifndef IRIS_TARGET_MODULETOOBJECT_H
#define IRIS_TARGET_MODULETOOBJECT_H

#include "iris/Target/TargetRegistry.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"
#include "mlir/Support/Timing.h"
#include "llvm/Object/OffloadBinary.h"
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
class raw_ostream;
} // namespace llvm

namespace mlir::iris {

/// How machine code is made.
struct CodegenOptions {
  /// 0 to 3, as of a C compiler.
  unsigned optLevel = 3;
  /// AMDGPU: 5, which HIP 5 to 7 load, or 6.
  unsigned codeObjectVersion = 5;
  /// NVPTX: the `ptxas` that turns PTX into a cubin; empty: keep the PTX.
  std::string ptxas;
};

/// Machine code as a driver loads it.
struct Image {
  llvm::object::ImageKind kind = llvm::object::IMG_None;
  SmallVector<char, 0> bytes;
};

/// Compiles one module for one target. Use: `translate`, then `optimize`, then
/// one of the `emit` functions, once (code generation consumes the LLVM
/// module).
///
/// Every failure is a diagnostic at the module's location. Errors that LLVM's
/// back ends treat as fatal are turned into diagnostics too; since their
/// handler is global to the process, only one thread at a time may be inside
/// these functions.
class ModuleToObject {
public:
  /// `module` is a `gpu.module`, or a top-level module with a host program, in
  /// the LLVM dialect.
  ModuleToObject(Operation *module, const TargetSpec &target,
                 const CodegenOptions &options);
  ~ModuleToObject();

  /// Translates to LLVM IR and applies the target's conventions: only kernels
  /// stay visible, code object version.
  LogicalResult translate();

  /// Runs LLVM's optimisation pipeline.
  LogicalResult optimize();

  /// Prints the LLVM IR.
  void emitLLVM(llvm::raw_ostream &os);

  /// Assembly text: GCN, PTX or x86.
  FailureOr<SmallVector<char, 0>> emitAssembly();

  /// HSACO, cubin (PTX without `ptxas`) or a shared object. Code generation and
  /// linking are timed under `timing`.
  FailureOr<Image> emitObject(TimingScope &timing);

private:
  /// Runs LLVM's code generator.
  FailureOr<SmallVector<char, 0>> codegen(bool toObject);
  LogicalResult createTargetMachine();
  void setConventions();
  LogicalResult checkWorkgroups();
  LogicalResult verify();
  /// Runs `work`, a call into LLVM named `what` in messages, and reports what
  /// goes wrong in it.
  LogicalResult guarded(StringRef what, llvm::function_ref<void()> work);

  Operation *module;
  TargetSpec target;
  const CodegenOptions &options;
  /// Errors that LLVM's diagnostic handler has seen.
  unsigned numErrors = 0;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> llvmModule;
};

/// Registers the translations to LLVM IR that `ModuleToObject` needs for
/// `kind`.
void registerTargetTranslations(TargetKind kind, DialectRegistry &registry);

} // namespace mlir::iris

#endif // IRIS_TARGET_MODULETOOBJECT_H
