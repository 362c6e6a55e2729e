// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Calibration.cpp - Cost models from measurements --------------------===//
#include "iris/ccl/Calibration.h"

#include "ccl/CostModel.h"
#include "ccl/FitKernel.h"
#include "ccl/Spec.h"
#include "core/Files.h"
#include "iris/Plan/CollectiveWork.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>

using namespace iris::ccl;
using namespace iris::rt;

/// A kernel has to be compiled and loaded: another one is kept while it makes
/// the best times faster by this factor, on average.
static constexpr double leastGain = 1.0015;
static constexpr size_t maxKernelsPerVariant = 2;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Whether the selector may take a variant that is not named, and the fit
/// describes it: operations of one length, of all ranks.
static bool isCalibrated(Op op, const plan::Variant &variant, bool onHeap) {
  const plan::Collective &collective = getCollective(op);
  if (!collective.hasBuffers() || collective.hasCounts() ||
      collective.isPointToPoint())
    return false;
  if (!variant.hasKernel() || variant.has(plan::onlyByName) ||
      variant.has(plan::anyOrder))
    return false;
  if (onHeap)
    return true;
  return hasRoot(op) ? variant.hasStagedForm() : variant.has(plan::anywhere);
}

/// Tiles and warps of a variant: the generator's, and on GPUs those that any
/// model has.
static std::vector<std::pair<int64_t, int64_t>>
shapesOf(DeviceKind device, Op op, const std::string &variant) {
  std::vector<std::pair<int64_t, int64_t>> shapes = {{0, 0}};
  if (device == DeviceKind::host)
    return shapes;
  for (const DeviceModel &model : embeddedDeviceModels())
    for (const auto *kernels : {&model.kernels, &model.stagedKernels})
      for (const KernelModel &kernel : *kernels) {
        std::pair<int64_t, int64_t> shape(kernel.tileBytes, kernel.warps);
        if (kernel.op == op && kernel.variant == variant &&
            std::find(shapes.begin(), shapes.end(), shape) == shapes.end())
          shapes.push_back(shape);
      }
  return shapes;
}

std::vector<CalibrationCall> iris::ccl::calibrationCalls(
    DeviceKind device, const DeviceAttributes &attributes, uint32_t groupSize,
    DType dtype, const std::vector<Op> &ops,
    const std::vector<uint64_t> &sizes) {
  const LinkModel &links =
      deviceModelOf(device, attributes.target, &attributes).links;
  std::vector<CalibrationCall> calls;
  auto add = [&](const KernelModel &kernel, bool onHeap) {
    TuningKey key;
    key.op = kernel.op;
    key.dtype = dtype;
    key.groupSize = groupSize;
    // A staged kernel takes larger chunks in rounds, which the fit does not
    // describe.
    const uint64_t most = roomOf(kernel.variant, key);
    for (uint64_t bytes : sizes)
      for (int64_t programs : links.programs) {
        if (bytes > most ||
            programs > getCollective(kernel.op).maxPrograms(groupSize))
          continue;
        CalibrationCall call;
        call.op = kernel.op;
        call.dtype = dtype;
        call.bytes = bytes;
        call.config.variant = kernel.variant;
        call.config.tile = tileOf(kernel, dtype, groupSize, links.warpSize);
        call.config.warps = kernel.warps;
        call.config.programs = programs;
        call.config.staged = !onHeap;
        calls.push_back(call);
      }
  };
  for (Op op : ops)
    for (bool onHeap : {true, false})
      for (const plan::Variant &variant : getCollective(op)) {
        if (!isCalibrated(op, variant, onHeap))
          continue;
        KernelModel kernel = {};
        kernel.op = op;
        kernel.variant = std::string(variant.name);
        for (const auto &[tileBytes, warps] :
             shapesOf(device, op, kernel.variant)) {
          kernel.tileBytes = tileBytes;
          kernel.warps = warps;
          add(kernel, onHeap);
        }
      }
  return calls;
}

//===----------------------------------------------------------------------===//
// Fit
//===----------------------------------------------------------------------===//

namespace {
/// A kernel with its measurements: the best time of each size over the numbers
/// of programs.
struct MeasuredShape {
  KernelModel kernel = {};
  std::vector<const CalibrationCall *> calls;
  std::map<uint64_t, double> best;
};

/// The kernels of an operation, for buffers on the heap or others.
using Shapes = std::vector<MeasuredShape>;
} // namespace

