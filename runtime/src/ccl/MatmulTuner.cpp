// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulTuner.cpp - Measured choice of matmul configs ----------------===//
#include "ccl/MatmulTuner.h"

#include "ccl/CompileAhead.h"
#include "ccl/DiskCache.h"
#include "ccl/MatmulModel.h"
#include "ccl/RandomData.h"
#include "ccl/TunedChoices.h"
#include "core/Log.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <utility>

using namespace iris::ccl;
using namespace iris::rt;

static TuneLimits limitsOf(TuneLevel level) {
  return level == TuneLevel::full ? TuneLimits{32, {2000, 25}}
                                  : TuneLimits{8, {100, 9}};
}

/// A measurement may take one of so many parts of the free memory: the
/// heap keeps what it has mapped.
static constexpr uint64_t memoryDivisor = 4;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

TuneLevel iris::ccl::defaultTuneLevel(DeviceKind device) {
  return device == DeviceKind::cuda ? TuneLevel::quick : TuneLevel::off;
}

MatmulTuneRequest MatmulTuneRequest::from(const MatmulTuning &tuning,
                                          DeviceKind device) {
  MatmulTuneRequest request;
  std::optional<TuneLevel> asked =
      tuning.level ? tuning.level : Env::get().tune();
  request.level = asked.value_or(defaultTuneLevel(device));
  request.limitMs = tuning.limitMs > 0
                        ? tuning.limitMs
                        : limitsOf(request.level).measure.totalMs;
  request.clock = tuning.clock ? tuning.clock : std::make_shared<TuningClock>();
  return request;
}

std::string MatmulTuneRequest::describe() const {
  return formatString("%s, up to %g ms", tuneLevelName(level), limitMs);
}

namespace {
/// The measurement of one problem.
class MatmulTuner {
public:
  MatmulTuner(const MatmulSite &site, const MatmulTuningKey &tuningKey,
              const MatmulChoice &modelChoice, const MatmulTuneRequest &request)
      : site(site), world(site.world), agreement(site.agreement()),
        key(tuningKey), modelChoice(modelChoice), request(request) {}

  Expected<TunedMatmul> run();

private:
  struct Candidate {
    MatmulConfig config;
    double expectedUs = 0;
    std::unique_ptr<MatmulExecution> execution;
  };

  std::string textKey(const std::string &machine, TuneLevel level) const;
  Expected<TunedMatmul> readKept(TunedChoices &kept,
                                 const std::string &machine);
  MatmulTuningKey keyOf(const MatmulConfig &config) const;
  void addCandidates();
  uint64_t matrixBytes() const;
  Expected<std::string> whyNot();
  void compile();
  Status load();
  Status allocate();
  Status release();
  Expected<TunedMatmul> measure();
  MatmulChoice choiceOf(const MeasuredTimes &times, size_t best) const;
  std::string entryOf(const MatmulConfig &config, double us) const;

