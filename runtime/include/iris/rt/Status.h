// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Status and Expected<T>: how every function of the runtime reports failure.
// Nothing throws, nothing exits; a message says what was found and what was
// expected, starts in lower case and has no final period.
#ifndef IRIS_RT_STATUS_H
#define IRIS_RT_STATUS_H

#include "iris-c/RuntimeABI.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#pragma GCC visibility push(default)
namespace iris::rt {

/// What kind of failure a Status stands for.  The values are those of the
/// C API.
enum class StatusCode : int32_t {
  ok = IRISRT_OK,
  /// The caller passed something that can never be right.
  invalidArgument = IRISRT_INVALID_ARGUMENT,
  /// Right in itself, but not in this state (a failed world, ranks that
  /// differ).
  failedPrecondition = IRISRT_FAILED_PRECONDITION,
  /// Missing here: no device, no driver, a feature the device lacks.
  unavailable = IRISRT_UNAVAILABLE,
  outOfMemory = IRISRT_OUT_OF_MEMORY,
  /// Something did not happen in time.
  timeout = IRISRT_TIMEOUT,
  /// Another rank failed or went away.
  aborted = IRISRT_ABORTED,
  /// The system or a driver failed in an unforeseen way, or a bug of ours.
  internal = IRISRT_INTERNAL,
};

/// The name of a code, as printed before messages: "invalid argument".
std::string_view statusCodeName(StatusCode code);

/// Success, or a code with a message.
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  /// `message` goes through escapeControls: it may quote an environment
  /// variable, a file or a peer, and end in a terminal or a log.
  Status(StatusCode code, std::string message);

  /// Success, spelled out.
  static Status success() { return {}; }

  bool ok() const { return code_ == StatusCode::ok; }
  explicit operator bool() const = delete;
  StatusCode code() const { return code_; }
  const std::string &message() const { return message_; }
  /// "timeout: rank 2 did not join within 5 s", or "ok".
  std::string toString() const;

  /// The same failure with `context` and ": " before its message.
  Status withContext(std::string_view context) const;

  /// Says that a failure is deliberately dropped; `why` is for the reader.
  void ignore([[maybe_unused]] const char *why) const {}

private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

/// Makes a failure from a printf-like format.
Status makeStatus(StatusCode code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Makes a failure that ends with the text of the errno value `error`.
Status makeErrnoStatus(StatusCode code, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// The text with every control character but newline and tab, and every byte
/// that is not UTF-8, as "\x1b": printing it cannot steer a terminal.
std::string escapeControls(std::string text);

/// printf into a std::string.
std::string formatString(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/// A T, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : value_(std::move(value)) {}
  /// `status` must be a failure; success without a value becomes an internal
  /// error, so that a mistake here can never look like a value.
  Expected(Status status) : status_(std::move(status)) {
    if (status_.ok())
      status_ = Status(StatusCode::internal, "success without a value");
  }

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const = delete;
  const Status &status() const { return status_; }

  /// The value; only after ok().
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }
  /// Moves the value out; only after ok().
  T take() { return std::move(*value_); }

private:
  std::optional<T> value_;
  Status status_;
};

} // namespace iris::rt
#pragma GCC visibility pop

/// Returns from the function when `expr`, a Status, is a failure.
#define IRISRT_RETURN_IF_ERROR(expr)                                           \
  do {                                                                         \
    ::iris::rt::Status irisrtStatus_ = (expr);                                 \
    if (!irisrtStatus_.ok())                                                   \
      return irisrtStatus_;                                                    \
  } while (false)

#define IRISRT_CONCAT_IMPL(a, b) a##b
#define IRISRT_CONCAT(a, b) IRISRT_CONCAT_IMPL(a, b)

/// `lhs` = the value of `expr`, an Expected; returns its Status if it has none.
#define IRISRT_ASSIGN_OR_RETURN(lhs, expr)                                     \
  IRISRT_ASSIGN_OR_RETURN_IMPL(IRISRT_CONCAT(irisrtExpected_, __LINE__), lhs,  \
                               expr)
#define IRISRT_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr)                           \
  auto tmp = (expr);                                                           \
  if (!tmp.ok())                                                               \
    return tmp.status();                                                       \
  lhs = tmp.take()

#endif // IRIS_RT_STATUS_H
