// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/Report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <map>
#include <string>

using namespace iris::rt;

namespace {

KernelInfo tracedKernel() {
  KernelInfo kernel;
  kernel.name = "k";
  kernel.module = "m";
  kernel.sites.push_back({"iris.trace", "a.mlir:1:1", "gemm", {}});
  kernel.sites.push_back({"iris.trace", "a.mlir:2:1", "wait", {}});
  return kernel;
}

IrisRtTraceEvent event(uint64_t clock, uint32_t site, uint32_t phase,
                       uint32_t program = 0, uint64_t bytes = 0) {
  IrisRtTraceEvent result = {};
  result.clock = clock;
  result.bytes = bytes;
  result.kernelHash = fnv1a64("k");
  result.program = program;
  result.launchId = 1;
  result.site = site;
  result.phase = phase;
  return result;
}

std::vector<TraceSpan> spansOf(const std::vector<IrisRtTraceEvent> &events) {
  static const KernelInfo kernel = tracedKernel();
  return makeSpans(events, [](uint64_t hash) {
    return hash == kernel.nameHash() ? &kernel : nullptr;
  });
}

/// A buffer as a kernel would have written it.
std::vector<uint8_t> bufferOf(const TraceShape &shape, uint64_t ring,
                              uint64_t written) {
  std::vector<uint8_t> buffer(shape.bytes());
  IrisRtTraceRing head = {};
  head.written = written;
  std::memcpy(buffer.data() + ring * sizeof(head), &head, sizeof(head));
  for (uint64_t n = 0; n < written; ++n) {
    IrisRtTraceEvent each = event(n, 0, n % 2);
    uint64_t place = (ring << shape.eventsLog2) + n % shape.eventsPerRing();
    std::memcpy(buffer.data() + shape.rings() * sizeof(head) +
                    place * sizeof(each),
                &each, sizeof(each));
  }
  return buffer;
}

} // namespace

TEST(Trace, KeepsTheLatestEventsOfARing) {
  TraceShape shape = {1, 3};
  TraceEvents few = readTraceBuffer(bufferOf(shape, 1, 5), shape);
  ASSERT_EQ(few.events.size(), 5u);
  EXPECT_EQ(few.dropped, 0u);
  TraceEvents many = readTraceBuffer(bufferOf(shape, 1, 21), shape);
  ASSERT_EQ(many.events.size(), 8u);
  EXPECT_EQ(many.dropped, 13u);
  for (uint64_t i = 0; i < 8; ++i)
    EXPECT_EQ(many.events[i].clock, 13 + i);
}

TEST(Trace, PairsSpansThatNest) {
  auto spans =
      spansOf({event(10, 0, 0), event(12, 1, 0), event(15, 1, 1),
               event(20, 0, 1, 0, 64), event(7, 0, 0, 3), event(9, 0, 1, 3)});
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].name, "wait");
  EXPECT_EQ(spans[0].begin, 12u);
  EXPECT_EQ(spans[0].end, 15u);
  EXPECT_EQ(spans[1].name, "gemm");
  EXPECT_EQ(spans[1].begin, 10u);
  EXPECT_EQ(spans[1].end, 20u);
  EXPECT_EQ(spans[1].bytes, 64u);
  EXPECT_EQ(spans[2].program, 3u);
  for (const TraceSpan &span : spans)
    EXPECT_FALSE(span.cut);
}

TEST(Trace, CutsSpansWithoutAnEnd) {
  auto spans = spansOf({event(10, 1, 0), event(12, 0, 1), event(15, 1, 0)});
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].name, "gemm");
  EXPECT_EQ(spans[0].begin, 10u);
  EXPECT_EQ(spans[0].end, 12u);
  EXPECT_EQ(spans[1].begin, 10u);
  EXPECT_EQ(spans[1].end, 15u);
  EXPECT_EQ(spans[2].begin, 15u);
  for (const TraceSpan &span : spans)
    EXPECT_TRUE(span.cut);
}

TEST(Trace, SkipsUnwrittenEvents) {
  IrisRtTraceEvent unidentified = event(1, 0, 0);
  unidentified.kernelHash = 1;
  EXPECT_TRUE(spansOf({unidentified, event(1, 99, 0), event(1, 0, 7)}).empty());
}

