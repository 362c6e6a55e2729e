// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Status.cpp - Status and its messages -------------------------------===//
#include "iris/rt/Status.h"

#include "iris/Text/EscapeControls.h"

#include <cerrno>
#include <cstdarg>
#include <sys/resource.h>
#include <system_error>

using namespace iris::rt;

std::string_view iris::rt::statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::ok:
    return "ok";
  case StatusCode::invalidArgument:
    return "invalid argument";
  case StatusCode::failedPrecondition:
    return "failed precondition";
  case StatusCode::unavailable:
    return "unavailable";
  case StatusCode::outOfMemory:
    return "out of memory";
  case StatusCode::timeout:
    return "timeout";
  case StatusCode::aborted:
    return "aborted";
  case StatusCode::internal:
    return "internal error";
  case StatusCode::deviceError:
    return "device error";
  }
  return "unknown";
}

std::string iris::rt::escapeControls(std::string text) {
  return iristext::escapeControls(std::move(text));
}

//===----------------------------------------------------------------------===//
// Status
//===----------------------------------------------------------------------===//

Status::Status(StatusCode code, std::string message)
    : code_(code), message_(escapeControls(std::move(message))) {}

std::string Status::toString() const {
  if (ok())
    return "ok";
  return std::string(statusCodeName(code_)) + ": " + message_;
}

Status Status::withContext(std::string_view context) const {
  if (ok())
    return *this;
  return Status(code_, std::string(context) + ": " + message_);
}

static std::string formatList(const char *format, va_list list) {
  va_list copy;
  va_copy(copy, list);
  int length = std::vsnprintf(nullptr, 0, format, copy);
  va_end(copy);
  if (length <= 0)
    return {};
  std::string text(static_cast<size_t>(length), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, list);
  return text;
}

std::string iris::rt::formatString(const char *format, ...) {
  va_list list;
  va_start(list, format);
  std::string text = formatList(format, list);
  va_end(list);
  return text;
}

Status iris::rt::makeStatus(StatusCode code, const char *format, ...) {
  va_list list;
  va_start(list, format);
  std::string text = formatList(format, list);
  va_end(list);
  return Status(code, std::move(text));
}

/// Advice for an error, if the system's message gives none.
static std::string adviceFor(int error) {
  if (error == EMFILE) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return formatString(" (this process may open %llu; raise the limit with "
                        "ulimit -n)",
                        static_cast<unsigned long long>(limit.rlim_cur));
  }
  if (error == EFBIG)
    return " (the limit on file sizes applies to shared memory, too; raise it "
           "with ulimit -f)";
  return "";
}

Status iris::rt::makeErrnoStatus(StatusCode code, int error, const char *format,
                                 ...) {
  va_list list;
  va_start(list, format);
  std::string text = formatList(format, list);
  va_end(list);
  // std::system_category is thread-safe, strerror is not.
  text += ": " + std::system_category().message(error) + adviceFor(error);
  return Status(code, std::move(text));
}
