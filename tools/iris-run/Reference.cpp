// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reference.cpp - The program in the interpreter ---------------------===//
#include "Reference.h"

#include "compile/Compiler.h"
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

/// The path of iris-interpret.
static rt::Expected<std::string> findInterpreter(const Options &options) {
  rt::Expected<std::string> compiler = rt::findCompiler();
  if (!compiler.ok())
    return compiler.status().withContext(
        std::string(optionOf(options)) +
        " needs iris-interpret, which is next to the compiler");
  std::string path = *compiler;
  size_t slash = path.rfind('/');
  path = (slash == std::string::npos ? "" : path.substr(0, slash + 1)) +
         "iris-interpret";
  if (::access(path.c_str(), X_OK) != 0)
    return rt::makeErrnoStatus(StatusCode::unavailable, errno,
                               "%s needs '%s', next to the compiler, which "
                               "cannot be run",
                               optionOf(options), path.c_str());
  return path;
}

/// Whether the file is text in MLIR, by its name.
static bool isSource(const std::string &program) {
  constexpr size_t length = 5;
  return program.size() > length &&
         program.compare(program.size() - length, length, ".mlir") == 0;
}

/// Becomes iris-interpret, with more options.
static rt::Status becomeInterpreter(const Options &options,
                                    const std::vector<std::string> &more) {
  IRISRT_ASSIGN_OR_RETURN(std::string interpreter, findInterpreter(options));
  std::vector<std::string> words = {interpreter, "--caller=iris-run", "-n",
                                    std::to_string(options.numRanks)};
  if (options.scheduleSeed)
    words.push_back("--schedule-seed=" + std::to_string(*options.scheduleSeed));
  if (options.heapBytes != 0)
    words.push_back("--heap=" + std::to_string(options.heapBytes));
  if (options.check)
    words.push_back("--check");
  auto addNumber = [&](const char *option,
                       const std::optional<uint64_t> &value) {
    if (value)
      words.push_back(option + std::to_string(*value));
  };
  auto addFile = [&](const char *option, const std::string &path) {
    if (!path.empty())
      words.push_back(option + path);
  };
  addNumber("--schedules=", options.numSchedules);
  if (options.exhaust)
    words.push_back("--exhaust");
  addNumber("--max-executions=", options.maxExecutions);
  addNumber("--resident=", options.resident);
  addFile("--replay=", options.replay);
  addFile("--save-schedule=", options.saveSchedule);
  addFile("--draw=", options.draw);
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

static rt::Status checkSource(const Options &options) {
  if (isSource(options.program))
    return {};
  return rt::makeStatus(StatusCode::invalidArgument,
                        "%s executes the source of a program; expected an "
                        ".mlir file, not '%s'",
                        optionOf(options), options.program.c_str());
}

rt::Status iris::run::runReference(const Options &options) {
  IRISRT_RETURN_IF_ERROR(checkSource(options));
  return becomeInterpreter(options, {});
}

rt::Expected<std::vector<rt::UniqueFd>>
iris::run::prepareDumps(const Options &options) {
  IRISRT_RETURN_IF_ERROR(checkSource(options));
  IRISRT_RETURN_IF_ERROR(findInterpreter(options).status());
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
