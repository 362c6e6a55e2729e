// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reference.h - The program in the interpreter -------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_RUN_REFERENCE_H
#define IRIS_TOOLS_IRIS_RUN_REFERENCE_H

#include "Options.h"

#include "core/UniqueFd.h"

namespace iris::run {

/// Becomes iris-interpret, which is next to iris-compile: it executes all ranks
/// and reports their checks as iris-run does. Returns only an error.
rt::Status runReference(const Options &options);

/// Files in memory for the buffers of each rank, after a check that the program
/// can be compared.
rt::Expected<std::vector<rt::UniqueFd>> prepareDumps(const Options &options);

/// Becomes iris-interpret, which executes all ranks and compares their buffers
/// with those in the files; it exits with status 1 if `exitStatus`, that of the
/// device's ranks, is not 0. Returns only an error.
rt::Status compareWithReference(const Options &options,
                                const std::vector<rt::UniqueFd> &dumps,
                                int exitStatus);

} // namespace iris::run

#endif // IRIS_TOOLS_IRIS_RUN_REFERENCE_H
