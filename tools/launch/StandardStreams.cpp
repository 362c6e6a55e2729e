// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StandardStreams.cpp - Standard input, output and error of a tool ---===//
#include "StandardStreams.h"

#include "iris/rt/Status.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace iris;

void iris::run::prepareStandardStreams() {
  ::signal(SIGXFSZ, SIG_IGN); // inherited by children
  // In this order each open returns the missing descriptor, which is the
  // lowest.
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      // Reads of this input and writes of this output fail.
      (void)!::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  // Help texts are longer than the default buffer; if a write before the last
  // one fails, finishStandardOutput does not know why.
  static char buffer[1 << 16];
  if (::isatty(STDOUT_FILENO) == 0)
    (void)std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
}

int iris::run::finishStandardOutput(const char *tool, int exitStatus) {
  // ferror also reports an earlier flush that failed.
  bool failed = std::ferror(stdout) != 0;
  errno = 0;
  failed = std::fflush(stdout) != 0 || failed;
  if (!failed)
    return exitStatus;
  rt::Status status =
      errno != 0 ? rt::makeErrnoStatus(rt::StatusCode::unavailable, errno,
                                       "cannot write to standard output")
                 : rt::makeStatus(rt::StatusCode::unavailable,
                                  "cannot write to standard output");
  std::fprintf(stderr, "%s: %s\n", tool, status.message().c_str());
  return exitStatus != 0 ? exitStatus : 1;
}
