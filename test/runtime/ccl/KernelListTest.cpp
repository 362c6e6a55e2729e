// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of kernels to compile ahead of time has every kernel that a call of
// NCCL's API loads.
#include "KernelList.h"
#include "Session.h"
#include "ccl/CombineKernel.h"
#include "ccl/DeviceModel.h"
#include "ccl/Spec.h"
#include "iris/Chips/ChipTable.h"
#include "iris/ccl/Selector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace iris::ccl;
using namespace iris::rt;

namespace {
/// A device whose kernels are selected.
struct Card {
  DeviceKind kind = DeviceKind::host;
  DeviceAttributes attributes;
};
} // namespace

/// The modelled devices of a target, and one that no model knows.
static std::vector<Card> cardsOf(const std::string &target) {
  Expected<DeviceKind> kind = deviceKindOfTarget(target);
  EXPECT_TRUE(kind.ok());
  Card unknown;
  unknown.kind = *kind;
  unknown.attributes.target = target;
  unknown.attributes.name = "another card";
  unknown.attributes.processors = 57;
  unknown.attributes.clockMHz = 1234;
  if (const irischips::ChipInfo *chip = irischips::findChip(target))
    unknown.attributes.warpSize = chip->waveSize;
  std::vector<Card> cards = {unknown};
  for (const DeviceModel &model : embeddedDeviceModels())
    for (const std::string &each : model.targets)
      if (each == target) {
        Card card = unknown;
        card.attributes.name = "Some " + model.gpu;
        cards.push_back(card);
      }
  return cards;
}

static std::set<std::string> modelledTargets() {
  std::set<std::string> targets;
  for (const DeviceModel &model : embeddedDeviceModels())
    targets.insert(model.targets.begin(), model.targets.end());
  return targets;
}

/// Calls `check` for the kernels that a call may load: that of the selector,
/// and its staged form, as Communicator does for calls in place.
template <typename Check>
static void forEachSelected(const Card &card, Op op, DType dtype,
                            uint32_t groupSize, const Check &check) {
  TuningKey key;
  key.op = op;
  key.dtype = dtype;
  key.groupSize = groupSize;
  key.device = card.kind;
  key.attributes = &card.attributes;
  for (uint64_t bytes = 8; bytes <= uint64_t(1) << 30; bytes *= 2)
    for (uint64_t more : {0, 24})
      for (uint64_t alignment : {1, 8, 16})
        for (bool onHeap : {true, false})
          for (bool inPlace : {false, true}) {
            key.bytes = bytes + more;
            key.alignment = alignment;
            key.onHeap = onHeap;
            key.inPlace = inPlace;
            Config config = select(key).config;
            config.staged = config.staged || !onHeap;
            check(config);
            const plan::Variant *variant =
                getCollective(op).find(config.variant);
            if (inPlace && onHeap && !hasRoot(op) && variant->hasKernel() &&
                !variant->has(plan::inPlace)) {
              config.staged = true;
              check(config);
            }
          }
}

