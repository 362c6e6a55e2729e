// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveTuner.cpp - Measured choice of collectives ---------------===//
#include "ccl/CollectiveTuner.h"

#include "ccl/CommunicatorImpl.h"
#include "ccl/CompileAhead.h"
#include "ccl/DiskCache.h"
#include "ccl/KernelEstimates.h"
#include "ccl/MakeCall.h"
#include "ccl/TunedChoices.h"
#include "iris/rt/Env.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

using namespace iris::ccl;
using namespace iris::rt;

/// The candidates are those of each size.
static TuneLimits limitsOfCollectives(TuneLevel level) {
  return level == TuneLevel::full ? TuneLimits{8, {5000, 15}}
                                  : TuneLimits{4, {300, 5}};
}

/// Bytes of the measured chunks: latency, the transitions between the variants,
/// and bandwidth.
static constexpr uint64_t chunkSizes[] = {4 << 10, 64 << 10, 1 << 20, 16 << 20};

/// The buffers may take one of so many parts of the free memory: the heap keeps
/// what it has mapped.
static constexpr uint64_t freeMemoryDivisor = 4;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

CollectiveTuneRequest
CollectiveTuneRequest::from(const CollectiveTuning &tuning) {
  CollectiveTuneRequest request;
  std::optional<TuneLevel> asked =
      tuning.level ? tuning.level : Env::get().tune();
  // Off by default, as no GPU has measured collectives yet.
  request.level = asked.value_or(TuneLevel::off);
  request.limitMs = tuning.limitMs > 0
                        ? tuning.limitMs
                        : limitsOfCollectives(request.level).measure.totalMs;
  request.clock = tuning.clock ? tuning.clock : std::make_shared<TuningClock>();
  return request;
}

bool CollectiveTuneScope::canMeasure(Op op) {
  const plan::Collective &collective = getCollective(op);
  return collective.hasBuffers() && !collective.hasCounts() &&
         !collective.isPointToPoint();
}

CollectiveTuneScope CollectiveTuneScope::all() {
  CollectiveTuneScope scope;
  // In the order of their use: what does not fit into the limit is left to the
  // model.
  scope.ops = {Op::allReduce, Op::allGather, Op::reduceScatter, Op::allToAll,
               Op::broadcast};
  for (int32_t i = 0; plan::findCollective(i); ++i) {
    Op op = static_cast<Op>(i);
    if (canMeasure(op) &&
        std::find(scope.ops.begin(), scope.ops.end(), op) == scope.ops.end())
      scope.ops.push_back(op);
  }
  scope.dtypes = {DType::bf16, DType::f16, DType::f32};
  return scope;
}

/// Whether the model's constants are those of this device.
static bool hasOwnModel(const World &world) {
  return !Env::get().costModel().empty() ||
         findDeviceModel(world.deviceKind(), world.target(),
                         &world.deviceAttributes()) != nullptr;
}

//===----------------------------------------------------------------------===//
// The tuner
//===----------------------------------------------------------------------===//

/// One measurement of a communicator.
struct Communicator::Impl::Tuner {
  /// An operation whose kernels are measured.
  struct Job {
    MeasuredCollective measured;
  };
  /// A kernel that was loaded.
  struct Entrant {
    KernelName name;
    Chosen chosen;
  };

  Tuner(Impl &impl, CollectiveTuneScope scope, Agreement everyone)
      : impl(impl), world(impl.world), scope(std::move(scope)),
        everyone(everyone), request(impl.tuning),
        startMs(request.clock->nowMs()) {}

