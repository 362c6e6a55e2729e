// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Interpreter.cpp - iris-interpret as a child process ----------------===//
#include "compile/Interpreter.h"

#include "compile/Compiler.h"

#include <cerrno>
#include <string_view>
#include <unistd.h>

using namespace iris::rt;

Expected<std::string> iris::rt::findInterpreter(const std::string &user) {
  Expected<std::string> compiler = findCompiler();
  if (!compiler.ok())
    return compiler.status().withContext(
        user + " needs iris-interpret, which is next to the compiler");
  const size_t slash = compiler->rfind('/');
  std::string path =
      (slash == std::string::npos ? "" : compiler->substr(0, slash + 1)) +
      "iris-interpret";
  if (::access(path.c_str(), X_OK) != 0)
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "%s needs '%s', next to the compiler, which cannot "
                           "be run",
                           user.c_str(), path.c_str());
  return path;
}

static bool endsWith(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() &&
         text.substr(text.size() - ending.size()) == ending;
}

Status iris::rt::checkIsSource(const std::string &path,
                               const std::string &user) {
  if (endsWith(path, ".mlir"))
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "%s executes the source of a program; expected an .mlir "
                    "file, not '%s'",
                    user.c_str(), path.c_str());
}

Status iris::rt::validate(const CheckOptions &options) {
  auto asNumber = [](const std::optional<uint64_t> &value) {
    return static_cast<unsigned long long>(*value);
  };
  if (options.exhaust && (options.numSchedules || options.scheduleSeed))
    return makeStatus(StatusCode::invalidArgument,
                      "--exhaust executes all orders; expected no --schedules "
                      "and no --schedule-seed");
  if (options.maxExecutions && (!options.exhaust || *options.maxExecutions < 1))
    return makeStatus(StatusCode::invalidArgument,
                      "--max-executions=%llu; expected 1 or more, and "
                      "--exhaust",
                      asNumber(options.maxExecutions));
  if (!options.replay.empty() &&
      (options.exhaust || options.numSchedules || options.scheduleSeed ||
       options.resident || !options.saveSchedule.empty()))
    return makeStatus(StatusCode::invalidArgument,
                      "--replay repeats the order of a file; expected no "
                      "--exhaust, --schedules, --schedule-seed, --resident and "
                      "--save-schedule");
  if (!options.draw.empty() && !endsWith(options.draw, ".svg") &&
      !endsWith(options.draw, ".json"))
    return makeStatus(StatusCode::invalidArgument,
                      "--draw=%s; expected FILE.svg or FILE.json",
                      options.draw.c_str());
  if (options.numSchedules &&
      (*options.numSchedules < 1 || *options.numSchedules > 1000000))
    return makeStatus(StatusCode::invalidArgument,
                      "--schedules=%llu; expected 1 to 1000000",
                      asNumber(options.numSchedules));
  if (options.resident && *options.resident < 1)
    return makeStatus(StatusCode::invalidArgument,
                      "--resident=%llu; expected 1 or more",
                      asNumber(options.resident));
  return Status::success();
}

std::vector<std::string>
iris::rt::interpreterCommand(const std::string &interpreter,
                             const std::string &caller,
                             const CheckOptions &options) {
  std::vector<std::string> words = {interpreter, "--caller=" + caller, "-n",
                                    std::to_string(options.numRanks)};
  auto addNumber = [&](const char *option,
                       const std::optional<uint64_t> &value) {
    if (value)
      words.push_back(option + std::to_string(*value));
  };
  auto addFile = [&](const char *option, const std::string &path) {
    if (!path.empty())
      words.push_back(option + path);
  };
  if (options.heapBytes != 0)
    words.push_back("--heap=" + std::to_string(options.heapBytes));
  addNumber("--schedule-seed=", options.scheduleSeed);
  addNumber("--schedules=", options.numSchedules);
  if (options.exhaust)
    words.push_back("--exhaust");
  addNumber("--max-executions=", options.maxExecutions);
  addNumber("--resident=", options.resident);
  addFile("--replay=", options.replay);
  addFile("--save-schedule=", options.saveSchedule);
  addFile("--draw=", options.draw);
  return words;
}
