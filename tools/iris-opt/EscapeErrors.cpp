// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EscapeErrors.cpp - Standard error without control characters -------===//
//
// The `write` of an executable comes before libc's, also for the calls of
// libLLVM. A pipe to a process or thread that escapes would be no alternative:
// errors would no longer appear in order with standard output.
//
//===----------------------------------------------------------------------===//

#include "EscapeErrors.h"

#include "iris/Text/EscapeControls.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

static bool isEscaping = false;

static ssize_t writeAsIs(int fd, const void *data, size_t size) {
  return ::syscall(SYS_write, fd, data, size);
}

/// Writes all of `text`; false, and errno, if that is not possible.
static bool writeAll(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = writeAsIs(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN)
      return false;
    text.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
  }
  return true;
}

extern "C" ssize_t write(int fd, const void *data, size_t size) {
  if (fd != STDERR_FILENO || !isEscaping)
    return writeAsIs(fd, data, size);
  std::string text(static_cast<const char *>(data), size);
  return writeAll(fd, iristext::escapeControls(std::move(text)))
             ? static_cast<ssize_t>(size)
             : -1;
}

void mlir::iris::escapeErrors() {
  llvm::errs().enable_colors(false);
  isEscaping = true;
}
