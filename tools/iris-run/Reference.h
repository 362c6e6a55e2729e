// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reference.h - The program in the interpreter -------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_RUN_REFERENCE_H
#define IRIS_TOOLS_IRIS_RUN_REFERENCE_H

#include "Options.h"

namespace iris::run {

/// Becomes iris-interpret, which is next to iris-compile: it executes all ranks
/// and reports their checks as iris-run does. Returns only an error.
rt::Status runReference(const Options &options);

} // namespace iris::run

#endif // IRIS_TOOLS_IRIS_RUN_REFERENCE_H
