// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Trace.h - Traces of kernels ------------------------------*- C++ -*-===//
//
// Options and results of traces, which kernels record with `iris.trace`.
//
//   world->startTrace();                       // before packages are loaded
//   ... load, launch ...
//   auto summary = world->writeTrace("trace.json");
//
// The file is in Chrome's trace format; view it at ui.perfetto.dev.
#ifndef IRIS_RT_TRACE_H
#define IRIS_RT_TRACE_H

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::rt {

/// The size of a trace's buffer on each rank's heap.
struct TraceOptions {
  /// The number of programs with a private ring, rounded up to a power of two;
  /// at most 32768.
  uint32_t rings = 512;
  /// The number of latest events that a ring keeps, with the same rounding and
  /// limit.
  uint32_t eventsPerRing = 512;
};

/// The spans with the same name on one rank.
struct TraceRow {
  /// The rank that recorded the spans, their name, and their number.
  uint32_t rank = 0;
  std::string span;
  uint64_t count = 0;
  /// The number of programs with such spans, and the time per program in us.
  uint64_t programs = 0;
  double medianUs = 0;
  double maxUs = 0;
  /// The bytes that the spans report as moved.
  uint64_t bytes = 0;
};

/// All launches of one program on one rank.
struct TraceProgram {
  /// The rank, and the program's number.
  uint32_t rank = 0;
  uint32_t program = 0;
  /// Time in waits and barriers, in us.
  double exposedUs = 0;
  /// The bytes that its spans report as moved.
  uint64_t bytes = 0;
};

/// A summary of a trace.
struct TraceSummary {
  /// Ordered by rank, then by name.
  std::vector<TraceRow> rows;
  /// Ordered by rank, then by number.
  std::vector<TraceProgram> programs;
  /// One row "exposed" for each rank: the waits and barriers of all its
  /// programs, and the bytes that its spans moved.
  std::vector<TraceRow> exposed;
  /// The number of events in the file.
  uint64_t events = 0;
  /// Events that were overwritten by later ones.
  uint64_t dropped = 0;
  /// The maximum error of the clock alignment between ranks, in us.
  double clockErrorUs = 0;

  /// \return a table of several lines for users
  std::string toString() const;
};

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_TRACE_H
