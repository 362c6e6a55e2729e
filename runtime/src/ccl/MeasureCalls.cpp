// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeasureCalls.cpp - Times of calls that do the same -----------------===//
#include "ccl/MeasureCalls.h"

#include <algorithm>
#include <chrono>
#include <limits>

using namespace iris::ccl;
using namespace iris::rt;

static constexpr double unmeasured = std::numeric_limits<double>::infinity();

/// Calls of a trial: several if a single one is short compared with the events
/// around it.
static constexpr double shortCallUs = 200;
static constexpr uint32_t shortTrialCalls = 4;
/// A call is dropped if its trial takes longer than the best one by this factor
/// and this time, the uncertainty of a trial.
static constexpr double dropFactor = 1.5, dropUs = 2;
/// The time of a sample, and the maximum number of its calls.
static constexpr double sampleUs = 300, maxSampleCalls = 20;

TuningClock::~TuningClock() = default;

double TuningClock::nowMs() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

double TuningClock::sampleUs(size_t, double us) { return us; }

std::optional<size_t> MeasuredTimes::best() const {
  if (us.empty())
    return std::nullopt;
  const double least = *std::min_element(us.begin(), us.end());
  constexpr double sameTime = 1.01;
  for (size_t i = 0; i < us.size() && least != unmeasured; ++i)
    if (us[i] <= least * sameTime)
      return i;
  return std::nullopt;
}

