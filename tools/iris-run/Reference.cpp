// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reference.cpp - The program in the interpreter ---------------------===//
#include "Reference.h"

#include "compile/Compiler.h"

#include <cerrno>
#include <unistd.h>

using namespace iris;
using namespace iris::run;
using rt::StatusCode;

/// The path of iris-interpret.
static rt::Expected<std::string> findInterpreter() {
  rt::Expected<std::string> compiler = rt::findCompiler();
  if (!compiler.ok())
    return compiler.status().withContext(
        "--device=reference needs iris-interpret, which is next to the "
        "compiler");
  std::string path = *compiler;
  size_t slash = path.rfind('/');
  path = (slash == std::string::npos ? "" : path.substr(0, slash + 1)) +
         "iris-interpret";
  if (::access(path.c_str(), X_OK) != 0)
    return rt::makeErrnoStatus(StatusCode::unavailable, errno,
                               "--device=reference needs '%s', next to the "
                               "compiler, which cannot be run",
                               path.c_str());
  return path;
}

/// Whether the file is text in MLIR, by its name.
static bool isSource(const std::string &program) {
  constexpr size_t length = 5;
  return program.size() > length &&
         program.compare(program.size() - length, length, ".mlir") == 0;
}

rt::Status iris::run::runReference(const Options &options) {
  if (!isSource(options.program))
    return rt::makeStatus(StatusCode::invalidArgument,
                          "--device=reference executes the source of a "
                          "program; expected an .mlir file, not '%s'",
                          options.program.c_str());
  IRISRT_ASSIGN_OR_RETURN(std::string interpreter, findInterpreter());
  std::vector<std::string> words = {interpreter, "--caller=iris-run", "-n",
                                    std::to_string(options.numRanks)};
  if (options.scheduleSeed)
    words.push_back("--schedule-seed=" + std::to_string(*options.scheduleSeed));
  if (options.heapBytes != 0)
    words.push_back("--heap=" + std::to_string(options.heapBytes));
  words.insert(words.end(), {"--", options.program});
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(interpreter.c_str(), argv.data());
  return rt::makeErrnoStatus(StatusCode::unavailable, errno, "cannot run '%s'",
                             interpreter.c_str());
}