  Status run();

private:
  double elapsedMs() { return request.clock->nowMs() - startMs; }
  TuningKey keyOf(const MeasuredCollective &measured, uint64_t bytes) const;
  std::string textKey(const MeasuredCollective &measured,
                      TuneLevel level) const;
  std::vector<std::pair<KernelName, Spec>>
  candidatesOf(const MeasuredCollective &measured) const;
  bool isCompiled(const Spec &spec) const;
  bool isStale(const MeasuredCollective &measured) const;
  std::optional<MeasuredCollective> readKept(const MeasuredCollective &what);
  char makeJob(MeasuredCollective &measured) const;
  std::string makePlan();
  Status readPlan(const std::string &text);
  Status planJobs();
  void compile();
  Expected<uint64_t> agreeOnBytes();
  Status allocate(uint64_t chunkBytes);
  Status release();
  Expected<std::optional<Chosen>> load(const Spec &spec, int64_t programs);
  Status measure(Job &job, uint64_t mostBytes);
  Status measureSize(Job &job, size_t size,
                     const std::vector<std::pair<KernelName, Spec>> &all);
  Status measureJobs(uint64_t mostBytes);
  void note(TunedCollective tuned);

  Impl &impl;
  World &world;
  const CollectiveTuneScope scope;
  /// Of all ranks of the world.
  Agreement everyone;
  const CollectiveTuneRequest &request;
  double startMs;
  /// The first rank of the group reads and writes what is kept.
  std::optional<TunedChoices> kept;
  std::string machine;
  std::vector<Job> jobs;
  uint64_t in = 0, out = 0;
  /// Agreed on.
  double spentMs = 0;
};

TuningKey Communicator::Impl::Tuner::keyOf(const MeasuredCollective &measured,
                                           uint64_t bytes) const {
  return measured.keyOf(bytes, static_cast<uint32_t>(impl.group.ranks.size()),
                        world.deviceKind(), &world.deviceAttributes());
}

