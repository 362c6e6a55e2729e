// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// iris-compile as a child process: where it is, which build it is, and how it
// makes a package.  The runtime itself contains no compiler.
#ifndef IRIS_RT_COMPILE_COMPILER_H
#define IRIS_RT_COMPILE_COMPILER_H

#include "iris/rt/Status.h"

#include <chrono>
#include <string>
#include <vector>

namespace iris::rt {

/// The path of this executable, or "".
std::string selfPath();

/// The path of iris-compile: `configured`, else IRIS_COMPILE, else the one
/// beside this executable, beside this library (../bin), or on PATH.  One that
/// was named and cannot be run is an error, not a reason to look further.
Expected<std::string> findCompiler(const std::string &configured = "");

/// Tells builds of a compiler apart: a hash of its file.
Expected<std::string> compilerBuildId(const std::string &compiler);

/// What to compile for.
struct CompileOptions {
  std::string target;
  /// "stride", "table", "both", or "" for the default.
  std::string translation;
  /// Kernels tell about their time.
  bool trace = false;
  /// Kernels check their accesses; on the host.
  bool debug = false;
};

/// The command line that makes `compiler` write the package of the file
/// `source`
/// ("-": standard input) to its standard output.
std::vector<std::string> compileCommand(const std::string &compiler,
                                        const std::string &source,
                                        const CompileOptions &options);

/// The bytes of the package that `compiler` makes of a text.  The error has the
/// compiler's message.  No file is made for it.
Expected<std::string> compileText(const std::string &compiler,
                                  const std::string &text,
                                  const CompileOptions &options,
                                  std::chrono::milliseconds limit);

} // namespace iris::rt

#endif // IRIS_RT_COMPILE_COMPILER_H
