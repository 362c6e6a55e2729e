// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels tell about their time (`iris.trace`), and what becomes of it.
//
//   world->startTrace();                       // before packages are loaded
//   ... load, launch ...
//   auto summary = world->writeTrace("trace.json");
//
// The file is in Chrome's trace format: ui.perfetto.dev shows it.
#ifndef IRIS_RT_TRACE_H
#define IRIS_RT_TRACE_H

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::rt {

struct TraceOptions {
  /// Programs that have a ring of their own; rounded up to a power of two, at
  /// most 32768.
  uint32_t rings = 512;
  /// Events that a ring keeps, the latest ones; likewise.
  uint32_t eventsPerRing = 512;
};

/// The spans of one name on one rank.
struct TraceRow {
  uint32_t rank = 0;
  std::string span;
  uint64_t count = 0;
  /// Programs that had such spans, and how long they were in them, in us.
  uint64_t programs = 0;
  double medianUs = 0;
  double mostUs = 0;
  /// What the spans say that they moved.
  uint64_t bytes = 0;
};

/// What one program on one rank did, in all its launches.
struct TraceProgram {
  uint32_t rank = 0;
  uint32_t program = 0;
  /// In waits and barriers.
  double exposedUs = 0;
  /// What its spans say that they moved.
  uint64_t bytes = 0;
};

/// A trace in numbers.
struct TraceSummary {
  /// By rank, then by name.
  std::vector<TraceRow> rows;
  /// By rank, then by number.
  std::vector<TraceProgram> programs;
  /// A row "exposed" for each rank: waits and barriers over all its programs,
  /// and the bytes that its spans moved.
  std::vector<TraceRow> exposed;
  uint64_t events = 0;
  /// Events that later ones have taken the place of.
  uint64_t dropped = 0;
  /// Most that the ranks' clocks may be apart, in us.
  double clockErrorUs = 0;

  /// A table for people, several lines.
  std::string toString() const;
};

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_TRACE_H
