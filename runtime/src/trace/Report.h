// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spans of all ranks as Chrome's trace format and in numbers.
#ifndef IRIS_RT_TRACE_REPORT_H
#define IRIS_RT_TRACE_REPORT_H

#include "iris/rt/Trace.h"
#include "trace/Clock.h"
#include "trace/Spans.h"

namespace iris::rt {

/// What one rank has told.
struct RankTrace {
  std::string device;
  std::vector<TraceSpan> spans;
  ClockLine clock;
  uint64_t events = 0;
  uint64_t dropped = 0;
};

/// The ranks are the processes, their programs the threads; times count from
/// the first span's beginning.
std::string toChromeTrace(const std::vector<RankTrace> &ranks);

TraceSummary summarizeTrace(const std::vector<RankTrace> &ranks);

} // namespace iris::rt

#endif // IRIS_RT_TRACE_REPORT_H
