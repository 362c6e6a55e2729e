// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/ccl/Selector.h"

#include "ccl/CostModel.h"
#include "core/Log.h"

#include <algorithm>

using namespace iris::ccl;
using iris::rt::DeviceKind;
using iris::rt::formatString;

/// Packets cost twice the bytes; beyond this nothing speaks for them, and each
/// further round of them waits for a barrier.
static constexpr uint64_t mostPacketBytes = 1 << 20;

static bool usesPackets(const std::string &variant) {
  return variant.size() >= 6 &&
         variant.compare(variant.size() - 6, 6, "packet") == 0;
}

/// Variants that may be chosen without being asked for: those whose result is
/// the same in every run, and for which only the root needs the root's buffer.
static std::vector<std::string> eligible(Op op) {
  switch (op) {
  case Op::allReduce:
    return {"one_shot", "two_shot", "one_shot_packet", "two_shot_packet"};
  case Op::allGather:
  case Op::allToAll:
    return {"push", "packet"};
  case Op::reduceScatter:
    return {"pull", "packet"};
  default:
    return {variantsOf(op).front()};
  }
}

/// More programs for more bytes, as long as each has several tiles.
static int64_t programsFor(const Situation &situation) {
  if (situation.device == DeviceKind::host)
    return 2;
  if (situation.op == Op::send || situation.op == Op::recv)
    return 16; // as many as there are mail boxes
  return situation.bytes >= (1 << 20) ? 64 : 32;
}

Choice iris::ccl::select(const Situation &situation) {
  const LinkModel &link = linkModelOf(situation.device);
  Choice choice;
  double best = 0;
  std::string others;
  for (const std::string &variant : eligible(situation.op)) {
    if (usesPackets(variant) && situation.bytes > mostPacketBytes)
      continue;
    double us = estimate(link, situation, variant);
    others += formatString("%s%s %.1f", others.empty() ? "" : ", ",
                           variant.c_str(), us);
    if (!choice.config.variant.empty() && us >= best)
      continue;
    best = us;
    choice.config.variant = variant;
  }
  choice.config.programs = programsFor(situation);
  choice.reason =
      formatString("%s, %.1f us expected (of %s)",
                   choice.config.variant.c_str(), best, others.c_str());
  // Packets read no peer's buffer, so theirs may lie anywhere.
  if (!situation.onHeap) {
    choice.config.staged = true;
    choice.reason += "; staged, as a buffer is not on the symmetric heap";
  }
  return choice;
}

std::string iris::ccl::choiceSource(DeviceKind device) {
  return linkModelOf(device).source;
}

std::vector<Config> iris::ccl::candidates(Op op, DType dtype,
                                          uint32_t groupSize,
                                          DeviceKind device) {
  std::vector<Config> configs;
  // What is chosen changes with the size only, and seldom.
  for (uint64_t bytes = 16; bytes <= uint64_t(1) << 34; bytes += bytes / 8) {
    Situation situation;
    situation.op = op;
    situation.dtype = dtype;
    situation.bytes = bytes;
    situation.groupSize = groupSize;
    situation.device = device;
    Config config = select(situation).config;
    if (std::find(configs.begin(), configs.end(), config) == configs.end())
      configs.push_back(config);
  }
  return configs;
}
