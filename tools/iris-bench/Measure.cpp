// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Measure.cpp - Measurements of one rank -----------------------------===//
#include "Measure.h"

#include "Calibrate.h"

#include "Data.h"

#include "iris/ccl/KernelCache.h"
#include "iris/ccl/Selector.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <tuple>

using namespace iris;
using namespace iris::bench;
using ccl::Op;
using rt::Expected;
using rt::Status;
using rt::StatusCode;

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

ccl::TuningKey iris::bench::tuningKeyOf(const Options &options, Op op,
                                        ccl::DType dtype, uint64_t bytes) {
  ccl::TuningKey tuningKey;
  tuningKey.op = op;
  tuningKey.dtype = dtype;
  tuningKey.bytes = bytes;
  tuningKey.groupSize = options.numRanks;
  tuningKey.device = options.device.kind;
  tuningKey.attributes = options.attributesOrNull();
  tuningKey.alignment = bytes & ~(bytes - 1);
  tuningKey.inPlace = options.inPlace;
  tuningKey.onHeap = !options.staged;
  return tuningKey;
}

static ccl::Config chooseConfig(const Options &options, Op op, ccl::DType dtype,
                                uint64_t bytes) {
  return ccl::select(tuningKeyOf(options, op, dtype, bytes)).config;
}

static std::vector<std::string> variantsFor(const Options &options, Op op) {
  if (options.variants.empty())
    return {""};
  if (asksForAll(options)) {
    std::vector<std::string> all = ccl::variantsOf(op);
    bool isSum = options.reduce == ccl::ReduceOp::sum;
    all.erase(std::remove_if(
                  all.begin(), all.end(),
                  [&](const std::string &variant) {
                    bool isOfSums = ccl::getCollective(op).find(variant)->has(
                        ccl::plan::anyOrder);
                    return (!isSum && isOfSums) ||
                           (options.staged && !ccl::hasStagedForm(op, variant));
                  }),
              all.end());
    return all;
  }
  std::vector<std::string> some;
  for (const std::string &variant : options.variants) {
    const std::vector<std::string> &all = ccl::variantsOf(op);
    if (std::find(all.begin(), all.end(), variant) != all.end())
      some.push_back(variant);
  }
  return some;
}

/// The selector's config, or its config for the variant; for a variant that it
/// does not consider, the generator's defaults.
static ccl::Config baseConfig(const Options &options, Op op, ccl::DType dtype,
                              uint64_t bytes, const std::string &variant) {
  ccl::Config chosen = chooseConfig(options, op, dtype, bytes);
  if (variant.empty() || variant == chosen.variant)
    return chosen;
  for (const ccl::Estimate &each :
       ccl::estimates(tuningKeyOf(options, op, dtype, bytes)))
    if (each.config.variant == variant) {
      ccl::Config config = each.config;
      config.staged = chosen.staged;
      return config;
    }
  chosen.variant = variant;
  chosen.tile = chosen.warps = 0;
  return chosen;
}

/// The config of a variant, with the fields that the options give.
static std::vector<ccl::Config> configsFor(const Options &options, Op op,
                                           ccl::DType dtype, uint64_t bytes,
                                           const std::string &variant) {
  std::vector<ccl::Config> configs;
  ccl::Config base = baseConfig(options, op, dtype, bytes, variant);
  for (int64_t programs : options.programs)
    for (int64_t tile : options.tiles)
      for (int64_t warps : options.warps) {
        ccl::Config config = base;
        if (programs)
          config.programs = programs;
        if (tile)
          config.tile = tile;
        if (warps)
          config.warps = warps;
        configs.push_back(config);
      }
  return configs;
}

