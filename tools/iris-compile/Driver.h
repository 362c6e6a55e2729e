// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What iris-compile does with its options: parse once, then for each target and
// translation lower a clone, compile its kernels, and collect the results.
#ifndef IRIS_TOOLS_IRIS_COMPILE_DRIVER_H
#define IRIS_TOOLS_IRIS_COMPILE_DRIVER_H

#include "iris/Target/ModuleToObject.h"
#include "iris/Target/TargetRegistry.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/Timing.h"
#include <string>

namespace mlir::iris {

/// What comes out.
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
  /// Stage to stop the pipeline after; empty: run all of it.
  std::string until;
  /// Keep iris.trace.
  bool trace = false;
  /// Accept ops that only some targets compile.
  bool allowNonportable = false;
  /// Check remote and synchronising accesses as the kernel runs; host only.
  bool debug = false;
  CodegenOptions codegen;
};

/// Compiles `source` and returns the output's bytes. Failures have been
/// reported as diagnostics.
FailureOr<std::string> compile(ModuleOp source, const DriverOptions &options,
                               TimingScope &timing);

} // namespace mlir::iris

#endif // IRIS_TOOLS_IRIS_COMPILE_DRIVER_H