/// The kept times depend on the model: they are of its numbers of programs.
std::string
Communicator::Impl::Tuner::textKey(const MeasuredCollective &measured,
                                   TuneLevel level) const {
  const DeviceModel &model = deviceModelOf(keyOf(measured, chunkSizes[0]));
  return machine +
         formatString(
             "%s of %zu ranks, %s the heap, workspace of %llu bytes, "
             "model %s\nmeasured: %s\n",
             opName(measured.op).data(), impl.group.ranks.size(),
             measured.onHeap ? "on" : "outside of",
             static_cast<unsigned long long>(impl.options.workspaceBytes),
             DiskCache::keyOf({model.name, model.links.source}).c_str(),
             tuneLevelName(level));
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// The most promising kernels of each size, and what they are loaded by.
std::vector<std::pair<KernelName, Spec>>
Communicator::Impl::Tuner::candidatesOf(
    const MeasuredCollective &measured) const {
  std::vector<std::pair<KernelName, Spec>> all;
  const size_t most = limitsOfCollectives(request.level).candidates;
  for (uint64_t bytes : chunkSizes) {
    TuningKey key = keyOf(measured, bytes);
    std::vector<KernelEstimate> estimates = kernelEstimates(key);
    estimates.resize(std::min(estimates.size(), most));
    for (const KernelEstimate &each : estimates) {
      KernelName name = KernelName::of(each.kernel);
      bool isNew = std::none_of(all.begin(), all.end(), [&](const auto &other) {
        return other.first == name;
      });
      if (!isNew)
        continue;
      Spec spec = makeSpec(measured.op, measured.dtype, ReduceOp::sum,
                           key.groupSize, each.estimate.config);
      spec.isSelected = true;
      all.emplace_back(name, spec);
    }
  }
  return all;
}

bool Communicator::Impl::Tuner::isCompiled(const Spec &spec) const {
  return impl.cache->findCompiled(impl.requestOf(kernelSpec(spec))).has_value();
}

/// Whether a kernel that was not measured could be now.
bool Communicator::Impl::Tuner::isStale(
    const MeasuredCollective &measured) const {
  for (const auto &[name, spec] : candidatesOf(measured))
    if (std::find(measured.missing.begin(), measured.missing.end(), name) !=
            measured.missing.end() &&
        isCompiled(spec))
      return true;
  return false;
}

/// A thorough measurement serves a quick request, too.
std::optional<MeasuredCollective>
Communicator::Impl::Tuner::readKept(const MeasuredCollective &what) {
  for (TuneLevel level : {TuneLevel::full, request.level}) {
    const std::string key = textKey(what, level);
    std::optional<std::string> text = kept->read(key);
    if (!text)
      continue;
    Expected<MeasuredCollective> measured =
        MeasuredCollective::parse(*text, "the kept times");
    if (measured.ok() && measured->op == what.op &&
        measured->onHeap == what.onHeap)
      return *measured;
    kept->remove(key, measured.ok() ? "it is of another operation"
                                    : measured.status().message());
  }
  return std::nullopt;
}

/// Adds the kernels to measure. Returns what is to be done: 'm'easure, or
/// 's'kip the operation.
char Communicator::Impl::Tuner::makeJob(MeasuredCollective &measured) const {
  const bool compiles = request.level == TuneLevel::full;
  std::vector<DType> dtypes = {DType::i8};
  if (reduces(measured.op))
    dtypes = scope.dtypes;
  for (DType dtype : dtypes) {
    measured.dtype = dtype;
    measured.kernels.clear();
    measured.missing.clear();
    for (const auto &[name, spec] : candidatesOf(measured)) {
      if (compiles || isCompiled(spec))
        measured.kernels.push_back(
            {name,
             std::vector<double>(measured.sizes.size(),
                                 std::numeric_limits<double>::infinity())});
      else
        measured.missing.push_back(name);
    }
    if (measured.kernels.size() >= 2)
      return 'm';
  }
  return 's';
}

/// A line for each operation: a letter for what is to be done, 'k' for kept
/// times, and the times as JSON.
std::string Communicator::Impl::Tuner::makePlan() {
  std::string text;
  for (bool onHeap : {true, false}) {
    if (!(onHeap ? scope.onHeap : scope.elsewhere))
      continue;
    for (Op op : scope.ops) {
      MeasuredCollective measured;
      measured.op = op;
      measured.onHeap = onHeap;
      measured.sizes.assign(std::begin(chunkSizes), std::end(chunkSizes));
      const TunedCollective *known = impl.findTuned(op, onHeap);
      if (known && known->source != TunedCollective::Source::none &&
          !isStale(known->measured))
        continue;
      std::optional<MeasuredCollective> found = readKept(measured);
      if (found && !isStale(*found)) {
        text += 'k' + found->text();
        continue;
      }
      // Reading packages takes time, too.
      char what = elapsedMs() < request.limitMs ? makeJob(measured) : 's';
      text += what + measured.text();
    }
  }
  return text;
}

void Communicator::Impl::Tuner::note(TunedCollective tuned) {
  std::vector<TunedCollective> &all = impl.tuned;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const TunedCollective &other) {
                             return other.measured.op == tuned.measured.op &&
                                    other.measured.onHeap ==
                                        tuned.measured.onHeap;
                           }),
            all.end());
  all.push_back(std::move(tuned));
}

Status Communicator::Impl::Tuner::readPlan(const std::string &text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    IRISRT_ASSIGN_OR_RETURN(
        MeasuredCollective measured,
        MeasuredCollective::parse(line.substr(1), "a plan of measurements"));
    if (line[0] == 'm')
      jobs.push_back({std::move(measured)});
    else if (line[0] == 'k' && measured.isUseful())
      note({TunedCollective::Source::kept, std::move(measured), ""});
    else if (line[0] == 'k')
      note({TunedCollective::Source::none, std::move(measured),
            "fewer than two kernels could be measured on this machine"});
    else
      note({TunedCollective::Source::none, std::move(measured),
            "fewer than two of its kernels are compiled"});
  }
  return Status::success();
}

