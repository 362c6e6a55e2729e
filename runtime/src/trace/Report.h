// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Report.h - Chrome traces and summaries -------------------*- C++ -*-===//
#ifndef IRIS_RT_TRACE_REPORT_H
#define IRIS_RT_TRACE_REPORT_H

#include "iris/rt/Trace.h"
#include "trace/Clock.h"
#include "trace/Spans.h"

namespace iris::rt {

/// The trace of one rank.
struct RankTrace {
  std::string device;
  std::vector<TraceSpan> spans;
  ClockLine clock;
  uint64_t events = 0;
  uint64_t dropped = 0;
};

/// Converts spans to Chrome's trace format: ranks are processes, programs are
/// threads, and times start with the first span.
std::string toChromeTrace(const std::vector<RankTrace> &ranks);

TraceSummary summarizeTrace(const std::vector<RankTrace> &ranks);

} // namespace iris::rt

#endif // IRIS_RT_TRACE_REPORT_H
