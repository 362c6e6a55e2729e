// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a process logs of its launches (IRIS_LOG=debug).
#ifndef IRIS_TEST_RUNTIME_NCCL_LAUNCHLOG_H
#define IRIS_TEST_RUNTIME_NCCL_LAUNCHLOG_H

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <unistd.h>

namespace iris::rt::test {

/// What the process writes to standard error.
class StandardError {
public:
  StandardError() : file_(std::tmpfile()) {
    ::dup2(::fileno(file_), STDERR_FILENO);
  }
  ~StandardError() { std::fclose(file_); }
  StandardError(const StandardError &) = delete;

  std::string text() const {
    std::fflush(stderr);
    std::rewind(file_);
    std::string text;
    for (int c; (c = std::fgetc(file_)) != EOF;)
      text += static_cast<char>(c);
    return text;
  }

private:
  std::FILE *file_;
};

/// The most programs of the launches in a log.
inline int mostPrograms(const std::string &log) {
  int most = 0;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const size_t end = line.find(" x 1 x 1 programs");
    if (end != std::string::npos)
      most = std::max(most, std::atoi(line.c_str() + line.rfind(' ', end - 1)));
  }
  return most;
}

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_NCCL_LAUNCHLOG_H