/// Decides on the jobs; an exchange over the group.
Status Communicator::Impl::Tuner::planJobs() {
  IRISRT_ASSIGN_OR_RETURN(machine, describeMachine(world, impl.agreement));
  std::string plan;
  Status opened;
  if (impl.group.index == 0) {
    Expected<TunedChoices> choices = TunedChoices::open(*impl.cache);
    opened = choices.status();
    if (choices.ok()) {
      kept.emplace(choices.take());
      plan = makePlan();
    }
  }
  IRISRT_RETURN_IF_ERROR(impl.agreement.succeeded(opened));
  IRISRT_ASSIGN_OR_RETURN(plan, impl.agreement.firstText(plan));
  IRISRT_RETURN_IF_ERROR(readPlan(plan));
  // The configs follow from each rank's model.
  std::vector<std::string> described;
  for (const Job &job : jobs)
    for (const auto &[name, spec] : candidatesOf(job.measured))
      described.push_back(ccl::describe(spec));
  return impl.agreement.same("the kernels to measure",
                             DiskCache::keyOf(described));
}

//===----------------------------------------------------------------------===//
// Kernels and buffers
//===----------------------------------------------------------------------===//

/// Compiles the candidates, each on one rank, several at once. Errors are found
/// again when a kernel is loaded.
void Communicator::Impl::Tuner::compile() {
  std::vector<KernelRequest> requests;
  size_t i = 0;
  for (const Job &job : jobs)
    for (const auto &[name, spec] : candidatesOf(job.measured))
      if (i++ % impl.group.ranks.size() ==
          static_cast<size_t>(impl.group.index))
        requests.push_back(impl.requestOf(kernelSpec(spec)));
  compileAhead(*impl.cache, requests);
}

/// Returns the largest chunk for which there is memory, agreed on by all ranks
/// of the world; 0 if nothing is to be measured.
Expected<uint64_t> Communicator::Impl::Tuner::agreeOnBytes() {
  Expected<uint64_t> free = world.freeDeviceBytes();
  // The maximum of negative numbers is the least free memory.
  double room = free.ok() ? -static_cast<double>(*free) : 0;
  IRISRT_ASSIGN_OR_RETURN(
      std::vector<double> agreed,
      everyone.greatest(std::vector<double>{
          jobs.empty() ? 0. : 1., world.capturing() ? 1. : 0., room}));
  if (agreed[0] == 0)
    return uint64_t(0);
  auto skip = [&](const std::string &why) {
    for (Job &job : jobs)
      note({TunedCollective::Source::none, job.measured, why});
    jobs.clear();
    return uint64_t(0);
  };
  if (agreed[1] != 0)
    return skip("a stream is being captured");
  const uint64_t most =
      std::min(static_cast<uint64_t>(-agreed[2]) / freeMemoryDivisor,
               world.heapBytes() - world.heapUsed());
  uint64_t bytes = 0;
  for (uint64_t size : chunkSizes)
    if (2 * impl.group.ranks.size() * size <= most)
      bytes = size;
  if (bytes == 0)
    return skip(formatString("there is room for %llu KiB on the heap",
                             static_cast<unsigned long long>(most >> 10)));
  return bytes;
}

/// Allocates an input and an output of one chunk for every rank.
Status Communicator::Impl::Tuner::allocate(uint64_t chunkBytes) {
  const uint64_t bytes = impl.group.ranks.size() * chunkBytes;
  IRISRT_ASSIGN_OR_RETURN(in, world.allocate(bytes, 4096));
  IRISRT_ASSIGN_OR_RETURN(out, world.allocate(bytes, 4096));
  return Status::success();
}

/// Frees the buffers, and makes their memory available again.
Status Communicator::Impl::Tuner::release() {
  Status status;
  for (uint64_t *address : {&in, &out}) {
    if (*address == 0)
      continue;
    Status freed = world.deallocate(std::exchange(*address, 0));
    status = status.ok() ? freed : status;
  }
  Status synced = world.sync();
  return status.ok() ? synced : status;
}

