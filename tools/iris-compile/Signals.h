// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Signals.h - Cleanup on signals ---------------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_COMPILE_SIGNALS_H
#define IRIS_TOOLS_IRIS_COMPILE_SIGNALS_H

namespace mlir::iris {

/// Makes a signal that ends this process first remove its temporary
/// directories. Call before any use of LLVM, whose handlers remove files and
/// then call these.
void cleanUpOnSignals();

} // namespace mlir::iris

#endif // IRIS_TOOLS_IRIS_COMPILE_SIGNALS_H