std::vector<Case> iris::bench::casesOf(const Options &options) {
  std::vector<Case> cases;
  if (!options.calibratePath.empty()) {
    for (const ccl::CalibrationCall &call : calibrationCallsOf(options))
      cases.push_back({call.op, call.dtype,
                       call.bytes / ccl::dtypeBytes(call.dtype),
                       options.modes.front(), call.config, false,
                       ccl::ReduceOp::sum, false, /*mayBeImpossible=*/true});
    return cases;
  }
  for (const Options &part : options.plan)
    for (Case &each : casesOf(part))
      cases.push_back(std::move(each));
  if (!options.plan.empty())
    return cases;
  for (Op op : options.ops)
    for (ccl::DType dtype : options.dtypes)
      for (Mode mode : options.modes)
        for (const std::string &variant : variantsFor(options, op))
          for (uint64_t bytes : options.sizes) {
            uint64_t count =
                std::max<uint64_t>(bytes / ccl::dtypeBytes(dtype), 1);
            for (const ccl::Config &config :
                 configsFor(options, op, dtype, bytes, variant)) {
              Case each{op,
                        dtype,
                        count,
                        mode,
                        config,
                        config == chooseConfig(options, op, dtype, bytes),
                        options.reduce,
                        options.inPlace,
                        asksForAll(options)};
              each.isOpen = options.level && each.chosen && variant.empty() &&
                            !ccl::getCollective(op).hasCounts() &&
                            !ccl::getCollective(op).isPointToPoint();
              cases.push_back(each);
            }
          }
  return cases;
}

std::set<std::string> iris::bench::requestsOf(const Options &options,
                                              const std::vector<Case> &cases) {
  std::set<std::string> requests;
  auto add = [&](Op op, ccl::DType dtype, ccl::ReduceOp reduce,
                 const ccl::Config &config) {
    requests.insert(
        ccl::kernelSource(op, dtype, reduce, options.numRanks, config));
  };
  for (const Case &each : cases) {
    add(each.op, each.dtype, each.reduce, each.config);
    if (each.inPlace && ccl::hasStagedForm(each.op, each.config.variant)) {
      ccl::Config staged = each.config;
      staged.staged =
          true; // used if the kernel does not support in-place calls
      add(each.op, each.dtype, each.reduce, staged);
    }
    if (each.op == Op::send)
      add(Op::recv, each.dtype, each.reduce, each.config);
  }
  // Calls of Measurement itself, which are in place and on the heap in any
  // case.
  Options own = options;
  own.staged = false;
  own.inPlace = true;
  add(Op::allReduce, ccl::DType::f64, ccl::ReduceOp::max,
      chooseConfig(own, Op::allReduce, ccl::DType::f64, 8));
  add(Op::barrier, ccl::DType::i8, {},
      chooseConfig(own, Op::barrier, ccl::DType::i8, 0));
  return requests;
}

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

/// The files that `--package` names: one, or all packages of a folder.
static Expected<std::vector<std::string>> packagesAt(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error))
    return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::directory_iterator each(path, error), end; !error && each != end;
       each.increment(error))
    if (each->path().extension() == ".iris")
      files.push_back(each->path().string());
  if (error)
    return rt::makeStatus(StatusCode::unavailable, "cannot read '%s': %s",
                          path.c_str(), error.message().c_str());
  if (files.empty())
    return rt::makeStatus(StatusCode::invalidArgument,
                          "'%s' has no packages; expected files NAME.iris",
                          path.c_str());
  std::sort(files.begin(), files.end());
  return files;
}

