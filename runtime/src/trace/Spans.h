// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Spans.h - Trace events to spans --------------------------*- C++ -*-===//
#ifndef IRIS_RT_TRACE_SPANS_H
#define IRIS_RT_TRACE_SPANS_H

#include "iris-c/RuntimeABI.h"
#include "iris/rt/Kernel.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace iris::rt {

/// The sizes of a trace buffer, as encoded in IrisRtContext.trace.
struct TraceShape {
  uint32_t ringsLog2 = 0;
  uint32_t eventsLog2 = 0;

  uint64_t rings() const { return uint64_t(1) << ringsLog2; }
  uint64_t eventsPerRing() const { return uint64_t(1) << eventsLog2; }
  uint64_t bytes() const {
    return rings() * (sizeof(IrisRtTraceRing) +
                      eventsPerRing() * sizeof(IrisRtTraceEvent));
  }
};

/// The events of a buffer, ring by ring, oldest first.
struct TraceEvents {
  std::vector<IrisRtTraceEvent> events;
  uint64_t dropped = 0;
};

/// Reads a buffer of `shape.bytes()` bytes.
TraceEvents readTraceBuffer(const std::vector<uint8_t> &buffer,
                            const TraceShape &shape);

/// A time interval in which a program performed one action.
struct TraceSpan {
  std::string name;
  std::string kernel;
  std::string location;
  uint32_t program = 0;
  uint32_t launchId = 0;
  uint64_t begin = 0; ///< device clock ticks
  uint64_t end = 0;
  uint64_t bytes = 0;
  /// Recorded by the loader warps of the program, not by its compute threads.
  bool loads = false;
  /// The start was overwritten, or the end is missing: the span is cut at the
  /// program's first or last event in that launch.
  bool cut = false;
};

/// Returns the kernel with a hash; nullptr if there is none.
using KernelByHash = std::function<const KernelInfo *(uint64_t hash)>;

/// Pairs the start and end events. The buffer comes from a device, so events
/// that no kernel can have written are ignored.
std::vector<TraceSpan> makeSpans(const std::vector<IrisRtTraceEvent> &events,
                                 const KernelByHash &findKernel);

} // namespace iris::rt

#endif // IRIS_RT_TRACE_SPANS_H