  const MatmulSite &site;
  World &world;
  Agreement agreement;
  const MatmulTuningKey &key;
  const MatmulChoice &modelChoice;
  const MatmulTuneRequest &request;
  std::vector<Candidate> candidates;
  MatmulArgs args;
  /// Of the choice.
  double measuredUs = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Kept choices
//===----------------------------------------------------------------------===//

std::string MatmulTuner::textKey(const std::string &machine,
                                 TuneLevel level) const {
  const MatmulProblem &p = key.problem;
  return machine + formatString("%s %s, m = %" PRIu64 ", n = %" PRIu64
                                ", k = %" PRIu64 "%s\nmeasured: %s\n",
                                describeRequest(p, key.groupSize).c_str(),
                                p.config.library.c_str(), p.m, p.n, p.k,
                                key.hasFewQueues ? ", few hardware queues" : "",
                                tuneLevelName(level));
}

/// What rank 0 finds serves all ranks. A thorough measurement serves a quick
/// request, too.
Expected<TunedMatmul> MatmulTuner::readKept(TunedChoices &kept,
                                            const std::string &machine) {
  TunedMatmul tuned;
  std::string text, foundKey;
  for (TuneLevel level : {TuneLevel::full, request.level})
    if (text.empty() && world.rank() == 0) {
      foundKey = textKey(machine, level);
      text = kept.read(foundKey).value_or("");
    }
  IRISRT_ASSIGN_OR_RETURN(text, agreement.first(text));
  if (text.empty())
    return tuned;
  auto refuse = [&](const std::string &why) {
    if (world.rank() == 0)
      kept.remove(foundKey, why);
    return TunedMatmul();
  };
  Expected<MatmulTable> table = MatmulTable::parse(text, "the kept choice");
  const MatmulEntry *entry = table.ok() ? table->findPossible(key) : nullptr;
  if (!entry)
    return refuse(table.ok() ? "its config is not possible here"
                             : table.status().message());
  if (!entry->config.library.empty()) {
    // The library may have been removed since.
    Expected<std::unique_ptr<MatmulExecution>> created =
        MatmulExecution::create(site, keyOf(entry->config));
    IRISRT_RETURN_IF_ERROR(world.failure());
    if (!created.ok())
      return refuse(created.status().message());
    tuned.execution = created.take();
  }
  tuned.choice = MatmulChoice{
      entry->config, ChoiceSource::table,
      formatString("%s: %.1f us when it was measured on this machine",
                   describe(entry->config).c_str(), entry->us)};
  return tuned;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

MatmulTuningKey MatmulTuner::keyOf(const MatmulConfig &config) const {
  MatmulTuningKey one = key;
  one.problem.config = config;
  return one;
}

/// The choice without a measurement, the best one that is not fused, whatever
/// the model expects of it, both also with the vendor's library, and the most
/// promising configs of the model.
void MatmulTuner::addCandidates() {
  auto add = [&](const MatmulConfig &config) {
    Expected<MatmulEstimate> expected = estimate(key, config);
    bool isNew = std::none_of(
        candidates.begin(), candidates.end(), [&](const auto &other) {
          bool isLibrary =
              !config.library.empty() && config.variant == other.config.variant;
          return other.config == config ||
                 (isLibrary && config.library == other.config.library);
        });
    if (isNew && expected.ok())
      candidates.push_back({config, expected->us, nullptr});
  };
  auto addLibrary = [&](MatmulConfig config) {
    const MatmulConfig &requested = key.problem.config;
    bool isFree = requested.splitK == 0 && requested.tileM == 0 &&
                  requested.tileN == 0 && requested.tileK == 0 &&
                  requested.library.empty();
    if (!isFree || !hasSplits(key.problem.kind, config.variant))
      return;
    config.library = "vendor";
    config.splitK = 1;
    add(config);
  };
  add(modelChoice.config);
  addLibrary(modelChoice.config);
  if (key.problem.config.variant.empty()) {
    const std::vector<std::string> &all = variantsOf(key.problem.kind);
    for (const std::string &variant : all) {
      if (!isUnfused(key.problem.kind, variant))
        continue;
      MatmulConfig config = key.problem.config;
      config.variant = variant;
      std::vector<MatmulEstimate> unfused = estimates(keyOf(config));
      if (unfused.empty())
        continue;
      add(unfused.front().config);
      addLibrary(unfused.front().config);
    }
  }
  const size_t most = limitsOf(request.level).candidates;
  for (const MatmulConfig &config : tuningCandidates(key, most))
    if (candidates.size() < most)
      add(config);
}

uint64_t MatmulTuner::matrixBytes() const {
  MatmulProblem p = key.problem;
  p.config = modelChoice.config;
  Expected<MatmulPlan> plan = makePlan(p, key.groupSize);
  if (!plan.ok())
    return 0;
  auto count = [](Extents extents) { return extents.rows * extents.columns; };
  return (count(plan->a) + count(plan->b)) * dtypeBytes(p.element) +
         2 * count(plan->c) * dtypeBytes(p.result);
}

/// Why the candidates cannot be measured, agreed on by all ranks; "" if they
/// can. Drops candidates for which there is no memory.
Expected<std::string> MatmulTuner::whyNot() {
  Expected<uint64_t> free = world.freeDeviceBytes();
  // The maximum of negative numbers is the least free memory.
  double mine = free.ok() ? -static_cast<double>(*free) : 0;
  IRISRT_ASSIGN_OR_RETURN(std::vector<double> agreed,
                          agreement.greatest(std::vector<double>{
                              world.capturing() ? 1. : 0., mine}));
  if (agreed[0] != 0)
    return std::string("a stream is being captured");
  auto room = static_cast<uint64_t>(-agreed[1]) / memoryDivisor;
  room = std::min(room, world.heapBytes() - world.heapUsed());
  auto bytesOf = [&] {
    uint64_t bytes = matrixBytes();
    for (const Candidate &each : candidates) {
      Expected<uint64_t> shared = sharedBytes(keyOf(each.config));
      bytes += shared.ok() ? *shared : 0;
    }
    return bytes;
  };
  while (candidates.size() > 1 && bytesOf() > room)
    candidates.pop_back();
  if (candidates.size() > 1)
    return std::string();
  return formatString("there is room for %" PRIu64
                      " MiB on the heap, which is not enough for two "
                      "candidates",
                      room >> 20);
}

/// Compiles the candidates' matmul kernels, each on one rank, several at once.
/// Errors are found again, and reported, when a kernel is loaded.
void MatmulTuner::compile() {
  std::vector<KernelRequest> requests;
  for (size_t i = world.rank(); i < candidates.size(); i += world.numRanks()) {
    MatmulProblem p = keyOf(candidates[i].config).problem;
    if (!p.config.library.empty())
      continue;
    if (!makePlan(p, key.groupSize).ok())
      continue;
    if (isUnfused(p.kind, p.config.variant)) {
      Expected<UnfusedPlan> unfused = planUnfused(p, key);
      if (!unfused.ok())
        continue;
      p = unfused->matmul;
      (void)makePlan(p, key.groupSize);
    }
    requests.push_back(MatmulExecution::requestOf(world, p));
  }
  compileAhead(*site.cache, requests);
}

/// Loads the candidates; those that no rank can load are dropped.
Status MatmulTuner::load() {
  compile();
  IRISRT_RETURN_IF_ERROR(agreement.succeeded(Status::success()));
  for (Candidate &each : candidates) {
    Expected<std::unique_ptr<MatmulExecution>> created =
        MatmulExecution::create(site, keyOf(each.config));
    IRISRT_RETURN_IF_ERROR(world.failure());
    if (created.ok())
      each.execution = created.take();
    else
      Log().info("%s is not measured: %s", describe(each.config).c_str(),
                 created.status().message().c_str());
  }
  candidates.erase(
      std::remove_if(candidates.begin(), candidates.end(),
                     [](const Candidate &each) { return !each.execution; }),
      candidates.end());
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Measurement
//===----------------------------------------------------------------------===//

/// Allocates the matrices on the heap, like those of a caller.
Status MatmulTuner::allocate() {
  const MatmulProblem &p = candidates.front().execution->problem();
  const MatmulPlan &plan = candidates.front().execution->matrices();
  auto take = [&](uint64_t &address, uint64_t count, DType type) -> Status {
    IRISRT_ASSIGN_OR_RETURN(address, world.allocate(count * dtypeBytes(type)));
    return fillRandomly(world, address, count, type);
  };
  auto count = [](Extents extents) { return extents.rows * extents.columns; };
  IRISRT_RETURN_IF_ERROR(take(args.a, count(plan.a), p.element));
  IRISRT_RETURN_IF_ERROR(take(args.b, count(plan.b), p.element));
  IRISRT_RETURN_IF_ERROR(take(args.c, count(plan.c), p.result));
  if (p.bias == Bias::none)
    return Status::success();
  return take(args.bias, p.bias == Bias::row ? plan.c.rows : plan.c.columns,
              p.result);
}

/// Frees everything, and makes the memory available again.
Status MatmulTuner::release() {
  Status status;
  auto note = [&status](Status each) {
    if (status.ok())
      status = std::move(each);
  };
  for (uint64_t *address : {&args.a, &args.b, &args.c, &args.bias})
    if (*address != 0)
      note(world.deallocate(std::exchange(*address, 0)));
  for (Candidate &each : candidates)
    if (each.execution)
      note(each.execution->destroy());
  note(world.sync());
  return status;
}

MatmulChoice MatmulTuner::choiceOf(const MeasuredTimes &times,
                                   size_t best) const {
  MatmulChoice choice;
  choice.config = candidates[best].execution->problem().config;
  choice.source = ChoiceSource::measured;
  choice.reason =
      formatString("%s: %.1f us, the best of %zu candidates in %u rounds",
                   describe(candidates[best].config).c_str(), times.us[best],
                   times.tried, times.rounds);
  // How sure the choice is.
  std::optional<size_t> next;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (i != best && std::isfinite(times.us[i]) &&
        (!next || times.us[i] < times.us[*next]))
      next = i;
  if (next)
    choice.reason +=
        formatString("; the next one takes %.1f us (%s)", times.us[*next],
                     describe(candidates[*next].config).c_str());
  return choice;
}

/// The choice as a line of a table.
std::string MatmulTuner::entryOf(const MatmulConfig &config, double us) const {
  MatmulEntry entry;
  entry.target = key.target;
  entry.groupSize = key.groupSize;
  entry.problem = key.problem;
  entry.config = config;
  entry.us = us;
  MatmulTable table;
  table.add(entry);
  return table.text();
}

/// Measures the loaded candidates.
Expected<TunedMatmul> MatmulTuner::measure() {
  TunedMatmul tuned;
  if (candidates.size() < 2) {
    tuned.why = "only one candidate could be loaded";
    return tuned;
  }
  IRISRT_RETURN_IF_ERROR(agreement.succeeded(allocate()));
  // The device is idle, and all ranks have their matrices.
  IRISRT_RETURN_IF_ERROR(world.sync());
  std::vector<MeasuredCall> calls;
  for (Candidate &each : candidates) {
    MatmulExecution *execution = each.execution.get();
    calls.push_back({[this, execution](Stream stream) {
                       return execution->run(args, stream);
                     },
                     each.expectedUs});
  }
  MeasureLimits limits = limitsOf(request.level).measure;
  limits.totalMs = request.limitMs;
  Expected<MeasuredTimes> times =
      measureCalls(world, agreement, calls, limits, *request.clock);
  IRISRT_RETURN_IF_ERROR(agreement.succeeded(times.status()));
  std::optional<size_t> best = times->best();
  if (!best) {
    tuned.why =
        formatString("a call is expected to take %.1f ms, too long for a "
                     "measurement of %g ms",
                     calls.front().expectedUs / 1e3, request.limitMs);
    return tuned;
  }
  Log().info("measured %zu candidates in %.1f ms", times->tried,
             times->spentMs);
  tuned.choice = choiceOf(*times, *best);
  tuned.execution = std::move(candidates[*best].execution);
  measuredUs = times->us[*best];
  return tuned;
}

Expected<TunedMatmul> MatmulTuner::run() {
  TunedMatmul tuned;
  tuned.why = whyNotMeasured(world);
  if (!tuned.why.empty())
    return tuned;
  Expected<TunedChoices> kept = TunedChoices::open(*site.cache);
  IRISRT_RETURN_IF_ERROR(agreement.succeeded(kept.status()));
  IRISRT_ASSIGN_OR_RETURN(std::string machine,
                          describeMachine(world, agreement));
  IRISRT_ASSIGN_OR_RETURN(TunedMatmul found, readKept(*kept, machine));
  if (found.choice)
    return found;
  addCandidates();
  std::vector<std::string> described;
  for (const Candidate &each : candidates)
    described.push_back(describe(each.config));
  IRISRT_RETURN_IF_ERROR(agreement.same("the candidates of a matmul",
                                        DiskCache::keyOf(described)));
  if (candidates.size() < 2) {
    tuned.why = "there is one candidate";
    return tuned;
  }
  IRISRT_ASSIGN_OR_RETURN(tuned.why, whyNot());
  if (!tuned.why.empty())
    return tuned;
  Status loaded = load();
  Expected<TunedMatmul> measured =
      loaded.ok() ? measure() : Expected<TunedMatmul>(loaded);
  Status released = release();
  IRISRT_RETURN_IF_ERROR(world.failure());
  IRISRT_RETURN_IF_ERROR(loaded);
  IRISRT_RETURN_IF_ERROR(released);
  if (!measured.ok()) {
    // The world works: the model serves.
    Log().warning("%s: a measurement failed: %s", kindName(key.problem.kind),
                  measured.status().message().c_str());
    tuned.why = "a measurement failed: " + measured.status().message();
    return tuned;
  }
  if (measured->choice && world.rank() == 0)
    kept->write(textKey(machine, request.level),
                entryOf(measured->choice->config, measuredUs));
  return measured;
}

Expected<TunedMatmul> iris::ccl::tuneMatmul(const MatmulSite &site,
                                            const MatmulTuningKey &tuningKey,
                                            const MatmulChoice &modelChoice,
                                            const MatmulTuneRequest &request) {
  MatmulTuningKey key = tuningKey;
  fillSemantics(key.problem);
  return MatmulTuner(site, key, modelChoice, request).run();
}