Expected<std::unique_ptr<Measurement>>
Measurement::create(const Options &options, const std::vector<Case> &cases,
                    uint64_t more) {
  uint64_t largest = 1;
  for (const Case &each : cases)
    largest = std::max(largest, each.count * ccl::dtypeBytes(each.dtype));
  uint64_t bytes = largest * options.numRanks;

  ccl::CommunicatorOptions commOptions;
  commOptions.tuning.level = options.level.value_or(rt::TuneLevel::off);
  rt::WorldOptions worldOptions;
  worldOptions.device = options.device;
  worldOptions.heapBytes =
      options.heapBytes
          ? options.heapBytes
          : 2 * bytes + commOptions.workspaceBytes + (64 << 20) + more;
  IRISRT_ASSIGN_OR_RETURN(std::unique_ptr<rt::World> world,
                          rt::World::create(worldOptions));
  std::unique_ptr<Measurement> self(new Measurement(options, std::move(world)));
  self->bytes_ = bytes;
  rt::World &w = *self->world_;
  IRISRT_ASSIGN_OR_RETURN(self->comm_,
                          ccl::Communicator::create(w, commOptions));
  for (const std::string &path : options.packages) {
    IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> files, packagesAt(path));
    for (const std::string &file : files)
      IRISRT_RETURN_IF_ERROR(self->comm_->addPackage(file));
  }
  // Measures the kernels of the cases whose config is open.
  std::set<std::tuple<Op, ccl::DType, ccl::ReduceOp>> prepared;
  for (const Case &each : cases)
    if (each.isOpen &&
        prepared.insert({each.op, each.dtype, each.reduce}).second)
      IRISRT_RETURN_IF_ERROR(
          self->comm_->prepare(each.op, each.dtype, each.reduce));
  IRISRT_ASSIGN_OR_RETURN(self->exchange_, w.allocate(512));
  IRISRT_ASSIGN_OR_RETURN(self->in_, w.allocate(bytes));
  IRISRT_ASSIGN_OR_RETURN(self->out_, w.allocate(bytes));
  IRISRT_ASSIGN_OR_RETURN(self->stream_, w.createStream());
  IRISRT_ASSIGN_OR_RETURN(self->start_, w.createEvent());
  IRISRT_ASSIGN_OR_RETURN(self->end_, w.createEvent());
  return self;
}

Status Measurement::finish() {
  IRISRT_RETURN_IF_ERROR(comm_->destroy());
  return world_->destroy();
}

//===----------------------------------------------------------------------===//
// One case
//===----------------------------------------------------------------------===//

/// Counts and offsets, behind what ranks tell each other.
static constexpr uint64_t tablesAt = 128;

ccl::Call Measurement::callOf(const Case &each, uint64_t in, uint64_t out) {
  // In host mode, time a call as users make it, without a config.
  bool isPlain = each.mode == Mode::host && each.chosen && !each.config.staged;
  const ccl::Config *config = isPlain || each.isOpen ? nullptr : &each.config;
  ccl::Call call;
  call.op = each.op;
  call.in = reinterpret_cast<const void *>(in);
  call.out = reinterpret_cast<void *>(out);
  call.count = each.count;
  call.dtype = each.dtype;
  call.reduce = each.reduce;
  call.stream = stream_;
  call.config = config;
  if (ccl::getCollective(each.op).hasCounts()) {
    Data data(each.op, each.dtype, each.reduce, world_->numRanks(), each.count);
    uint64_t element = ccl::dtypeBytes(each.dtype);
    call.inSize = data.inputBytes(world_->rank()) / element;
    call.outSize = data.outputBytes(world_->rank()) / element;
    auto *tables = reinterpret_cast<const int64_t *>(exchange_ + tablesAt);
    call.inChunks = call.outChunks = {tables, tables + world_->numRanks()};
  }
  return call;
}

Status Measurement::call(const Case &each, uint64_t in, uint64_t out) {
  ccl::Call call = callOf(each, in, out);
  if (!ccl::getCollective(each.op).isPointToPoint())
    return comm_->run(call);
  // Pairs: even ranks send to the next one.
  uint32_t rank = world_->rank();
  bool receives = rank % 2 == 1;
  if (!receives && rank + 1 == world_->numRanks())
    return Status::success();
  call.op = receives ? Op::recv : Op::send;
  call.root = receives ? rank - 1 : rank + 1;
  return comm_->run(call);
}

