// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Log.h - Log lines ----------------------------------------*- C++ -*-===//
//
// Log lines are tagged `[iris rank/world]` and go to standard error, in a
// single write each.
#ifndef IRIS_RT_CORE_LOG_H
#define IRIS_RT_CORE_LOG_H

#include "iris/rt/Env.h"

#include <cstdarg>
#include <cstdint>

namespace iris::rt {

/// Writes the log lines of one rank.
class Log {
public:
  Log() = default;
  Log(uint32_t rank, uint32_t numRanks) : rank_(rank), numRanks_(numRanks) {}

  /// Whether lines of this level are written.
  static bool enabled(LogLevel level) { return level <= Env::get().logLevel(); }

  void error(const char *format, ...) const
      __attribute__((format(printf, 2, 3)));
  void warning(const char *format, ...) const
      __attribute__((format(printf, 2, 3)));
  void info(const char *format, ...) const
      __attribute__((format(printf, 2, 3)));
  void debug(const char *format, ...) const
      __attribute__((format(printf, 2, 3)));

private:
  void write(LogLevel level, const char *format, va_list list) const;

  uint32_t rank_ = 0;
  uint32_t numRanks_ = 1;
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_LOG_H
