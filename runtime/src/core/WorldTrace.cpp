// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WorldTrace.cpp - Traces of a world ---------------------------------===//
//
// The trace buffer is on the symmetric heap, so that every rank can read all of
// them.
#include "core/Files.h"
#include "core/WorldImpl.h"
#include "trace/Report.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace iris::rt;

/// The number of round trips; the fastest one has the smallest error.
static constexpr int clockSamples = 20;

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

static Expected<uint32_t> log2Of(uint32_t count, const char *what) {
  if (count == 0 || count > 1u << IRISRT_TRACE_MAX_LOG2)
    return makeStatus(StatusCode::invalidArgument,
                      "a trace of %u %s; expected 1 to %u", count, what,
                      1u << IRISRT_TRACE_MAX_LOG2);
  uint32_t log2 = 0;
  while (1u << log2 < count)
    ++log2;
  return log2;
}

Status World::startTrace(const TraceOptions &options) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  Impl::TraceState &trace = impl_->trace;
  if (trace.buffer != 0)
    return makeStatus(StatusCode::failedPrecondition,
                      "a trace has already been started");
  TraceShape shape;
  IRISRT_ASSIGN_OR_RETURN(shape.ringsLog2, log2Of(options.rings, "rings"));
  IRISRT_ASSIGN_OR_RETURN(shape.eventsLog2,
                          log2Of(options.eventsPerRing, "events per ring"));
  IRISRT_ASSIGN_OR_RETURN(trace.buffer,
                          allocate(shape.bytes(), IRISRT_TRACE_ALIGNMENT));
  trace.shape = shape;
  trace.first.reset();
  std::lock_guard<std::mutex> lock(impl_->launchMutex);
  impl_->context.trace =
      trace.buffer | (uint64_t(shape.ringsLog2) << IRISRT_TRACE_RINGS_SHIFT) |
      (uint64_t(shape.eventsLog2) << IRISRT_TRACE_EVENTS_SHIFT);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

static double hostNowUs() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The last event of ring 0, to which program 0 writes.
static Expected<IrisRtTraceEvent> lastEvent(World &world, uint64_t buffer,
                                            const TraceShape &shape) {
  IrisRtTraceRing ring;
  IRISRT_RETURN_IF_ERROR(world.readNow(&ring, buffer, sizeof(ring)));
  if (ring.written == 0)
    return makeStatus(StatusCode::internal, "%s has written no event",
                      IRISRT_SYM_CLOCK);
  uint64_t index = (ring.written - 1) & (shape.eventsPerRing() - 1);
  IrisRtTraceEvent event;
  IRISRT_RETURN_IF_ERROR(world.readNow(
      &event, buffer + shape.rings() * sizeof(ring) + index * sizeof(event),
      sizeof(event)));
  return event;
}

/// Reads the device's clock with a kernel.
static Expected<ClockSample> sampleClock(World &world, const Kernel &clock,
                                         uint64_t buffer,
                                         const TraceShape &shape) {
  std::optional<ClockSample> best;
  for (int i = 0; i < clockSamples; ++i) {
    double before = hostNowUs();
    IRISRT_RETURN_IF_ERROR(world.launch(clock, {1, 1, 1}, {makeContextArg()}));
    IRISRT_RETURN_IF_ERROR(world.synchronize());
    double after = hostNowUs();
    IRISRT_ASSIGN_OR_RETURN(IrisRtTraceEvent event,
                            lastEvent(world, buffer, shape));
    double error = (after - before) / 2;
    if (!best || error < best->errorUs)
      best = ClockSample{event.clock, before + error, error};
  }
  return *best;
}

const PackageImage *World::Impl::findClock() const {
  std::lock_guard<std::mutex> lock(mutex);
  for (const std::unique_ptr<Loaded> &loaded : modules)
    for (const KernelInfo &kernel : loaded->image->kernels)
      if (kernel.name == IRISRT_SYM_CLOCK)
        return loaded->image;
  return nullptr;
}