Expected<double> Measurement::largest(double mine) {
  void *buffer = reinterpret_cast<void *>(exchange_);
  IRISRT_RETURN_IF_ERROR(world_->writeNow(exchange_, &mine, 8, stream_));
  IRISRT_RETURN_IF_ERROR(comm_->allReduce(buffer, buffer, 1, ccl::DType::f64,
                                          ccl::ReduceOp::max, stream_));
  double result = 0;
  IRISRT_RETURN_IF_ERROR(world_->readNow(&result, exchange_, 8, stream_));
  return result;
}

Status Measurement::checkOutput(const Case &each, uint64_t out) {
  Data data(each.op, each.dtype, each.reduce, world_->numRanks(), each.count);
  bool idle = each.op == Op::send && world_->numRanks() % 2 == 1 &&
              world_->rank() + 1 == world_->numRanks();
  std::vector<uint8_t> want =
      idle ? std::vector<uint8_t>() : data.output(world_->rank());
  std::vector<uint8_t> got(want.size());
  if (!got.empty())
    IRISRT_RETURN_IF_ERROR(
        world_->readNow(got.data(), out, got.size(), stream_));
  size_t element = ccl::dtypeBytes(each.dtype), wrong = 0;
  while (wrong < want.size() && want[wrong] == got[wrong])
    ++wrong;
  bool isWrong = wrong < want.size();
  IRISRT_ASSIGN_OR_RETURN(double any, largest(isWrong ? 1 : 0));
  if (isWrong)
    return rt::makeStatus(StatusCode::internal,
                          "element %zu of the output of rank %u is wrong",
                          wrong / element, world_->rank());
  if (any != 0)
    return rt::makeStatus(StatusCode::internal,
                          "the output is wrong on another rank");
  return Status::success();
}

/// The quantile of sorted samples, interpolated linearly.
static double quantile(const std::vector<double> &sorted, double fraction) {
  double position = fraction * static_cast<double>(sorted.size() - 1);
  size_t below = static_cast<size_t>(position);
  size_t above = std::min(below + 1, sorted.size() - 1);
  double weight = position - static_cast<double>(below);
  return sorted[below] * (1 - weight) + sorted[above] * weight;
}

/// The number of calls per sample, reduced if a sample would take too long.
static uint32_t callsOf(const Options &options, double callMs) {
  constexpr double maxMs = 20;
  double calls = std::clamp(maxMs / std::max(callMs, 1e-6), 1.0,
                            static_cast<double>(options.calls));
  return static_cast<uint32_t>(calls);
}

Expected<Timing> Measurement::time(Mode mode, const Call &call, double callMs) {
  rt::World &w = *world_;
  const uint32_t calls = callsOf(options_, callMs);
  std::optional<rt::Graph> graph;
  if (mode == Mode::graph) {
    IRISRT_RETURN_IF_ERROR(w.beginCapture(stream_));
    Status status;
    for (uint32_t i = 0; status.ok() && i < calls; ++i)
      status = call();
    IRISRT_ASSIGN_OR_RETURN(graph, w.endCapture(stream_));
    IRISRT_RETURN_IF_ERROR(status);
  }
  std::vector<double> samples;
  for (uint32_t i = 0; i < options_.warmups + options_.samples; ++i) {
    // Synchronize the hosts, then the devices, so that all ranks start
    // together.
    IRISRT_RETURN_IF_ERROR(w.barrier());
    IRISRT_RETURN_IF_ERROR(comm_->barrier(stream_));
    IRISRT_RETURN_IF_ERROR(w.record(start_, stream_));
    const auto begin = std::chrono::steady_clock::now();
    if (graph) {
      IRISRT_RETURN_IF_ERROR(w.launchGraph(*graph, stream_));
    } else {
      for (uint32_t c = 0; c < calls; ++c)
        IRISRT_RETURN_IF_ERROR(call());
    }
    const std::chrono::duration<double, std::milli> onHost =
        std::chrono::steady_clock::now() - begin;
    IRISRT_RETURN_IF_ERROR(w.record(end_, stream_));
    IRISRT_RETURN_IF_ERROR(w.synchronize(stream_));
    IRISRT_ASSIGN_OR_RETURN(double ms, w.elapsedMs(start_, end_));
    if (mode == Mode::host)
      ms = onHost.count();
    IRISRT_ASSIGN_OR_RETURN(double slowest, largest(ms));
    if (i >= options_.warmups)
      samples.push_back(1000 * slowest / calls);
  }
  if (graph)
    IRISRT_RETURN_IF_ERROR(w.destroyGraph(*graph));
  std::sort(samples.begin(), samples.end());
  return Timing{quantile(samples, 0.5),  quantile(samples, 0.25),
                quantile(samples, 0.75), samples.front(),
                samples.back(),          calls};
}