static KernelModel kernelOf(const CalibrationCall &call) {
  KernelModel kernel = {};
  kernel.op = call.op;
  kernel.variant = call.config.variant;
  kernel.tileBytes =
      call.config.tile * (reduces(call.op) ? dtypeBytes(call.dtype) : 1);
  kernel.warps = call.config.warps;
  return kernel;
}

static Shapes shapesOfCalls(const std::vector<CalibrationCall> &calls, Op op,
                            bool onHeap) {
  Shapes shapes;
  for (const CalibrationCall &call : calls) {
    if (call.op != op || call.config.staged == onHeap || !(call.us > 0))
      continue;
    KernelModel kernel = kernelOf(call);
    auto shape = std::find_if(
        shapes.begin(), shapes.end(), [&](const MeasuredShape &other) {
          return other.kernel.variant == kernel.variant &&
                 other.kernel.tileBytes == kernel.tileBytes &&
                 other.kernel.warps == kernel.warps;
        });
    if (shape == shapes.end()) {
      shapes.push_back({kernel, {}, {}});
      shape = shapes.end() - 1;
    }
    shape->calls.push_back(&call);
    auto [best, isNew] = shape->best.try_emplace(call.bytes, call.us);
    if (!isNew)
      best->second = std::min(best->second, call.us);
  }
  return shapes;
}

/// The best time of each size.
static std::map<uint64_t, double>
bestOfSizes(const std::vector<const MeasuredShape *> &shapes) {
  std::map<uint64_t, double> best;
  for (const MeasuredShape *shape : shapes)
    for (const auto &[bytes, us] : shape->best) {
      auto [found, isNew] = best.try_emplace(bytes, us);
      if (!isNew)
        found->second = std::min(found->second, us);
    }
  return best;
}

/// Chooses kernels one at a time, each time the one with the greatest gain.
static std::vector<const MeasuredShape *> chooseShapes(const Shapes &shapes) {
  std::vector<const MeasuredShape *> all, chosen;
  for (const MeasuredShape &shape : shapes)
    all.push_back(&shape);
  const std::map<uint64_t, double> best = bestOfSizes(all);
  // The geometric mean of the losses; a size that no kernel can run loses a
  // lot.
  auto lossOf = [&](const std::vector<const MeasuredShape *> &some) {
    const std::map<uint64_t, double> times = bestOfSizes(some);
    double sum = 0;
    for (const auto &[bytes, us] : best) {
      auto found = times.find(bytes);
      constexpr double impossible = 1000;
      sum += std::log(found == times.end() ? impossible : found->second / us);
    }
    return std::exp(sum /
                    static_cast<double>(std::max<size_t>(best.size(), 1)));
  };
  double loss = std::numeric_limits<double>::infinity();
  for (;;) {
    const MeasuredShape *next = nullptr;
    double least = loss;
    for (const MeasuredShape *shape : all) {
      const auto ofVariant = static_cast<size_t>(std::count_if(
          chosen.begin(), chosen.end(), [&](const MeasuredShape *other) {
            return other->kernel.variant == shape->kernel.variant;
          }));
      if (ofVariant >= maxKernelsPerVariant ||
          std::find(chosen.begin(), chosen.end(), shape) != chosen.end())
        continue;
      std::vector<const MeasuredShape *> with = chosen;
      with.push_back(shape);
      if (double lossWith = lossOf(with); lossWith < least) {
        least = lossWith;
        next = shape;
      }
    }
    if (!next || loss < least * leastGain)
      return chosen;
    chosen.push_back(next);
    loss = least;
  }
}

/// Four significant digits: measurements have no more.
static double rounded(double value) {
  return std::strtod(formatString("%.4g", value).c_str(), nullptr);
}

