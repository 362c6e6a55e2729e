// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Interpreter.h - iris-interpret as a child process --------*- C++ -*-===//
#ifndef IRIS_RT_COMPILE_INTERPRETER_H
#define IRIS_RT_COMPILE_INTERPRETER_H

#include "iris/rt/Check.h"
#include "iris/rt/Status.h"

#include <string>
#include <vector>

namespace iris::rt {

/// The path of iris-interpret, next to the compiler. `user` is what needs it,
/// for errors.
Expected<std::string> findInterpreter(const std::string &user);

/// Whether the file is text in MLIR, by its name; an error that says so if not.
Status checkIsSource(const std::string &path, const std::string &user);

/// Whether the options fit each other; an error that names those that do not,
/// as iris-run does.
Status validate(const CheckOptions &options);

/// The words of iris-interpret's command line before the program: the path,
/// `caller`, which reports name, and how to execute.
std::vector<std::string> interpreterCommand(const std::string &interpreter,
                                            const std::string &caller,
                                            const CheckOptions &options);

} // namespace iris::rt

#endif // IRIS_RT_COMPILE_INTERPRETER_H
