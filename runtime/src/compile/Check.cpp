// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Check.cpp - Looks for races and deadlocks of a program -------------===//
#include "iris/rt/Check.h"

#include "compile/Interpreter.h"
#include "compile/RunProcess.h"

using namespace iris::rt;

/// Without the line break at its end.
static std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

Expected<CheckReport> iris::rt::checkProgram(const std::string &path,
                                             const CheckOptions &options) {
  IRISRT_RETURN_IF_ERROR(checkIsSource(path, "checkProgram"));
  IRISRT_RETURN_IF_ERROR(validate(options));
  IRISRT_ASSIGN_OR_RETURN(std::string interpreter,
                          findInterpreter("checkProgram"));
  std::vector<std::string> words =
      interpreterCommand(interpreter, "checkProgram", options);
  words.insert(words.end(), {"--check", "--", path});
  ProcessOptions process;
  process.limit = options.limit;
  process.name = "the check of '" + path + "'";
  ProcessOutput output;
  Status status = runProcess(words, "", output, process);
  if (!status.ok())
    return output.messages.empty()
               ? status
               : Status(status.code(),
                        status.message() + ":\n" + trimmed(output.messages));
  CheckReport report;
  report.summary = trimmed(output.standard);
  report.isComplete = report.summary.find("in any order") != std::string::npos;
  return report;
}
