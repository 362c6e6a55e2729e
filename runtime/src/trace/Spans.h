// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the events of a trace buffer to spans of time.
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

/// The logarithms of a buffer's sizes, as IrisRtContext.trace has them.
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

/// What a buffer holds, the oldest event of each ring first.
struct TraceEvents {
  std::vector<IrisRtTraceEvent> events;
  uint64_t dropped = 0;
};

/// Reads a buffer of `shape.bytes()` bytes.
TraceEvents readTraceBuffer(const std::vector<uint8_t> &buffer,
                            const TraceShape &shape);

/// Time in which a program did something.
struct TraceSpan {
  std::string name;
  std::string kernel;
  std::string location;
  uint32_t program = 0;
  uint32_t launchId = 0;
  uint64_t begin = 0; ///< ticks of the device
  uint64_t end = 0;
  uint64_t bytes = 0;
  /// Of the warps that load for the program, beside its threads.
  bool loads = false;
  /// Its beginning was dropped, or its end never came: it is cut at the first
  /// or last event of its program in that launch.
  bool cut = false;
};

/// Finds the kernel of a hash; nullptr if there is none.
using KernelByHash = std::function<const KernelInfo *(uint64_t hash)>;

/// Pairs the ends of spans.  What the buffer holds comes from a device and may
/// be anything: events that no kernel can have written are left out.
std::vector<TraceSpan> makeSpans(const std::vector<IrisRtTraceEvent> &events,
                                 const KernelByHash &findKernel);

} // namespace iris::rt

#endif // IRIS_RT_TRACE_SPANS_H