/// The list covers all calls, for devices with and without a cost model.
TEST(KernelList, HasWhatTheSelectorChooses) {
  const iris::nccl::CallKinds calls;
  std::set<std::string> targets = modelledTargets();
  targets.insert({"host", "sm_80", "sm_90a", "sm_100a", "gfx90a", "gfx1201"});
  for (const std::string &target : targets) {
    Expected<KernelList> kernels = iris::nccl::listKernels(target, calls);
    ASSERT_TRUE(kernels.ok()) << kernels.status().message();
    std::set<std::string> used;
    for (const Card &card : cardsOf(target))
      for (uint32_t size : calls.groupSizes)
        for (Op op : iris::nccl::allOps())
          for (DType dtype : iris::nccl::allTypes()) {
            if (reduces(op) && !iris::nccl::checkReduces(dtype, card.kind).ok())
              continue;
            if (!reduces(op) && dtype != DType::i8 && dtype != DType::f32)
              continue; // moved as bytes
            std::vector<Config> seen;
            forEachSelected(card, op, dtype, size, [&](Config config) {
              // Programs of the launch only, unless the kernel has slots.
              if (!getCollective(op)
                       .find(config.variant)
                       ->has(plan::programSlots))
                config.programs = 0;
              if (std::find(seen.begin(), seen.end(), config) == seen.end())
                seen.push_back(config);
            });
            for (const Config &config : seen)
              for (ReduceOp reduce : iris::nccl::allReductions()) {
                Spec spec =
                    kernelSpec(makeSpec(op, dtype, reduce, size, config));
                std::string name =
                    requestName(spec, iris::nccl::Session::workspaceBytes);
                used.insert(name);
                auto found = kernels->find(name);
                ASSERT_NE(found, kernels->end())
                    << target << ": " << describe(spec) << " of "
                    << card.attributes.name << " is not in the list";
                EXPECT_EQ(
                    found->second,
                    requestText(spec, iris::nccl::Session::workspaceBytes));
              }
          }
    EXPECT_GT(used.size(), 100u) << target;
  }
}

/// What is not asked for is not in the list.
TEST(KernelList, HasOnlyWhatIsCalled) {
  iris::nccl::CallKinds calls;
  calls.groupSizes = {4};
  calls.ops = {Op::allReduce, Op::send};
  calls.types = {DType::bf16};
  calls.reductions = {ReduceOp::sum, ReduceOp::max};
  Expected<KernelList> kernels = iris::nccl::listKernels("sm_90a", calls);
  ASSERT_TRUE(kernels.ok()) << kernels.status().message();
  std::set<std::string> begins;
  for (const auto &[name, source] : *kernels) {
    EXPECT_NE(source.find("@" + name), std::string::npos) << source;
    begins.insert(name.substr(0, name.find("_size_")));
    if (name.find("_size_") != std::string::npos)
      EXPECT_NE(name.find("_size_4"), std::string::npos) << name;
  }
  EXPECT_EQ(begins, (std::set<std::string>{
                        "all_reduce_max_bf16", "all_reduce_sum_bf16",
                        "ccl_combine_max_bf16", "ccl_combine_sum_bf16",
                        "nccl_scale_bf16", "recv_i8", "send_i8"}));
}

/// Ranks on several nodes combine what the nodes send.
TEST(KernelList, HasWhatNodesCombineWith) {
  for (const char *target : {"host", "sm_90a"}) {
    Expected<KernelList> kernels = iris::nccl::listKernels(target, {});
    ASSERT_TRUE(kernels.ok()) << kernels.status().message();
    for (DType dtype : iris::nccl::allTypes())
      for (ReduceOp reduce : iris::nccl::allReductions()) {
        const CombineKernel combine = CombineKernel::of(dtype, reduce);
        auto found = kernels->find(combine.name);
        ASSERT_NE(found, kernels->end()) << combine.name;
        EXPECT_EQ(found->second, combine.source);
      }
  }
}

/// Reductions of f8 are not served on AMD's GPUs.
TEST(KernelList, HasNoFloat8OnAMD) {
  for (const char *target : {"gfx942", "sm_90a"}) {
    Expected<KernelList> kernels = iris::nccl::listKernels(target, {});
    ASSERT_TRUE(kernels.ok()) << kernels.status().message();
    bool hasFloat8 = false;
    for (const auto &[name, source] : *kernels)
      hasFloat8 |= name.find("f8E4M3FN") != std::string::npos;
    EXPECT_EQ(hasFloat8, std::string(target) != "gfx942");
  }
}

TEST(KernelList, RefusesUnknownTargets) {
  Expected<KernelList> kernels = iris::nccl::listKernels("sm_9", {});
  ASSERT_FALSE(kernels.ok());
  EXPECT_NE(kernels.status().message().find("unknown target 'sm_9'"),
            std::string::npos);
}
