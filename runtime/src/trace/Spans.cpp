// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Spans.cpp - Trace events to spans ----------------------------------===//
#include "trace/Spans.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

namespace iris::rt {

TraceEvents readTraceBuffer(const std::vector<uint8_t> &buffer,
                            const TraceShape &shape) {
  TraceEvents result;
  const uint8_t *events =
      buffer.data() + shape.rings() * sizeof(IrisRtTraceRing);
  for (uint64_t ring = 0; ring < shape.rings(); ++ring) {
    IrisRtTraceRing head;
    std::memcpy(&head, buffer.data() + ring * sizeof(head), sizeof(head));
    uint64_t kept = std::min(head.written, shape.eventsPerRing());
    result.dropped += head.written - kept;
    for (uint64_t n = head.written - kept; n < head.written; ++n) {
      uint64_t index =
          (ring << shape.eventsLog2) + (n & (shape.eventsPerRing() - 1));
      IrisRtTraceEvent event;
      std::memcpy(&event, events + index * sizeof(event), sizeof(event));
      result.events.push_back(event);
    }
  }
  return result;
}

namespace {

/// The events of one program in one launch, of either its threads or its loader
/// warps, in the order of writing.
struct Thread {
  const KernelInfo *kernel = nullptr;
  std::vector<IrisRtTraceEvent> events;
};

/// Makes the spans of one program in one launch.
void pair(const Thread &thread, std::vector<TraceSpan> &spans) {
  auto spanOf = [&](const IrisRtTraceEvent &event) {
    const SiteInfo &site = thread.kernel->sites[event.site];
    TraceSpan span;
    span.name = site.what;
    span.kernel = thread.kernel->fullName();
    span.location = site.location;
    span.program = event.program;
    span.launchId = event.launchId;
    span.begin = span.end = event.clock;
    span.bytes = event.bytes;
    span.loads = (event.phase & IRISRT_TRACE_LOADS) != 0;
    return span;
  };
  std::vector<TraceSpan> open;
  for (const IrisRtTraceEvent &event : thread.events) {
    TraceSpan span = spanOf(event);
    if ((event.phase & 1) == 0) {
      open.push_back(span);
      continue;
    }
    auto begun =
        std::find_if(open.rbegin(), open.rend(), [&](const TraceSpan &other) {
          return other.name == span.name;
        });
    if (begun == open.rend()) {
      span.begin = thread.events.front().clock;
      span.cut = true;
    } else {
      span.begin = begun->begin;
      span.location = begun->location;
      open.erase(std::next(begun).base());
    }
    spans.push_back(span);
  }
  for (TraceSpan &span : open) {
    span.end = thread.events.back().clock;
    span.cut = true;
    spans.push_back(span);
  }
}

} // namespace

std::vector<TraceSpan> makeSpans(const std::vector<IrisRtTraceEvent> &events,
                                 const KernelByHash &findKernel) {
  std::map<std::tuple<uint32_t, uint64_t, uint32_t, uint32_t>, Thread> threads;
  for (const IrisRtTraceEvent &event : events) {
    const KernelInfo *kernel = findKernel(event.kernelHash);
    if (!kernel || event.site >= kernel->sites.size() ||
        event.phase > (IRISRT_TRACE_LOADS | 1))
      continue;
    Thread &thread = threads[{event.launchId, event.kernelHash, event.program,
                              event.phase & IRISRT_TRACE_LOADS}];
    thread.kernel = kernel;
    thread.events.push_back(event);
  }
  std::vector<TraceSpan> spans;
  for (auto &[key, thread] : threads)
    pair(thread, spans);
  return spans;
}

} // namespace iris::rt