Expected<std::optional<ClockSample>> World::sampleDeviceClock() {
  const PackageImage *image = impl_->findClock();
  if (!image || capturing())
    return std::optional<ClockSample>();
  if (deviceKind() == DeviceKind::host) {
    // Host kernels read the host's clock, in nanoseconds.
    double now = hostNowUs();
    return std::optional<ClockSample>(
        ClockSample{static_cast<uint64_t>(now * 1e3), now, 0});
  }
  std::string name;
  for (const KernelInfo &kernel : image->kernels)
    if (kernel.name == IRISRT_SYM_CLOCK)
      name = kernel.fullName();
  IRISRT_ASSIGN_OR_RETURN(Kernel clock, findKernel(name));
  IRISRT_ASSIGN_OR_RETURN(
      ClockSample sample,
      sampleClock(*this, clock, impl_->trace.buffer, impl_->trace.shape));
  return std::optional<ClockSample>(sample);
}

Status World::compareClocks() {
  if (impl_->trace.buffer == 0 || impl_->trace.first || capturing())
    return Status::success();
  IRISRT_ASSIGN_OR_RETURN(impl_->trace.first, sampleDeviceClock());
  return Status::success();
}

//===----------------------------------------------------------------------===//
// End
//===----------------------------------------------------------------------===//

/// Writes a file atomically.
static Status writeFile(const std::string &path, const std::string &text) {
  std::string temporary = path + ".XXXXXX";
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (fd.get() < 0)
    return makeErrnoStatus(StatusCode::invalidArgument, errno,
                           "cannot create the trace '%s'", path.c_str());
  Status status = writeAll(fd.get(), text, path);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = makeErrnoStatus(StatusCode::invalidArgument, errno,
                             "cannot write the trace '%s'", path.c_str());
  if (!status.ok())
    ::unlink(temporary.c_str());
  return status;
}

/// What each rank reports about its clock and device.
struct iris::rt::ClockReport {
  ClockSample first;
  ClockSample last;
  double hz;
  uint32_t hasFirst;
  uint32_t hasClock;
  char device[64];
};

Status World::readTraces(std::vector<std::vector<uint8_t>> &buffers) {
  const Impl::TraceState &trace = impl_->trace;
  buffers.resize(numRanks());
  for (uint32_t rank = 0; rank < numRanks(); ++rank) {
    buffers[rank].resize(trace.shape.bytes());
    IRISRT_ASSIGN_OR_RETURN(uint64_t address, translate(trace.buffer, rank));
    IRISRT_RETURN_IF_ERROR(
        readNow(buffers[rank].data(), address, trace.shape.bytes()));
  }
  return Status::success();
}

/// The clock samples and the device of this rank; `last` is the second sample.
static ClockReport reportClock(const std::optional<ClockSample> &first,
                               const std::optional<ClockSample> &last,
                               double clockHz, const std::string &device) {
  ClockReport report = {};
  report.hasClock = last.has_value();
  report.last = last.value_or(ClockSample{});
  report.hasFirst = first.has_value();
  report.first = first.value_or(ClockSample{});
  report.hz = clockHz;
  std::strncpy(report.device, device.c_str(), sizeof(report.device) - 1);
  return report;
}

/// Decodes and checks what `rank` reports.
static Expected<ClockReport> readClockReport(const Bootstrap::Bytes &bytes,
                                             uint32_t rank) {
  ClockReport report;
  if (bytes.size() != sizeof(report))
    return makeStatus(StatusCode::internal,
                      "rank %u sent %zu bytes about its clock; expected %zu",
                      rank, bytes.size(), sizeof(report));
  std::memcpy(&report, bytes.data(), sizeof(report));
  if (!report.hasClock)
    return makeStatus(StatusCode::failedPrecondition,
                      "nothing to trace: rank %u has loaded no package with "
                      "traces; compile one with iris-compile --trace",
                      rank);
  report.device[sizeof(report.device) - 1] = '\0';
  return report;
}