TEST(Trace, ClocksOfDifferentSpeed) {
  // 100 MHz, 50 parts in a million too fast, over a second.
  ClockSample first = {1000, 5e6, 2};
  ClockSample last = {1000 + 100005000, 6e6, 3};
  ClockLine line(first, last, 1e8);
  EXPECT_NEAR(line.toHostUs(1000), 5e6, 1e-3);
  EXPECT_NEAR(line.toHostUs(1000 + 50002500), 5.5e6, 1e-3);
  EXPECT_DOUBLE_EQ(line.errorUs(), 3);
  // Too close, or implausible: the nominal speed.
  ClockSample near = {last.ticks - 100, last.hostUs - 1, 2};
  EXPECT_NEAR(ClockLine(near, last, 1e8).toHostUs(last.ticks - 1000), 6e6 - 10,
              1e-6);
  ClockSample absurd = {last.ticks - 10, 5e6, 2};
  EXPECT_NEAR(ClockLine(absurd, last, 1e8).toHostUs(last.ticks + 1000),
              6e6 + 10, 1e-6);
}

TEST(Trace, ReportsAllRanksOnOneClock) {
  std::vector<RankTrace> ranks(2);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    ranks[rank].device = "device \"x\"";
    // The same time is 1000 ticks later on rank 1.
    ranks[rank].clock =
        ClockLine({}, {5000 + 1000 * rank, 100, 0.5}, /*hz=*/1e6);
    ranks[rank].spans = spansOf({event(5000 + 1000 * rank, 0, 0),
                                 event(5010 + 1000 * rank, 0, 1, 0, 32)});
    ranks[rank].events = 2;
    ranks[rank].dropped = rank;
  }
  nlohmann::json trace = nlohmann::json::parse(toChromeTrace(ranks));
  ASSERT_EQ(trace["traceEvents"].size(), 8u);
  EXPECT_EQ(trace["traceEvents"][0]["args"]["name"], "rank 0: device \"x\"");
  EXPECT_EQ(trace["traceEvents"][1]["args"]["name"], "program 0");
  for (int i : {3, 7}) {
    EXPECT_DOUBLE_EQ(trace["traceEvents"][i]["ts"], 0);
    EXPECT_DOUBLE_EQ(trace["traceEvents"][i]["dur"], 10);
    EXPECT_EQ(trace["traceEvents"][i]["args"]["bytes"], 32);
  }
  EXPECT_EQ(trace["otherData"]["dropped_events"], 1);

  TraceSummary summary = summarizeTrace(ranks);
  ASSERT_EQ(summary.rows.size(), 2u);
  EXPECT_EQ(summary.rows[1].rank, 1u);
  EXPECT_EQ(summary.rows[1].span, "gemm");
  EXPECT_EQ(summary.rows[1].count, 1u);
  EXPECT_DOUBLE_EQ(summary.rows[1].medianUs, 10);
  EXPECT_EQ(summary.rows[1].bytes, 32u);
  EXPECT_EQ(summary.events, 4u);
  EXPECT_EQ(summary.dropped, 1u);
  EXPECT_DOUBLE_EQ(summary.clockErrorUs, 1);
  EXPECT_NE(summary.toString().find("4 events, 1 dropped"), std::string::npos);
}

TEST(Trace, DistinguishesProducerWarps) {
  // The threads run a matmul while the producer warps wait for an operand.
  std::vector<RankTrace> ranks(1);
  ranks[0].clock = ClockLine({}, {0, 0, 0}, /*hz=*/1e6);
  ranks[0].spans =
      spansOf({event(10, 0, 0, 5), event(11, 1, IRISRT_TRACE_LOADS, 5),
               event(14, 0, 1, 5, 7), event(17, 1, IRISRT_TRACE_LOADS | 1, 5)});
  ASSERT_EQ(ranks[0].spans.size(), 2u);
  for (const TraceSpan &span : ranks[0].spans) {
    EXPECT_FALSE(span.cut);
    EXPECT_EQ(span.loads, span.name == "wait");
  }

  nlohmann::json trace = nlohmann::json::parse(toChromeTrace(ranks));
  std::map<uint64_t, std::string> names;
  for (const nlohmann::json &each : trace["traceEvents"])
    if (each["name"] == "thread_name")
      names[each["tid"]] = each["args"]["name"];
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names.begin()->second, "program 5");
  EXPECT_EQ(names.rbegin()->second, "program 5, loads");
  EXPECT_EQ(names.begin()->first + 1, names.rbegin()->first);

  TraceSummary summary = summarizeTrace(ranks);
  ASSERT_EQ(summary.rows.size(), 2u);
  EXPECT_EQ(summary.rows[1].span, "loads: wait");
  ASSERT_EQ(summary.programs.size(), 1u);
  EXPECT_EQ(summary.programs[0].program, 5u);
  EXPECT_DOUBLE_EQ(summary.programs[0].exposedUs, 6);
  EXPECT_EQ(summary.programs[0].bytes, 7u);
  ASSERT_EQ(summary.exposed.size(), 1u);
  EXPECT_DOUBLE_EQ(summary.exposed[0].maxUs, 6);
}
