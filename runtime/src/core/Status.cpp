// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Status.cpp - Status and its messages -------------------------------===//
#include "iris/rt/Status.h"

#include <algorithm>
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
  }
  return "unknown";
}

//===----------------------------------------------------------------------===//
// Untrusted text
//===----------------------------------------------------------------------===//

/// The length of the printable UTF-8 character at `at`; 0 for a control
/// character or invalid UTF-8.
static size_t printableBytes(std::string_view text, size_t at) {
  auto byte = [&](size_t offset) {
    return at + offset < text.size()
               ? static_cast<unsigned char>(text[at + offset])
               : 0u;
  };
  auto continues = [&](size_t offset) { return (byte(offset) & 0xc0) == 0x80; };
  unsigned first = byte(0);
  if (first == '\n' || first == '\t' || (first >= 0x20 && first < 0x7f))
    return 1;
  // U+0080 to U+009F are control characters, too.
  if (first >= 0xc2 && first < 0xe0)
    return continues(1) && (first != 0xc2 || byte(1) >= 0xa0) ? 2 : 0;
  // No overlong forms, no surrogates, nothing beyond U+10FFFF.
  if (first >= 0xe0 && first < 0xf0)
    return continues(1) && continues(2) && (first != 0xe0 || byte(1) >= 0xa0) &&
                   (first != 0xed || byte(1) < 0xa0)
               ? 3
               : 0;
  if (first >= 0xf0 && first < 0xf5)
    return continues(1) && continues(2) && continues(3) &&
                   (first != 0xf0 || byte(1) >= 0x90) &&
                   (first != 0xf4 || byte(1) < 0x90)
               ? 4
               : 0;
  return 0;
}

std::string iris::rt::escapeControls(std::string text) {
  size_t at = 0, length = 0;
  while (at < text.size() && (length = printableBytes(text, at)) != 0)
    at += length;
  if (at == text.size())
    return text;
  std::string result = text.substr(0, at);
  while (at < text.size()) {
    length = printableBytes(text, at);
    if (length == 0)
      result += formatString("\\x%02x", static_cast<unsigned char>(text[at]));
    else
      result += text.substr(at, length);
    at += std::max<size_t>(length, 1);
  }
  return result;
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