/// Loads a kernel on all ranks of the group. Returns nothing if one of them
/// cannot, or would have to compile it.
Expected<std::optional<Chosen>>
Communicator::Impl::Tuner::load(const Spec &spec, int64_t programs) {
  const Spec key = kernelSpec(spec);
  auto found = impl.kernels.find(key);
  if (found == impl.kernels.end()) {
    auto loadHere = [&]() -> Expected<LoadedKernel> {
      if (request.level == TuneLevel::full)
        return impl.loadAlone(key);
      std::optional<CompiledKernel> compiled =
          impl.cache->findCompiled(impl.requestOf(key));
      if (!compiled)
        return makeStatus(StatusCode::unavailable, "it is not compiled");
      return impl.load(key, *compiled);
    };
    Expected<LoadedKernel> loaded = loadHere();
    Expected<uint64_t> most = impl.agreement.least(
        loaded.ok() ? Expected<uint64_t>(loaded->programs) : loaded.status());
    Status same = most.ok() ? impl.agreement.same("a kernel",
                                                  loaded->kernel.info().config)
                            : most.status();
    IRISRT_RETURN_IF_ERROR(world.failure());
    if (!same.ok()) {
      impl.log.info("%s is not measured: %s", ccl::describe(key).c_str(),
                    same.message().c_str());
      return std::optional<Chosen>();
    }
    loaded->programs = *most;
    found = impl.kernels.emplace(key, *loaded).first;
  }
  Chosen chosen = {&found->second, found->second.programs};
  if (usesCopyEngine(spec.op, spec.config.variant)) {
    Status opened = impl.agreement.succeeded(impl.side.open());
    IRISRT_RETURN_IF_ERROR(world.failure());
    if (!opened.ok())
      return std::optional<Chosen>();
    chosen.programs = 1;
    chosen.usesCopyEngine = true;
  } else if (programs != 0) {
    chosen.programs =
        std::min(chosen.programs, static_cast<uint64_t>(programs));
  }
  return std::optional<Chosen>(chosen);
}

//===----------------------------------------------------------------------===//
// Measurement
//===----------------------------------------------------------------------===//

/// Measures the kernels that are candidates for a size.
Status Communicator::Impl::Tuner::measureSize(
    Job &job, size_t size,
    const std::vector<std::pair<KernelName, Spec>> &all) {
  MeasuredCollective &measured = job.measured;
  const uint64_t bytes = measured.sizes[size];
  std::vector<Entrant> entrants;
  std::vector<double> expected;
  const size_t most = limitsOfCollectives(request.level).candidates;
  for (const KernelEstimate &each : kernelEstimates(keyOf(measured, bytes))) {
    const KernelName name = KernelName::of(each.kernel);
    auto candidate = std::find_if(all.begin(), all.end(), [&](const auto &one) {
      return one.first == name;
    });
    auto named = std::find_if(
        measured.kernels.begin(), measured.kernels.end(),
        [&](const MeasuredKernel &kernel) { return kernel.name == name; });
    if (candidate == all.end() || named == measured.kernels.end() ||
        entrants.size() == most)
      continue;
    IRISRT_ASSIGN_OR_RETURN(
        std::optional<Chosen> chosen,
        load(candidate->second, each.estimate.config.programs));
    if (!chosen) {
      measured.kernels.erase(named);
      continue;
    }
    entrants.push_back({name, *chosen});
    expected.push_back(each.estimate.us);
  }
  if (entrants.empty())
    return Status::success();
  auto addressOf = [](uint64_t address) {
    return reinterpret_cast<void *>(address);
  };
  Call call = makeCall(measured.op, addressOf(in), addressOf(out),
                       measured.dtype, Stream());
  call.count = bytes / dtypeBytes(measured.dtype);
  IRISRT_ASSIGN_OR_RETURN(
      CheckedCall checked,
      checkCall(call, static_cast<uint32_t>(impl.group.ranks.size()),
                static_cast<uint32_t>(impl.group.index)));
  std::vector<MeasuredCall> calls;
  for (size_t i = 0; i < entrants.size(); ++i) {
    const Chosen chosen = entrants[i].chosen;
    calls.push_back({[this, call, checked, chosen](Stream stream) {
                       Call each = call;
                       each.stream = stream;
                       return chosen.usesCopyEngine
                                  ? impl.copyChunks(each, checked, chosen)
                                  : impl.launch(each, checked, chosen);
                     },
                     expected[i]});
  }
  IRISRT_ASSIGN_OR_RETURN(
      std::vector<double> spent,
      impl.agreement.greatest(std::vector<double>{elapsedMs()}));
  spentMs = spent[0];
  MeasureLimits limits = limitsOfCollectives(request.level).measure;
  limits.totalMs = request.limitMs - spentMs;
  if (limits.totalMs <= 0)
    return Status::success();
  IRISRT_ASSIGN_OR_RETURN(
      MeasuredTimes times,
      measureCalls(world, impl.agreement, calls, limits, *request.clock));
  for (size_t i = 0; i < entrants.size(); ++i) {
    // A call that was dropped is slow by the time of its trial.
    double us = std::isfinite(times.us[i]) ? times.us[i] : times.trialUs[i];
    for (MeasuredKernel &kernel : measured.kernels)
      if (kernel.name == entrants[i].name)
        kernel.us[size] = us;
  }
  return Status::success();
}