/// The spans of one rank.
RankTrace World::Impl::makeRankTrace(const ClockReport &clock,
                                     const TraceEvents &events) const {
  std::optional<ClockSample> first;
  if (clock.hasFirst)
    first = clock.first;
  RankTrace result;
  result.device = clock.device;
  result.clock = ClockLine(first, clock.last, clock.hz);
  result.dropped = events.dropped;
  result.spans = makeSpans(events.events, [&](uint64_t hash) {
    const KernelInfo *kernel = findByHash(hash);
    return kernel && kernel->name == IRISRT_SYM_CLOCK ? nullptr : kernel;
  });
  for (const IrisRtTraceEvent &event : events.events)
    result.events += event.kernelHash != fnv1a64(IRISRT_SYM_CLOCK);
  return result;
}

/// Ends the trace and frees its buffer.
Status World::Impl::endTrace() {
  {
    std::lock_guard<std::mutex> lock(launchMutex);
    context.trace = 0;
  }
  uint64_t buffer = std::exchange(trace.buffer, 0);
  IRISRT_RETURN_IF_ERROR(failure());
  return heap->release(buffer);
}

/// Writes the file on rank 0; the same error on all ranks.
Status World::Impl::writeTraceFile(const std::string &path,
                                   const std::vector<RankTrace> &ranks) {
  Status written;
  if (launch.rank == 0)
    written = writeFile(path, toChromeTrace(ranks));
  std::string text = written.message();
  text.resize(std::min(text.size(), maxContribution));
  Expected<std::vector<Bootstrap::Bytes>> errors = bootstrap->allGather(
      CollectiveTag::trace, Bootstrap::Bytes(text.begin(), text.end()), limit);
  if (!errors.ok())
    return failOnError(errors.status());
  const Bootstrap::Bytes &error = errors->front();
  if (error.empty())
    return Status::success();
  return makeStatus(StatusCode::invalidArgument, "%.*s",
                    static_cast<int>(error.size()),
                    reinterpret_cast<const char *>(error.data()));
}

Expected<TraceSummary> World::writeTrace(const std::string &path) {
  const Impl::TraceState &trace = impl_->trace;
  if (trace.buffer == 0)
    return makeStatus(StatusCode::failedPrecondition,
                      "no trace has been started");
  IRISRT_RETURN_IF_ERROR(sync());
  std::vector<std::vector<uint8_t>> buffers;
  // Report a local error to all ranks, so that none of them waits.
  IRISRT_RETURN_IF_ERROR(impl_->failOnError(readTraces(buffers)));
  // After this barrier, the clock kernels may overwrite events.
  IRISRT_RETURN_IF_ERROR(barrier());
  Expected<std::optional<ClockSample>> last = sampleDeviceClock();
  if (!last.ok())
    return impl_->failOnError(last.status());
  const ClockReport mine = reportClock(
      trace.first, *last, static_cast<double>(impl_->backend->info().clockHz),
      deviceName());
  Bootstrap::Bytes bytes(sizeof(mine));
  std::memcpy(bytes.data(), &mine, sizeof(mine));
  Expected<std::vector<Bootstrap::Bytes>> reports =
      impl_->bootstrap->allGather(CollectiveTag::trace, bytes, impl_->limit);
  if (!reports.ok())
    return impl_->failOnError(reports.status());
  IRISRT_RETURN_IF_ERROR(impl_->endTrace());

  std::vector<RankTrace> ranks;
  for (uint32_t rank = 0; rank < numRanks(); ++rank) {
    IRISRT_ASSIGN_OR_RETURN(ClockReport clock,
                            readClockReport((*reports)[rank], rank));
    ranks.push_back(impl_->makeRankTrace(
        clock, readTraceBuffer(buffers[rank], trace.shape)));
  }
  IRISRT_RETURN_IF_ERROR(impl_->writeTraceFile(path, ranks));
  return summarizeTrace(ranks);
}