static std::optional<FittedKernelModel>
fitShape(const MeasuredShape &shape, const LinkModel &links, uint32_t groupSize,
         const std::map<uint64_t, double> &best) {
  const plan::Variant &variant =
      *getCollective(shape.kernel.op).find(shape.kernel.variant);
  const plan::CollectiveWork work = plan::getWork(variant, groupSize);
  std::vector<FitPoint> points;
  for (const CalibrationCall *call : shape.calls) {
    const int64_t tileBytes = shape.kernel.tileBytes != 0
                                  ? shape.kernel.tileBytes
                                  : plan::getDefaultTileBytes(variant);
    FitPoint point;
    const double bytes = static_cast<double>(call->bytes);
    const double tiles = std::ceil(bytes / static_cast<double>(tileBytes));
    point.programs = static_cast<double>(call->config.programs);
    point.iterations = work.countIterations(tiles, point.programs);
    point.linkBytes = work.linkChunks * bytes;
    point.us = call->us;
    // A kernel that is slower than another one at a size is not taken there.
    point.weight = best.at(call->bytes) / call->us;
    points.push_back(point);
  }
  std::optional<FittedKernel> fitted = fitKernel(points);
  if (!fitted)
    return std::nullopt;
  FittedKernelModel result;
  result.kernel = shape.kernel;
  KernelModel &kernel = result.kernel;
  // With one size of the group, half of a latency counts as that of the peers.
  const double peers = std::max(1.0, static_cast<double>(groupSize) - 1);
  auto split = [&](double us, double &alone, double &withPeers) {
    alone = rounded(us / 2);
    withPeers = rounded(us / 2 * 7 / peers);
  };
  split(fitted->startUs, kernel.startUs, kernel.startPeersUs);
  split(fitted->iterationUs, kernel.tileUs, kernel.tilePeersUs);
  kernel.programUs = rounded(fitted->programUs);
  // Where the data never limit, the links' rate does.
  const double linkRate =
      work.pulls ? links.pullBytesPerUs : links.pushBytesPerUs;
  kernel.bytesPerUs =
      rounded(fitted->byteUs > 0 ? 1 / fitted->byteUs : linkRate);
  kernel.overlaps = fitted->overlaps;
  result.fit =
      formatString("%.1f%% of %zu", 100 * fitted->meanError, points.size());
  return result;
}

Expected<std::string> iris::ccl::calibratedModel(
    DeviceKind device, const DeviceAttributes &attributes, uint32_t groupSize,
    const std::vector<CalibrationCall> &calls, const std::string &source) {
  FittedModel fitted;
  DeviceModel &model = fitted.model;
  model = deviceModelOf(device, attributes.target, &attributes);
  model.name = attributes.name;
  model.targets = {attributes.target};
  model.gpu = device == DeviceKind::host ? "" : attributes.name;
  model.links.source =
      source + "; constants of the links: " + model.links.source;
  bool isFitted = false;
  for (int32_t i = 0; plan::findCollective(i); ++i)
    for (bool onHeap : {true, false}) {
      const Op op = static_cast<Op>(i);
      const Shapes shapes = shapesOfCalls(calls, op, onHeap);
      std::vector<const MeasuredShape *> all;
      for (const MeasuredShape &shape : shapes)
        all.push_back(&shape);
      const std::map<uint64_t, double> best = bestOfSizes(all);
      std::vector<FittedKernelModel> &to =
          onHeap ? fitted.kernels : fitted.stagedKernels;
      const size_t before = to.size();
      for (const MeasuredShape *shape : chooseShapes(shapes))
        if (auto kernel = fitShape(*shape, model.links, groupSize, best))
          to.push_back(std::move(*kernel));
      const bool hasFitted = to.size() != before;
      isFitted = isFitted || hasFitted;
      // What was not measured stays as it is.
      for (const KernelModel &kernel :
           onHeap ? model.kernels : model.stagedKernels)
        if (kernel.op == op &&
            (!hasFitted || usesCopyEngine(op, kernel.variant)))
          to.push_back({kernel, "not measured by this calibration"});
    }
  if (!isFitted)
    return makeStatus(StatusCode::invalidArgument,
                      "no kernel has measurements of at least four pairs of a "
                      "size and a number of programs; expected more sizes");
  const std::string text = fitted.text();
  // What the library would refuse is not written.
  IRISRT_RETURN_IF_ERROR(
      parseDeviceModel(text, "the calibrated model").status());
  return text;
}

Status iris::ccl::writeCostModel(const std::string &path,
                                 const std::string &text) {
  return replaceOwnFile(path, text);
}