Status Communicator::Impl::Tuner::measure(Job &job, uint64_t mostBytes) {
  const std::vector<std::pair<KernelName, Spec>> all =
      candidatesOf(job.measured);
  for (size_t size = 0; size < job.measured.sizes.size(); ++size) {
    if (job.measured.sizes[size] > mostBytes)
      break;
    IRISRT_RETURN_IF_ERROR(
        impl.agreement.succeeded(measureSize(job, size, all)));
    if (spentMs >= request.limitMs)
      break;
  }
  return Status::success();
}

/// Measures all jobs. Those that do not fit into the limit are left to the
/// model.
Status Communicator::Impl::Tuner::measureJobs(uint64_t mostBytes) {
  for (Job &job : jobs) {
    Status measured;
    if (spentMs < request.limitMs)
      measured = measure(job, mostBytes);
    IRISRT_RETURN_IF_ERROR(world.failure());
    if (!measured.ok()) {
      // The world works: the model serves.
      impl.log.warning("%s: a measurement failed: %s",
                       opName(job.measured.op).data(),
                       measured.message().c_str());
      note({TunedCollective::Source::none, job.measured,
            "a measurement failed: " + measured.message()});
      continue;
    }
    const bool isUseful = job.measured.isUseful();
    // What did not fit into the limit is left to the next communicator.
    if (kept && (isUseful || spentMs < request.limitMs))
      kept->write(textKey(job.measured, request.level), job.measured.text());
    if (isUseful)
      note({TunedCollective::Source::measured, job.measured, ""});
    else
      note({TunedCollective::Source::none, job.measured,
            formatString("fewer than two kernels could be measured in %g ms",
                         request.limitMs)});
  }
  impl.log.info("measured %zu collectives in %.1f ms", jobs.size(), spentMs);
  return Status::success();
}