static double medianOf(std::vector<double> values) {
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

namespace {
/// One measurement, and what it creates on this rank.
class Measurement {
public:
  Measurement(World &world, Agreement agreement,
              const std::vector<MeasuredCall> &calls,
              const MeasureLimits &limits, TuningClock &clock)
      : world(world), agreement(agreement), calls(calls), limits(limits),
        clock(clock), startMs(clock.nowMs()) {}

  Expected<MeasuredTimes> run();
  /// Frees everything; returns the first error.
  Status close();

private:
  /// A call that takes part in the rounds.
  struct Entrant {
    size_t call = 0;
    uint32_t callsPerSample = 1;
    std::optional<Graph> graph;
    Event start, end;
    std::vector<double> samples;
  };

  Status open();
  Status tryAll();
  Status trySlowAgain();
  double mostToAdmit() const;
  Expected<std::vector<double>> tryCall(size_t call);
  Expected<std::vector<double>> admit();
  Status capture(Entrant &entrant);
  Status sample(Entrant &entrant);
  Expected<std::vector<double>> sampleRound(uint32_t round);
  Status takeMedians();
  Status enqueue(const Entrant &entrant);
  Status enqueueCalls(size_t call, uint32_t count);
  double elapsedMs() { return clock.nowMs() - startMs; }

  World &world;
  Agreement agreement;
  const std::vector<MeasuredCall> &calls;
  const MeasureLimits limits;
  TuningClock &clock;
  const double startMs;
  std::optional<Stream> stream;
  std::vector<Event> events;
  std::vector<Entrant> entrants;
  MeasuredTimes times;
};
} // namespace

Status Measurement::open() {
  IRISRT_ASSIGN_OR_RETURN(stream, world.createStream());
  for (int i = 0; i < 2; ++i) {
    IRISRT_ASSIGN_OR_RETURN(Event event, world.createEvent());
    events.push_back(event);
  }
  return Status::success();
}

Status Measurement::enqueueCalls(size_t call, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    IRISRT_RETURN_IF_ERROR(calls[call].run(*stream));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

/// Returns the time of a call, and the elapsed time in milliseconds.
Expected<std::vector<double>> Measurement::tryCall(size_t call) {
  const uint32_t count =
      calls[call].expectedUs < shortCallUs ? shortTrialCalls : 1;
  IRISRT_RETURN_IF_ERROR(enqueueCalls(call, 1));
  IRISRT_RETURN_IF_ERROR(world.record(events[0], *stream));
  IRISRT_RETURN_IF_ERROR(enqueueCalls(call, count));
  IRISRT_RETURN_IF_ERROR(world.record(events[1], *stream));
  IRISRT_RETURN_IF_ERROR(world.synchronize(*stream));
  IRISRT_ASSIGN_OR_RETURN(double ms, world.elapsedMs(events[0], events[1]));
  double us = clock.sampleUs(call, ms * 1e3 / count);
  return std::vector<double>{us, elapsedMs()};
}

/// Tries the calls in their order, as long as the next one is expected to fit.
Status Measurement::tryAll() {
  times.us.assign(calls.size(), unmeasured);
  for (size_t call = 0; call < calls.size(); ++call) {
    // The untimed call and the timed one.
    double expectedMs = 2 * calls[call].expectedUs / 1e3;
    if (times.spentMs + expectedMs > limits.totalMs)
      break;
    IRISRT_ASSIGN_OR_RETURN(std::vector<double> agreed,
                            agreement.greatest(tryCall(call)));
    times.us[call] = agreed[0];
    times.spentMs = agreed[1];
    ++times.tried;
  }
  return Status::success();
}

/// The longest time of a trial with which a call takes part in the rounds.
double Measurement::mostToAdmit() const {
  const double least = *std::min_element(times.us.begin(), times.us.end());
  return least * dropFactor + dropUs;
}

/// Tries calls again that would be dropped: those in front run with the low
/// clocks of a device that was idle while kernels were compiled.
Status Measurement::trySlowAgain() {
  for (size_t call = 0; call < times.tried; ++call) {
    const double us = times.us[call];
    if (us <= mostToAdmit() || times.spentMs + 2 * us / 1e3 > limits.totalMs)
      continue;
    IRISRT_ASSIGN_OR_RETURN(std::vector<double> agreed,
                            agreement.greatest(tryCall(call)));
    times.us[call] = std::min(us, agreed[0]);
    times.spentMs = agreed[1];
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

Status Measurement::capture(Entrant &entrant) {
  Status begun = world.beginCapture(*stream);
  if (begun.code() == StatusCode::unavailable)
    return Status::success(); // the calls are enqueued in sequence
  IRISRT_RETURN_IF_ERROR(begun);
  Status enqueued = enqueueCalls(entrant.call, entrant.callsPerSample);
  // A stream stays captured until the capture ends.
  Expected<Graph> graph = world.endCapture(*stream);
  IRISRT_RETURN_IF_ERROR(enqueued);
  IRISRT_ASSIGN_OR_RETURN(entrant.graph, std::move(graph));
  return Status::success();
}

/// Drops slow calls, and prepares the samples of the others. Returns the
/// elapsed time in milliseconds.
Expected<std::vector<double>> Measurement::admit() {
  const double most = mostToAdmit();
  for (size_t call = 0; call < calls.size(); ++call) {
    const double us = times.us[call];
    if (us > most) {
      times.us[call] = unmeasured;
      continue;
    }
    Entrant &entrant = entrants.emplace_back();
    entrant.call = call;
    entrant.callsPerSample = static_cast<uint32_t>(
        std::clamp(sampleUs / std::max(us, 1e-3), 1.0, maxSampleCalls));
  }
  if (entrants.size() < 2)
    return std::vector<double>{elapsedMs()};
  for (Entrant &entrant : entrants) {
    for (Event *event : {&entrant.start, &entrant.end}) {
      IRISRT_ASSIGN_OR_RETURN(*event, world.createEvent());
      events.push_back(*event);
    }
    IRISRT_RETURN_IF_ERROR(capture(entrant));
  }
  return std::vector<double>{elapsedMs()};
}

Status Measurement::enqueue(const Entrant &entrant) {
  return entrant.graph ? world.launchGraph(*entrant.graph, *stream)
                       : enqueueCalls(entrant.call, entrant.callsPerSample);
}

Status Measurement::sample(Entrant &entrant) {
  IRISRT_RETURN_IF_ERROR(world.record(entrant.start, *stream));
  IRISRT_RETURN_IF_ERROR(enqueue(entrant));
  return world.record(entrant.end, *stream);
}

/// Takes a sample of each call. Returns the elapsed time in milliseconds.
Expected<std::vector<double>> Measurement::sampleRound(uint32_t round) {
  const size_t first = round % entrants.size();
  // Untimed: the ranks' streams do not start at the same time.
  IRISRT_RETURN_IF_ERROR(enqueueCalls(entrants[first].call, 1));
  for (size_t i = 0; i < entrants.size(); ++i)
    IRISRT_RETURN_IF_ERROR(sample(entrants[(first + i) % entrants.size()]));
  IRISRT_RETURN_IF_ERROR(world.synchronize(*stream));
  for (Entrant &entrant : entrants) {
    IRISRT_ASSIGN_OR_RETURN(double ms,
                            world.elapsedMs(entrant.start, entrant.end));
    entrant.samples.push_back(
        clock.sampleUs(entrant.call, ms * 1e3 / entrant.callsPerSample));
  }
  return std::vector<double>{elapsedMs()};
}

Status Measurement::takeMedians() {
  std::vector<double> medians;
  for (const Entrant &entrant : entrants)
    medians.push_back(medianOf(entrant.samples));
  IRISRT_ASSIGN_OR_RETURN(medians, agreement.greatest(std::move(medians)));
  for (size_t i = 0; i < entrants.size(); ++i)
    times.us[entrants[i].call] = medians[i];
  return Status::success();
}

Expected<MeasuredTimes> Measurement::run() {
  IRISRT_RETURN_IF_ERROR(agreement.succeeded(open()));
  IRISRT_RETURN_IF_ERROR(tryAll());
  times.trialUs = times.us;
  if (times.tried == 0)
    return times;
  IRISRT_RETURN_IF_ERROR(trySlowAgain());
  times.trialUs = times.us;
  IRISRT_ASSIGN_OR_RETURN(std::vector<double> admitted,
                          agreement.greatest(admit()));
  times.spentMs = admitted[0];
  if (entrants.size() < 2)
    return times;
  double roundMs = times.us[entrants[0].call] / 1e3;
  for (const Entrant &entrant : entrants)
    roundMs += entrant.callsPerSample * times.us[entrant.call] / 1e3;
  while (times.rounds < limits.maxRounds &&
         times.spentMs + roundMs <= limits.totalMs) {
    IRISRT_ASSIGN_OR_RETURN(std::vector<double> agreed,
                            agreement.greatest(sampleRound(times.rounds)));
    // What the events do not cover counts, too.
    roundMs = std::max(roundMs, agreed[0] - times.spentMs);
    times.spentMs = agreed[0];
    ++times.rounds;
  }
  if (times.rounds != 0)
    IRISRT_RETURN_IF_ERROR(takeMedians());
  return times;
}

Status Measurement::close() {
  Status status;
  auto note = [&status](Status each) {
    if (status.ok())
      status = std::move(each);
  };
  for (const Entrant &entrant : entrants)
    if (entrant.graph)
      note(world.destroyGraph(*entrant.graph));
  for (Event event : events)
    note(world.destroyEvent(event));
  if (stream)
    note(world.destroyStream(*stream));
  return status;
}

Expected<MeasuredTimes>
iris::ccl::measureCalls(World &world, Agreement agreement,
                        const std::vector<MeasuredCall> &calls,
                        const MeasureLimits &limits, TuningClock &clock) {
  Measurement measurement(world, agreement, calls, limits, clock);
  Expected<MeasuredTimes> times = measurement.run();
  Status closed = measurement.close();
  if (times.ok() && !closed.ok())
    return closed;
  return times;
}
