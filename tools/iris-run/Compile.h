// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.h - Reads or compiles the program ----------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_RUN_COMPILE_H
#define IRIS_TOOLS_IRIS_RUN_COMPILE_H

#include "ChildProcess.h"
#include "Options.h"

#include <string>

namespace iris::run {

/// The bytes of the package: the file, or the compiler's output for an .mlir
/// file.
rt::Expected<std::string> obtainPackage(Supervisor &supervisor,
                                        const Options &options);

} // namespace iris::run

#endif // IRIS_TOOLS_IRIS_RUN_COMPILE_H
