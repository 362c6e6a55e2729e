// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row of the table of environment variables (Env::variables).
#ifndef IRIS_RT_ENVVARIABLE_H
#define IRIS_RT_ENVVARIABLE_H

#pragma GCC visibility push(default)

namespace iris::rt {

/// One variable of the environment, as `iris-run --help-env` prints it.
struct EnvVariable {
  /// The variable, such as "IRIS_LOG".
  const char *name;
  /// What the value may be, such as "seconds".
  const char *value;
  /// What holds without it.
  const char *defaultValue;
  /// What the variable does.
  const char *meaning;
  /// Names a file or a program: does not count in a process with more rights
  /// than its user.
  bool namesFile;
};

} // namespace iris::rt

#pragma GCC visibility pop

#endif // IRIS_RT_ENVVARIABLE_H
