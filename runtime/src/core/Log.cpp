// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Log.cpp - Log lines ------------------------------------------------===//
#include "core/Log.h"

#include <cstdio>
#include <unistd.h>

using namespace iris::rt;

void Log::write(LogLevel level, const char *format, va_list list) const {
  if (!enabled(level))
    return;
  static const char *const names[] = {"", "error", "warning", "info", "debug"};
  char text[2048];
  std::vsnprintf(text, sizeof(text), format, list);
  std::string line = formatString("[iris %u/%u] %s: ", rank_, numRanks_,
                                  names[static_cast<int>(level)]) +
                     escapeControls(text) + "\n";
  // A single write keeps the lines of several ranks apart.
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0)
    return; // standard error is closed
}

#define IRISRT_DEFINE_LOG(name, level)                                         \
  void Log::name(const char *format, ...) const {                              \
    va_list list;                                                              \
    va_start(list, format);                                                    \
    write(level, format, list);                                                \
    va_end(list);                                                              \
  }
IRISRT_DEFINE_LOG(error, LogLevel::error)
IRISRT_DEFINE_LOG(warning, LogLevel::warning)
IRISRT_DEFINE_LOG(info, LogLevel::info)
IRISRT_DEFINE_LOG(debug, LogLevel::debug)
#undef IRISRT_DEFINE_LOG
