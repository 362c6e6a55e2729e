// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gets the bytes of the package to run, with the compiler's help if need be.
#ifndef IRIS_TOOLS_IRIS_RUN_COMPILE_H
#define IRIS_TOOLS_IRIS_RUN_COMPILE_H

#include "ChildProcess.h"
#include "Options.h"

#include <string>

namespace iris::run {

/// The package: the file itself, or what the compiler makes of an .mlir file.
rt::Expected<std::string> obtainPackage(Supervisor &supervisor,
                                        const Options &options);

} // namespace iris::run

#endif // IRIS_TOOLS_IRIS_RUN_COMPILE_H
