// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Selector.cpp - Selection of collective configs ---------------------===//
#include "iris/ccl/Selector.h"

#include "ccl/CostModel.h"
#include "ccl/KernelEstimates.h"
#include "ccl/Spec.h"
#include "core/Log.h"

#include <algorithm>

using namespace iris::ccl;
using iris::rt::DeviceAttributes;
using iris::rt::DeviceKind;
using iris::rt::Expected;
using iris::rt::formatString;

/// Whether a variant may be chosen without being asked for: its result is the
/// same in every run.
static bool isEligible(Op op, const std::string &name, bool onHeap) {
  const plan::Variant *variant = getCollective(op).find(name);
  if (!variant || variant->has(plan::grouped))
    return false;
  if (hasRoot(op))
    return onHeap || variant->hasStagedForm();
  if (!onHeap && op != Op::barrier)
    return variant->has(plan::anywhere);
  return !variant->has(plan::onlyByName);
}

static Config configOf(const LinkModel &link, const KernelModel &kernel,
                       DType dtype, int64_t members) {
  Config config;
  config.variant = kernel.variant;
  config.tile = tileOf(kernel, dtype, members, link.warpSize);
  config.warps = kernel.warps;
  return config;
}

/// The candidate kernels and their configs. If the type allows only small
/// tiles, several table entries denote the same kernel.
static std::vector<std::pair<KernelModel, Config>>
eligibleKernels(const DeviceModel &device, Op op, DType dtype, int64_t members,
                bool onHeap) {
  std::vector<std::pair<KernelModel, Config>> kernels;
  for (const KernelModel &kernel : kernelModelsOf(device, op, onHeap)) {
    if (!isEligible(op, kernel.variant, onHeap))
      continue;
    Config config = configOf(device.links, kernel, dtype, members);
    config.staged = !onHeap && op != Op::barrier;
    bool isNew =
        std::none_of(kernels.begin(), kernels.end(),
                     [&](const auto &other) { return other.second == config; });
    if (isNew)
      kernels.emplace_back(kernel, config);
  }
  return kernels;
}

/// The estimate for the smallest number of programs that is nearly as fast as
/// the best one.
static Estimate bestOf(const DeviceModel &device, const KernelModel &kernel,
                       const Config &config, const TuningKey &tuningKey) {
  const LinkModel &link = device.links;
  Estimate best;
  best.config = config;
  if (usesCopyEngine(kernel.op, kernel.variant)) {
    best.us = estimate(link, kernel, tuningKey, /*programs=*/1);
    return best;
  }
  int64_t most = getCollective(tuningKey.op).maxPrograms(tuningKey.groupSize);
  // A send and a receive run at the same time and wait for each other's peers:
  // processors have room for a program of each.
  if (getCollective(tuningKey.op).isPointToPoint() &&
      device.processor.processors != 0)
    most = std::min(most, device.processor.processors);
  if (tuningKey.maxPrograms != 0)
    most = std::min(most, tuningKey.maxPrograms);
  auto timeWith = [&](int64_t programs) {
    return estimate(link, kernel, tuningKey, programs);
  };
  std::vector<int64_t> numbers;
  if (tuningKey.programs != 0)
    numbers = {std::min(tuningKey.programs, most)};
  else
    std::copy_if(link.programs.begin(), link.programs.end(),
                 std::back_inserter(numbers),
                 [most](int64_t programs) { return programs <= most; });
  if (numbers.empty())
    numbers = {most};
  double least = timeWith(numbers.front());
  for (int64_t programs : numbers)
    least = std::min(least, timeWith(programs));
  for (int64_t programs : numbers) {
    best.config.programs = programs;
    best.us = timeWith(programs);
    if (best.us <= least * link.acceptedSlowdown)
      break;
  }
  return best;
}

std::vector<KernelEstimate>
iris::ccl::kernelEstimates(const TuningKey &tuningKey) {
  const DeviceModel &device = deviceModelOf(tuningKey);
  std::vector<KernelEstimate> all;
  for (const auto &[kernel, config] :
       eligibleKernels(device, tuningKey.op, tuningKey.dtype,
                       tuningKey.groupSize, tuningKey.onHeap))
    if (tuningKey.bytes <= roomOf(kernel.variant, tuningKey))
      all.push_back({kernel, bestOf(device, kernel, config, tuningKey)});
  // A stable sort, so that all ranks select the same of two equal estimates.
  std::stable_sort(all.begin(), all.end(),
                   [](const KernelEstimate &a, const KernelEstimate &b) {
                     return a.estimate.us < b.estimate.us;
                   });
  return all;
}

std::vector<Estimate> iris::ccl::estimates(const TuningKey &tuningKey) {
  std::vector<Estimate> all;
  for (KernelEstimate &each : kernelEstimates(tuningKey))
    all.push_back(std::move(each.estimate));
  return all;
}

std::string iris::ccl::describe(const Config &config) {
  std::string text = config.variant;
  auto add = [&text](int64_t value, const char *format) {
    if (value != 0)
      text += formatString(format, static_cast<long long>(value));
  };
  add(config.tile, ", tile %lld");
  add(config.warps, ", %lld warps");
  add(config.programs, ", %lld programs");
  return text;
}

Choice iris::ccl::select(const TuningKey &tuningKey) {
  std::vector<Estimate> all = estimates(tuningKey);
  Choice choice;
  choice.config = all.front().config;
  choice.reason = formatString("%s: %.1f us estimated",
                               describe(choice.config).c_str(), all.front().us);
  if (choice.config.staged)
    choice.reason += "; staged, as a buffer is not on the symmetric heap";
  return choice;
}

static const DeviceModel &modelOf(DeviceKind device,
                                  const DeviceAttributes *attributes) {
  return deviceModelOf(device, attributes ? attributes->target : std::string(),
                       attributes);
}

std::string iris::ccl::choiceSource(DeviceKind device,
                                    const DeviceAttributes *attributes) {
  return modelOf(device, attributes).links.source;
}

std::vector<Config> iris::ccl::candidates(Op op, DType dtype, DeviceKind device,
                                          uint32_t groupSize, bool onHeap,
                                          const DeviceAttributes *attributes) {
  std::vector<Config> configs;
  for (const auto &[kernel, config] : eligibleKernels(
           modelOf(device, attributes), op, dtype, groupSize, onHeap))
    configs.push_back(config);
  return configs;
}

Expected<std::vector<Config>>
iris::ccl::candidatesOfTarget(Op op, DType dtype, const std::string &target,
                              uint32_t groupSize, bool onHeap) {
  IRISRT_ASSIGN_OR_RETURN(std::vector<DeviceModel> models,
                          deviceModelsOfTarget(target));
  std::vector<Config> configs;
  for (const DeviceModel &model : models)
    for (const auto &[kernel, config] :
         eligibleKernels(model, op, dtype, groupSize, onHeap))
      if (std::find(configs.begin(), configs.end(), config) == configs.end())
        configs.push_back(config);
  return configs;
}
