// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compiler.h - iris-compile as a child process -------------*- C++ -*-===//
//
// Locates iris-compile, identifies its build, and runs it to compile packages.
// The runtime itself contains no compiler.
#ifndef IRIS_RT_COMPILE_COMPILER_H
#define IRIS_RT_COMPILE_COMPILER_H

#include "iris/rt/Status.h"

#include <chrono>
#include <string>
#include <vector>

namespace iris::rt {

/// The path of this executable, or "".
std::string selfPath();

/// Whether a file can be executed.
bool isProgram(const std::string &path);

/// The path of a program of Iris: next to this executable, next to this library
/// (../bin), or on PATH; or "".
std::string findTool(const std::string &name);

/// The path of iris-compile: `configured`, else IRIS_COMPILE, else findTool. If
/// a configured compiler cannot be run, that is an error.
Expected<std::string> findCompiler(const std::string &configured = "");

/// Identifies the build of a compiler by a hash of its file.
Expected<std::string> compilerBuildId(const std::string &compiler);

/// The target and options of a compilation.
struct CompileOptions {
  std::string target;
  /// "stride", "table", "both", or "" for the default.
  std::string translation;
  /// Kernels record traces.
  bool trace = false;
  /// Kernels check their accesses; host only.
  bool debug = false;
  /// The machine code has line tables.
  bool lineTables = true;
};

/// The command line with which `compiler` compiles the file `source` ("-":
/// standard input) and writes the package to standard output.
std::vector<std::string> compileCommand(const std::string &compiler,
                                        const std::string &source,
                                        const CompileOptions &options);

/// Compiles a text and returns the bytes of the package. The error includes the
/// compiler's messages. Creates no named file.
Expected<std::string> compileText(const std::string &compiler,
                                  const std::string &text,
                                  const CompileOptions &options,
                                  std::chrono::milliseconds limit);

} // namespace iris::rt

#endif // IRIS_RT_COMPILE_COMPILER_H
