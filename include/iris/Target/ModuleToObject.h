// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compilation of a module in the LLVM dialect to machine code: HSACO, PTX,
// cubin or a shared object.
#ifndef IRIS_TARGET_MODULETOOBJECT_H
#define IRIS_TARGET_MODULETOOBJECT_H

#include "iris/Guards/Guards.h"
#include "iris/Target/TargetRegistry.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringMap.h"
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

/// Options of code generation.
struct CodegenOptions {
  /// Optimization level, 0 to 3, as of a C compiler.
  unsigned optLevel = 3;
  /// AMDGPU code object version: 5, which HIP 5 to 7 load, or 6.
  unsigned codeObjectVersion = 5;
  /// NVPTX: the path of `ptxas`, which assembles PTX to a cubin; if empty, the
  /// image is PTX.
  std::string ptxas;
  /// Whether the machine code has line tables: DWARF, or `.loc` in PTX. The
  /// instructions are the same with and without them.
  bool lineTables = true;
  /// Whether values and blocks keep their names, which LLVM IR and comments in
  /// assembly show; they cost time.
  bool keepValueNames = false;
  /// The defects of LLVM to work around.
  GuardSet guards = GuardSet::needed();
};

/// Machine code in the form that a driver loads.
struct Image {
  llvm::object::ImageKind kind = llvm::object::IMG_None;
  SmallVector<char, 0> bytes;
};

class SpillSearch;

/// Compiles the modules of a program for one target, to one image. Use:
/// `translate`, then `optimize`, then one of the `emit` functions, once (code
/// generation consumes the LLVM module).
///
/// Every failure is a diagnostic, at the kernel's location if LLVM reports the
/// kernel, otherwise at the first module's. Fatal errors of LLVM's backends
/// become diagnostics too. Their handler is global to the process, so only one
/// thread at a time may execute these functions.
class ModuleToObject {
public:
  /// `modules`, at least one, are `gpu.module`s, or a top-level module with a
  /// host program, in the LLVM dialect.
  ModuleToObject(ArrayRef<Operation *> modules, const TargetSpec &target,
                 const CodegenOptions &options);
  ~ModuleToObject();

  /// Translates to LLVM IR and applies the target's conventions: the symbols
  /// and the visibility of kernels, and the code object version.
  LogicalResult translate();

  /// Runs LLVM's optimization pipeline.
  LogicalResult optimize();

  /// Prints the LLVM IR.
  void emitLLVM(llvm::raw_ostream &os);

  /// Assembly text: GCN, PTX or x86.
  FailureOr<SmallVector<char, 0>> emitAssembly();

  /// HSACO, cubin (PTX without `ptxas`) or a shared object. Code generation and
  /// linking are timed under `timing`.
  FailureOr<Image> emitObject(TimingScope &timing);

private:
  LogicalResult createTargetMachine();
  LogicalResult collectKernels();
  FailureOr<std::unique_ptr<llvm::Module>> translate(Operation *module);
  void nameSymbols(Operation *module, llvm::Module &translated);
  void setConventions(llvm::Module &translated);
  LogicalResult checkWorkgroups();
  /// Runs LLVM's code generator; for AMD GPUs again where kernels spill.
  FailureOr<SmallVector<char, 0>> codegen(bool toObject);
  FailureOr<SmallVector<char, 0>> generate(llvm::Module &input, bool toObject,
                                           SpillSearch *search);
  /// Runs `work`, a call into LLVM named `what` in messages, and reports its
  /// errors.
  LogicalResult guarded(StringRef what, llvm::function_ref<void()> work);

  SmallVector<Operation *, 2> modules;
  Location loc;
  TargetSpec target;
  const CodegenOptions &options;
  /// The functions that the image exports, by symbol.
  llvm::StringMap<Operation *> kernels;
  /// Number of errors that LLVM's diagnostic handler has received.
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
