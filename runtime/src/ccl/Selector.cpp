// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/ccl/Selector.h"

using namespace iris::ccl;

/// Up to here one round in which everybody reads everything costs less than two
/// rounds of a share each.
static constexpr uint64_t oneShotBytes = 256 << 10;

/// The variant of an operation that has not been measured against others: the
/// generator's own choice, for which only the root needs the root's buffer.
static const std::string &defaultVariant(Op op) {
  return variantsOf(op).front();
}

Choice iris::ccl::select(const Situation &situation) {
  Choice choice;
  if (situation.op == Op::allReduce) {
    bool small = situation.bytes <= oneShotBytes;
    choice.config.variant = small ? "one_shot" : "two_shot";
    choice.reason = small ? "at most 256 KiB: one round is cheaper"
                          : "over 256 KiB: each rank reduces a share";
  } else {
    choice.config.variant = defaultVariant(situation.op);
    choice.reason = "the operation's default";
  }
  if (!situation.onHeap) {
    choice.config.staged = true;
    choice.reason += "; staged, as a buffer is not on the symmetric heap";
  }
  return choice;
}

std::vector<Config> iris::ccl::candidates(Op op, DType, uint32_t,
                                          rt::DeviceKind) {
  std::vector<std::string> variants = {defaultVariant(op)};
  if (op == Op::allReduce)
    variants = {"one_shot", "two_shot"};
  std::vector<Config> configs;
  for (const std::string &variant : variants) {
    configs.emplace_back();
    configs.back().variant = variant;
  }
  return configs;
}
