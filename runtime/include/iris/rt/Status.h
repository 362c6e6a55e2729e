// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Status.h - Status and Expected<T> ------------------------*- C++ -*-===//
//
// Every function of the runtime reports failure through them. Nothing throws or
// exits. A message says what was found and what was expected, starts in lower
// case and has no final period.
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

/// The kind of a failure. The values are those of the C API.
enum class StatusCode : int32_t {
  /// Success.
  ok = IRISRT_OK,
  /// The caller passed an argument that is never valid.
  invalidArgument = IRISRT_INVALID_ARGUMENT,
  /// The call is valid, but not in this state (a failed world, ranks that
  /// differ).
  failedPrecondition = IRISRT_FAILED_PRECONDITION,
  /// Not available here: no device, no driver, a feature the device lacks.
  unavailable = IRISRT_UNAVAILABLE,
  /// The symmetric heap or the device's memory is full.
  outOfMemory = IRISRT_OUT_OF_MEMORY,
  /// A time limit expired.
  timeout = IRISRT_TIMEOUT,
  /// Another rank failed or ended.
  aborted = IRISRT_ABORTED,
  /// An unexpected failure of the system, or a bug in Iris.
  internal = IRISRT_INTERNAL,
  /// The device failed: a call of its driver, or a kernel, by a fault or a
  /// trap. It may accept no work any more.
  deviceError = IRISRT_DEVICE_ERROR,
};

/// Names a code.
/// \param code the code
/// \return the name, as printed before messages: "invalid argument"
std::string_view statusCodeName(StatusCode code);

/// Success, or a code with a message.
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  /// A failure. Escapes control characters in the message: it may quote an
  /// environment variable, a file or a peer, and be printed to a terminal or a
  /// log.
  /// \param code the kind of failure
  /// \param message what was found and what was expected
  Status(StatusCode code, std::string message);

  /// Success.
  static Status success() { return {}; }

  /// \return whether this is success. There is no conversion to bool
  bool ok() const { return code_ == StatusCode::ok; }
  explicit operator bool() const = delete;
  /// \return the kind of failure
  StatusCode code() const { return code_; }
  /// \return the message; "" for success
  const std::string &message() const { return message_; }
  /// \return "timeout: rank 2 did not join within 5 s", or "ok"
  std::string toString() const;

  /// Makes the same failure with a longer message.
  /// \param context is prepended to the message, with ": "
  Status withContext(std::string_view context) const;

  /// Marks a failure as deliberately ignored.
  /// \param why the reason, for readers
  void ignore([[maybe_unused]] const char *why) const {}

private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

/// Makes a failure from a printf-like format.
/// \param code the kind of failure
/// \param format the message, with printf's directives for the other arguments
Status makeStatus(StatusCode code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Makes a failure that ends with the text of an errno value.
/// \param code the kind of failure
/// \param error the errno value
/// \param format the message, with printf's directives for the other arguments
Status makeErrnoStatus(StatusCode code, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Replaces every control character except newline and tab, and every byte that
/// is not UTF-8, by an escape such as "\x1b", so that printing the text cannot
/// control a terminal.
/// \param text any bytes
/// \return printable UTF-8
std::string escapeControls(std::string text);

/// Prints into a std::string.
/// \param format printf's format for the other arguments
/// \return the text
std::string formatString(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/// A T, or the Status that explains its absence.
template <typename T>
class [[nodiscard]] Expected {
public:
  /// Success.
  /// \param value the value
  Expected(T value) : value_(std::move(value)) {}
  /// A failure.
  /// \param status why there is no value; success becomes an internal error
  Expected(Status status) : status_(std::move(status)) {
    if (status_.ok())
      status_ = Status(StatusCode::internal, "success without a value");
  }

  /// \return whether there is a value. There is no conversion to bool
  bool ok() const { return value_.has_value(); }
  explicit operator bool() const = delete;
  /// \return why there is no value; success if there is one
  const Status &status() const { return status_; }

  /// The value; requires ok().
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }
  /// Moves the value out; requires ok().
  /// \return the value
  T take() { return std::move(*value_); }

private:
  std::optional<T> value_;
  Status status_;
};

} // namespace iris::rt
#pragma GCC visibility pop

/// Returns `expr`, a Status, from the function if it is a failure.
#define IRISRT_RETURN_IF_ERROR(expr)                                           \
  do {                                                                         \
    ::iris::rt::Status irisrtStatus_ = (expr);                                 \
    if (!irisrtStatus_.ok())                                                   \
      return irisrtStatus_;                                                    \
  } while (false)

#define IRISRT_CONCAT_IMPL(a, b) a##b
#define IRISRT_CONCAT(a, b) IRISRT_CONCAT_IMPL(a, b)

/// Assigns the value of `expr`, an Expected, to `lhs`; returns its Status if it
/// has none.
#define IRISRT_ASSIGN_OR_RETURN(lhs, expr)                                     \
  IRISRT_ASSIGN_OR_RETURN_IMPL(IRISRT_CONCAT(irisrtExpected_, __LINE__), lhs,  \
                               expr)
#define IRISRT_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr)                           \
  auto tmp = (expr);                                                           \
  if (!tmp.ok())                                                               \
    return tmp.status();                                                       \
  lhs = tmp.take()

#endif // IRIS_RT_STATUS_H