Expected<double> Measurement::first(const Call &call, const Call &check) {
  auto begin = std::chrono::steady_clock::now();
  IRISRT_RETURN_IF_ERROR(call());
  IRISRT_RETURN_IF_ERROR(world_->synchronize(stream_));
  std::chrono::duration<double, std::milli> first =
      std::chrono::steady_clock::now() - begin;
  IRISRT_RETURN_IF_ERROR(check());
  return first.count();
}

Expected<double> Measurement::timeOne(const Call &call) {
  IRISRT_RETURN_IF_ERROR(comm_->barrier(stream_));
  IRISRT_RETURN_IF_ERROR(world_->record(start_, stream_));
  IRISRT_RETURN_IF_ERROR(call());
  IRISRT_RETURN_IF_ERROR(world_->record(end_, stream_));
  IRISRT_RETURN_IF_ERROR(world_->synchronize(stream_));
  IRISRT_ASSIGN_OR_RETURN(double ms, world_->elapsedMs(start_, end_));
  return largest(ms);
}

Expected<Timing> Measurement::run(const Case &each) {
  Data data(each.op, each.dtype, each.reduce, world_->numRanks(), each.count);
  uint32_t rank = world_->rank();
  const uint64_t base = each.inPlace ? in_ : out_;
  uint64_t in = in_, out = base;
  if (each.inPlace) {
    bool inIsLarger = data.inputBytes(rank) > data.outputBytes(rank);
    (inIsLarger ? out : in) += data.inPlaceOffset(rank);
  }
  // In place, later calls use the output of earlier ones as input, so only the
  // first call is checked.
  std::vector<uint8_t> input = data.input(rank);
  std::vector<int64_t> tables = data.tables();
  auto prepare = [&]() -> Status {
    IRISRT_RETURN_IF_ERROR(world_->zero(base, bytes_, stream_));
    if (!tables.empty())
      IRISRT_RETURN_IF_ERROR(world_->writeNow(
          exchange_ + tablesAt, tables.data(), 8 * tables.size(), stream_));
    if (!input.empty())
      IRISRT_RETURN_IF_ERROR(
          world_->writeNow(in, input.data(), input.size(), stream_));
    return world_->synchronize(stream_);
  };
  IRISRT_RETURN_IF_ERROR(prepare());
  Call callOnce = [&] { return call(each, in, out); };
  Call check = [&] { return checkOutput(each, out); };
  // May compile the kernel or load it from disk.
  IRISRT_ASSIGN_OR_RETURN(double firstMs, first(callOnce, check));
  IRISRT_ASSIGN_OR_RETURN(double ms, timeOne(callOnce));
  if (!each.inPlace)
    IRISRT_RETURN_IF_ERROR(
        prepare()); // clears the output before the next check
  IRISRT_ASSIGN_OR_RETURN(Timing timing, time(each.mode, callOnce, ms));
  timing.firstMs = firstMs;
  if (each.isOpen) {
    IRISRT_ASSIGN_OR_RETURN(timing.choice,
                            comm_->explain(callOf(each, in, out)));
  }
  if (!each.inPlace)
    IRISRT_RETURN_IF_ERROR(checkOutput(each, out));
  return timing;
}
