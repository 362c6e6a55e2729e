// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/rt/Status.h"

#include <cstdarg>
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
  }
  return "unknown";
}

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

Status iris::rt::makeErrnoStatus(StatusCode code, int error, const char *format,
                                 ...) {
  va_list list;
  va_start(list, format);
  std::string text = formatList(format, list);
  va_end(list);
  // std::system_category is thread-safe, strerror is not.
  text += ": " + std::system_category().message(error);
  return Status(code, std::move(text));
}
