// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Report.cpp - Chrome traces and summaries ---------------------------===//
#include "trace/Report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

using nlohmann::json;

namespace iris::rt {

static json processName(size_t rank, const std::string &device) {
  return {
      {"ph", "M"},
      {"name", "process_name"},
      {"pid", rank},
      {"args", {{"name", formatString("rank %zu: %s", rank, device.c_str())}}}};
}

/// The Chrome thread id of a program's spans; its loader warps have the next
/// one. 0 is avoided, because some tools reserve it.
static uint64_t threadOf(const TraceSpan &span) {
  return 2 * uint64_t(span.program) + (span.loads ? 2 : 1);
}

/// Names the threads of a rank that have spans.
static void nameThreads(size_t rank, const std::vector<TraceSpan> &spans,
                        json &events) {
  std::map<uint64_t, std::string> names;
  for (const TraceSpan &span : spans)
    names.emplace(threadOf(span), formatString("program %u%s", span.program,
                                               span.loads ? ", loads" : ""));
  for (const auto &[thread, name] : names) {
    events.push_back({{"ph", "M"},
                      {"name", "thread_name"},
                      {"pid", rank},
                      {"tid", thread},
                      {"args", {{"name", name}}}});
    events.push_back({{"ph", "M"},
                      {"name", "thread_sort_index"},
                      {"pid", rank},
                      {"tid", thread},
                      {"args", {{"sort_index", thread}}}});
  }
}

static json spanEvent(size_t rank, const TraceSpan &span, double begin,
                      double end) {
  json args = {{"kernel", span.kernel},
               {"launch", span.launchId},
               {"program", span.program}};
  if (!span.location.empty())
    args["at"] = span.location;
  if (span.bytes != 0)
    args["bytes"] = span.bytes;
  if (span.cut)
    args["cut"] = true;
  return {{"ph", "X"},          {"name", span.name},     {"cat", "iris"},
          {"pid", rank},        {"tid", threadOf(span)}, {"ts", begin},
          {"dur", end - begin}, {"args", args}};
}

std::string toChromeTrace(const std::vector<RankTrace> &ranks) {
  bool any = false;
  double origin = 0;
  for (const RankTrace &rank : ranks)
    for (const TraceSpan &span : rank.spans) {
      double begin = rank.clock.toHostUs(span.begin);
      origin = any ? std::min(origin, begin) : begin;
      any = true;
    }
  json events = json::array();
  for (size_t i = 0; i < ranks.size(); ++i) {
    events.push_back(processName(i, ranks[i].device));
    nameThreads(i, ranks[i].spans, events);
    for (const TraceSpan &span : ranks[i].spans)
      events.push_back(spanEvent(i, span,
                                 ranks[i].clock.toHostUs(span.begin) - origin,
                                 ranks[i].clock.toHostUs(span.end) - origin));
  }
  TraceSummary summary = summarizeTrace(ranks);
  json programs = json::array();
  for (const TraceProgram &program : summary.programs)
    programs.push_back({{"rank", program.rank},
                        {"program", program.program},
                        {"exposed_us", program.exposedUs},
                        {"bytes", program.bytes}});
  json root = {{"traceEvents", events},
               {"displayTimeUnit", "ns"},
               {"otherData",
                {{"dropped_events", summary.dropped},
                 {"clock_error_us", summary.clockErrorUs},
                 {"programs", programs}}}};
  // Replace invalid UTF-8, because names come from source files.
  return root.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

/// Whether the span is communication time that the program does not overlap.
static bool isExposed(const TraceSpan &span) {
  return span.name == "wait" || span.name == "barrier";
}

/// Sums up a rank's spans by program, and the waits of all its programs.
static void sumPrograms(const RankTrace &rank, uint32_t number,
                        TraceSummary &summary) {
  std::map<uint32_t, TraceProgram> programs;
  TraceRow row;
  row.rank = number;
  row.span = "exposed";
  for (const TraceSpan &span : rank.spans) {
    TraceProgram &sum = programs[span.program];
    sum.rank = number;
    sum.program = span.program;
    sum.bytes += span.bytes;
    row.bytes += span.bytes;
    if (!isExposed(span))
      continue;
    ++row.count;
    sum.exposedUs +=
        rank.clock.toHostUs(span.end) - rank.clock.toHostUs(span.begin);
  }
  std::vector<double> times;
  for (const auto &[program, sum] : programs) {
    times.push_back(sum.exposedUs);
    summary.programs.push_back(sum);
  }
  if (times.empty())
    return;
  std::sort(times.begin(), times.end());
  row.programs = times.size();
  row.medianUs = times[times.size() / 2];
  row.maxUs = times.back();
  summary.exposed.push_back(row);
}

TraceSummary summarizeTrace(const std::vector<RankTrace> &ranks) {
  TraceSummary summary;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const RankTrace &rank = ranks[i];
    summary.events += rank.events;
    summary.dropped += rank.dropped;
    // The clocks of two ranks may have errors in opposite directions.
    summary.clockErrorUs =
        std::max(summary.clockErrorUs, 2 * rank.clock.errorUs());
    struct Sum {
      TraceRow row;
      std::map<uint32_t, double> byProgram;
    };
    std::map<std::string, Sum> sums;
    for (const TraceSpan &span : rank.spans) {
      Sum &sum = sums[span.loads ? "loads: " + span.name : span.name];
      ++sum.row.count;
      sum.row.bytes += span.bytes;
      sum.byProgram[span.program] +=
          rank.clock.toHostUs(span.end) - rank.clock.toHostUs(span.begin);
    }
    for (auto &[name, sum] : sums) {
      std::vector<double> times;
      for (auto [program, time] : sum.byProgram)
        times.push_back(time);
      std::sort(times.begin(), times.end());
      sum.row.rank = static_cast<uint32_t>(i);
      sum.row.span = name;
      sum.row.programs = times.size();
      sum.row.medianUs = times[times.size() / 2];
      sum.row.maxUs = times.back();
      summary.rows.push_back(sum.row);
    }
    sumPrograms(rank, static_cast<uint32_t>(i), summary);
  }
  return summary;
}

std::string TraceSummary::toString() const {
  std::string text =
      formatString("%4s  %-16s %8s %8s %12s %12s %14s\n", "rank", "span",
                   "count", "programs", "median us", "most us", "bytes");
  for (const std::vector<TraceRow> *part : {&rows, &exposed})
    for (const TraceRow &row : *part)
      text += formatString(
          "%4u  %-16s %8llu %8llu %12.2f %12.2f %14llu\n", row.rank,
          row.span.c_str(), static_cast<unsigned long long>(row.count),
          static_cast<unsigned long long>(row.programs), row.medianUs,
          row.maxUs, static_cast<unsigned long long>(row.bytes));
  text += formatString("%llu events, %llu dropped; times are per program; "
                       "clocks differ by at most %.1f us\n",
                       static_cast<unsigned long long>(events),
                       static_cast<unsigned long long>(dropped), clockErrorUs);
  return text;
}

} // namespace iris::rt