/// Every rank of the world makes the same calls of `everyone` and of the heap,
/// whatever fails on some of them.
Status Communicator::Impl::Tuner::run() {
  Status planned;
  if (impl.group.contains())
    planned = planJobs();
  IRISRT_RETURN_IF_ERROR(world.failure());
  IRISRT_RETURN_IF_ERROR(everyone.succeeded(planned));
  IRISRT_ASSIGN_OR_RETURN(uint64_t bytes, agreeOnBytes());
  if (bytes == 0)
    return Status::success();
  // Compilation does not count.
  const bool compiles = request.level == TuneLevel::full;
  if (compiles) {
    if (impl.group.contains())
      compile();
    IRISRT_RETURN_IF_ERROR(everyone.succeeded(Status::success()));
  }
  startMs += compiles ? elapsedMs() : 0;
  Status measured = everyone.succeeded(allocate(bytes));
  // The device is idle, and all ranks have their buffers.
  if (measured.ok())
    measured = world.sync();
  if (measured.ok() && impl.group.contains())
    measured = measureJobs(bytes);
  IRISRT_RETURN_IF_ERROR(world.failure());
  Status released = release();
  return measured.ok() ? released : measured;
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

Status Communicator::Impl::tuneWhenCreated(Agreement everyone) {
  IRISRT_RETURN_IF_ERROR(
      everyone.same("the tuning of a communicator",
                    formatString("%s, up to %g ms", tuneLevelName(tuning.level),
                                 tuning.limitMs)));
  if (tuning.level == TuneLevel::off)
    return Status::success();
  whyNotTuned = whyNotMeasured(world);
  if (!whyNotTuned.empty())
    return Status::success();
  // Ranks may have different devices.
  uint64_t hasModel = hasOwnModel(world) ? 1 : 0;
  IRISRT_ASSIGN_OR_RETURN(hasModel, everyone.least(hasModel));
  if (tuning.level == TuneLevel::quick && hasModel != 0)
    return Status::success();
  if (group.ranks.size() == 1)
    whyNotTuned = "the group has one rank";
  else if (options.workspaceBytes < defaultWorkspaceBytes)
    whyNotTuned = "the workspace is smaller than the default";
  else if (options.rewrite)
    whyNotTuned = "the requests of kernels are rewritten";
  if (!whyNotTuned.empty())
    return Status::success();
  mayTune = true;
  return Tuner(*this, CollectiveTuneScope::all(), everyone).run();
}

Status Communicator::Impl::tuneWhenPrepared(const Call &call,
                                            Placement placement) {
  if (!mayTune || group.ranks.size() != world.numRanks() ||
      !CollectiveTuneScope::canMeasure(call.op) ||
      (call.config && !(*call.config == Config())))
    return Status::success();
  CollectiveTuneScope scope;
  scope.ops = {call.op};
  scope.dtypes = {call.dtype};
  scope.elsewhere = placement == Placement::anywhere;
  IRISRT_RETURN_IF_ERROR(Tuner(*this, scope, agreement).run());
  // Earlier calls may have chosen other kernels.
  choices.clear();
  return Status::success();
}

const TunedCollective *Communicator::Impl::findTuned(Op op, bool onHeap) const {
  for (const TunedCollective &each : tuned)
    if (each.measured.op == op && each.measured.onHeap == onHeap)
      return &each;
  return nullptr;
}

Selection Communicator::Impl::selectFor(const TuningKey &key) const {
  const TunedCollective *known = findTuned(key.op, key.onHeap);
  if (known && known->source != TunedCollective::Source::none) {
    const bool isKept = known->source == TunedCollective::Source::kept;
    if (std::optional<MeasuredSelection> found = known->measured.select(key))
      return {found->config, found->us,
              (isKept ? "table: " : "measured: ") + found->reason +
                  (isKept ? "; measured earlier on this machine" : "")};
  }
  const Choice choice = select(key);
  Selection selection = {choice.config, 0, "model: " + choice.reason};
  for (const Estimate &each : estimates(key))
    if (each.config.variant == choice.config.variant &&
        each.config.tile == choice.config.tile &&
        each.config.warps == choice.config.warps) {
      selection.us = each.us;
      break;
    }
  selection.text +=
      "; constants: " + choiceSource(world.deviceKind(), key.attributes);
  const std::string &why = known ? known->why : whyNotTuned;
  if (!why.empty())
    selection.text += "; not measured: " + why;
  return selection;
}
