// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reference.cpp - The program in the interpreter ---------------------===//
#include "Reference.h"

#include "compile/Interpreter.h"
#include "core/Files.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace iris;
using namespace iris::run;
using rt::StatusCode;

static const char *optionOf(const Options &options) {
  return options.check     ? "--check"
         : options.compare ? "--compare=reference"
                           : "--device=reference";
}

/// Becomes iris-interpret, with more options.
static rt::Status becomeInterpreter(const Options &options,
                                    const std::vector<std::string> &more) {
  IRISRT_ASSIGN_OR_RETURN(std::string interpreter,
                          rt::findInterpreter(optionOf(options)));
  rt::CheckOptions how = options.interpreter;
  how.numRanks = options.numRanks;
  how.heapBytes = options.heapBytes;
  std::vector<std::string> words =
      rt::interpreterCommand(interpreter, "iris-run", how);
  if (options.check)
    words.push_back("--check");
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--", options.program});
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(interpreter.c_str(), argv.data());
  return rt::makeErrnoStatus(StatusCode::unavailable, errno, "cannot run '%s'",
                             interpreter.c_str());
}

rt::Status iris::run::runReference(const Options &options) {
  IRISRT_RETURN_IF_ERROR(rt::checkIsSource(options.program, optionOf(options)));
  return becomeInterpreter(options, {});
}

rt::Expected<std::vector<rt::UniqueFd>>
iris::run::prepareDumps(const Options &options) {
  IRISRT_RETURN_IF_ERROR(rt::checkIsSource(options.program, optionOf(options)));
  IRISRT_RETURN_IF_ERROR(rt::findInterpreter(optionOf(options)).status());
  std::vector<rt::UniqueFd> dumps;
  for (uint32_t rank = 0; rank < options.numRanks; ++rank) {
    IRISRT_ASSIGN_OR_RETURN(rt::UniqueFd dump,
                            rt::makeMemoryFile("iris-buffers", ""));
    dumps.push_back(std::move(dump));
  }
  return dumps;
}

rt::Status
iris::run::compareWithReference(const Options &options,
                                const std::vector<rt::UniqueFd> &dumps,
                                int exitStatus) {
  std::string files;
  for (const rt::UniqueFd &dump : dumps) {
    ::fcntl(dump.get(), F_SETFD, 0); // iris-interpret inherits it
    files += (files.empty() ? "" : ",") + std::to_string(dump.get());
  }
  std::vector<std::string> words = {"--compare-fds=" + files,
                                    "--compare-device=" +
                                        rt::deviceName(options.device)};
  if (!options.tolerances.empty())
    words.push_back("--tolerance=" + options.tolerances);
  if (exitStatus != 0)
    words.push_back("--device-failed");
  return becomeInterpreter(options, words);
}
