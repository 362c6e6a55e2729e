// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Driver.h - Compiles a source for all targets -------------*- C++ -*-===//
//
// Parses the source once. For each target and translation, lowers a clone,
// compiles its kernels, and collects the results.
#ifndef IRIS_TOOLS_IRIS_COMPILE_DRIVER_H
#define IRIS_TOOLS_IRIS_COMPILE_DRIVER_H

#include "iris/Target/ModuleToObject.h"
#include "iris/Target/TargetRegistry.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/Timing.h"
#include <string>

namespace mlir::iris {

/// The output format.
enum class EmitKind { MLIR, LLVM, Assembly, Object, Package };

inline bool isBinary(EmitKind kind) {
  return kind == EmitKind::Object || kind == EmitKind::Package;
}

/// iris-compile's options, after parsing.
struct DriverOptions {
  SmallVector<TargetSpec, 4> targets;
  /// "stride", "table", or both.
  SmallVector<std::string, 2> translations;
  EmitKind emit = EmitKind::Package;
  /// The last stage of the pipeline; empty: run all stages.
  std::string until;
  /// Keep iris.trace.
  bool trace = false;
  /// Accept ops that only some targets support.
  bool allowNonportable = false;
  /// Check remote and synchronizing accesses at run time; host only.
  bool debug = false;
  /// Warn of errors in the synchronization of ranks (iris-check-sync).
  bool checkSync = true;
  /// Check the post-conditions of the pipeline's stages.
  bool verifyStages = false;
  /// Guards against defects of MLIR and LLVM that are off.
  SmallVector<Guard, 4> disabledGuards;
  CodegenOptions codegen;
};

/// Compiles `source` and returns the output's bytes. Failures are reported as
/// diagnostics.
FailureOr<std::string> compile(ModuleOp source, const DriverOptions &options,
                               TimingScope &timing);

} // namespace mlir::iris

#endif // IRIS_TOOLS_IRIS_COMPILE_DRIVER_H
