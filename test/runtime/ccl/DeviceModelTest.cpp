// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost models' files: what is read, what is refused, and which one serves a
// device.
#include "ccl/DeviceModel.h"

#include "ccl/EmbeddedModels.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

using namespace iris::ccl;
using namespace iris::rt;

static nlohmann::json anyModel() {
  return nlohmann::json::parse(embeddedModelTexts().front().text);
}

static nlohmann::json anyKernel() {
  return {{"op", "all_gather"}, {"variant", "push"}, {"tileBytes", 0},
          {"warps", 4},         {"startUs", 1},      {"startPeersUs", 0},
          {"tileUs", 0},        {"tilePeersUs", 0},  {"programUs", 0},
          {"bytesPerUs", 1000}, {"overlaps", false}};
}

TEST(DeviceModel, EmbeddedFilesAreModels) {
  ASSERT_GE(embeddedModelTexts().size(), 5u);
  std::set<std::string> names;
  for (const EmbeddedModel &each : embeddedModelTexts()) {
    Expected<DeviceModel> model = parseDeviceModel(each.text, each.file);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_TRUE(names.insert(model->name).second) << model->name;
    EXPECT_FALSE(model->targets.empty()) << each.file;
    EXPECT_FALSE(model->links.source.empty()) << each.file;
    EXPECT_FALSE(model->processor.source.empty()) << each.file;
  }
  EXPECT_EQ(embeddedDeviceModels().size(), embeddedModelTexts().size());
}

/// No AMD GPU was measured: the source of each number is beside it.
TEST(DeviceModel, NumbersOfAmdHaveSources) {
  size_t models = 0;
  for (const EmbeddedModel &each : embeddedModelTexts()) {
    const nlohmann::json model = nlohmann::json::parse(each.text);
    if (model["device"] != "hip")
      continue;
    ++models;
    for (const char *section : {"links", "processor"}) {
      ASSERT_TRUE(model[section].contains("sources")) << each.file;
      for (const auto &[key, value] : model[section].items()) {
        // Not constants of a chip, or what the driver reports.
        if (!value.is_number() || key == "warpSize" || key == "processors" ||
            key == "xcds" || key == "acceptedSlowdown")
          continue;
        EXPECT_TRUE(model[section]["sources"].contains(key))
            << each.file << ": " << section << "." << key;
      }
    }
    // Fetched shards are written to memory and read once.
    const double bound =
        2 * static_cast<double>(model["links"]["pushBytesPerUs"]) /
        static_cast<double>(model["processor"]["memoryBytesPerUs"]);
    EXPECT_NEAR(model["processor"]["fetchOverlapLoss"], bound, 0.005)
        << each.file;
  }
  EXPECT_EQ(models, 3u);
}

TEST(DeviceModel, RefusesWhatIsNoModel) {
  struct Case {
    std::function<void(nlohmann::json &)> change;
    const char *message;
  };
  using Json = nlohmann::json;
  const Case cases[] = {
      {[](Json &m) { m["links"]["launchMs"] = 1; },
       "'links' has the unknown key 'launchMs'"},
      {[](Json &m) { m["links"].erase("barrierUs"); },
       "'links.barrierUs' is missing"},
      {[](Json &m) { m["links"]["pushBytesPerUs"] = 0; },
       "'links.pushBytesPerUs' is 0; expected a number above 0"},
      {[](Json &m) { m["links"]["packetUs"] = -1; },
       "'links.packetUs' is -1; expected a number of at least 0"},
      {[](Json &m) { m["links"]["packetUs"] = 1e300; },
       "'links.packetUs' is 1e+300"},
      {[](Json &m) { m["links"]["packetUs"] = "3"; },
       "'links.packetUs' should be a number"},
      {[](Json &m) {
         m["links"]["programs"] = {64, 16};
       },
       "'links.programs' is not in ascending order"},
      {[](Json &m) { m["links"]["programs"] = {1073741824}; },
       "'links.programs[0]' is 1073741824; expected 1 to 128"},
      {[](Json &m) { m["processor"]["tiles"][0]["m"] = 96; },
       "'processor.tiles[0].m' is 96; expected a power of two from 1 to 256"},
      {[](Json &m) {
         m["processor"]["commPrograms"] = {1, 513};
       },
       "'processor.commPrograms[1]' is 513; expected 1 to 512"},
      {[](Json &m) {
         m["kernels"] = Json::array({anyKernel()});
         m["kernels"][0]["tileBytes"] = 1 << 20;
       },
       "'kernels[0].tileBytes' is 1048576; expected 0 or a power of two from "
       "16 to 16384"},
      {[](Json &m) { m["links"]["programs"] = Json::array(); },
       "'links.programs' is empty"},
      {[](Json &m) { m["processor"]["tiles"] = Json::array(); },
       "'processor.tiles' is empty"},
      {[](Json &m) { m["processor"]["tiles"][0].erase("warps"); },
       "'processor.tiles[0].warps' is missing"},
      {[](Json &m) { m["processor"]["processors"] = 0; },
       "'processor.processors' should be an integer from 1"},
      {[](Json &m) {
         m["links"]["sources"] = {{"launchMs", "a guess"}};
       },
       "'links.sources' has the unknown key 'launchMs'"},
      {[](Json &m) {
         m["links"]["sources"] = {{"launchUs", 1}};
       },
       "'links.sources.launchUs' should be a string"},
      {[](Json &m) { m["device"] = "tpu"; },
       "'device' is 'tpu'; expected host, cuda or hip"},
      {[](Json &m) {
         m["kernels"] = {{{"op", "all_join"}}};
       },
       "'kernels[0].op' is 'all_join'"},
      {[](Json &m) { m = Json::array(); }, "should be an object"},
  };
  for (const Case &each : cases) {
    Json model = anyModel();
    each.change(model);
    Expected<DeviceModel> parsed = parseDeviceModel(model.dump(), "file");
    ASSERT_FALSE(parsed.ok()) << each.message;
    EXPECT_NE(parsed.status().message().find(each.message), std::string::npos)
        << parsed.status().message();
    EXPECT_NE(parsed.status().message().find("file"), std::string::npos);
  }
  Expected<DeviceModel> parsed = parseDeviceModel("{\"name\":", "file");
  ASSERT_FALSE(parsed.ok());
  EXPECT_NE(parsed.status().message().find("not JSON"), std::string::npos);
}

/// A kernel of each collective, by each variant.
TEST(DeviceModel, ReadsEveryCollective) {
  nlohmann::json model = anyModel();
  nlohmann::json kernel = anyKernel();
  nlohmann::json kernels = nlohmann::json::array();
  for (const plan::Collective &collective : plan::collectives)
    for (const plan::Variant &variant : collective) {
      kernel["op"] = collective.name;
      kernel["variant"] = variant.name;
      kernels.push_back(kernel);
    }
  model["kernels"] = kernels;
  Expected<DeviceModel> parsed = parseDeviceModel(model.dump(), "file");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(kernels.size(), parsed->kernels.size());
  EXPECT_EQ(Op::allGatherV, parsed->kernels.back().op);
}

TEST(DeviceModel, ReadsALinkWithoutLimitPerPeer) {
  nlohmann::json model = anyModel();
  model["links"]["peerBytesPerUs"] = nullptr;
  Expected<DeviceModel> parsed = parseDeviceModel(model.dump(), "file");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_TRUE(std::isinf(parsed->links.peerBytesPerUs));
}

TEST(DeviceModel, FindsTheModelOfADevice) {
  DeviceAttributes h200 = {"sm_90a", "NVIDIA H200", 132};
  const DeviceModel &model = deviceModelOf(DeviceKind::cuda, "sm_90a", &h200);
  EXPECT_EQ(model.name, "NVIDIA H200");
  EXPECT_EQ(&model, &deviceModelOf(DeviceKind::cuda, "sm_90a", nullptr));
  EXPECT_EQ(&model, &deviceModelOf(DeviceKind::cuda, "", nullptr));
  struct Target {
    DeviceKind kind;
    const char *target, *model;
  };
  for (const Target &each :
       {Target{DeviceKind::hip, "gfx942", "AMD Instinct MI300X"},
        {DeviceKind::hip, "", "AMD Instinct MI300X"},
        {DeviceKind::hip, "gfx90a", "AMD Instinct MI300X"},
        {DeviceKind::hip, "gfx950", "AMD Instinct MI355X"},
        {DeviceKind::hip, "gfx1100", "AMD Radeon RX 7900 XTX"},
        {DeviceKind::hip, "gfx1201", "AMD Radeon RX 7900 XTX"},
        {DeviceKind::host, "host", "CPU ranks"}})
    EXPECT_EQ(deviceModelOf(each.kind, each.target, nullptr).name, each.model)
        << each.target;
}

TEST(DeviceModel, AnUnknownGpuIsNotTakenForAnother) {
  const DeviceModel &h200 = deviceModelOf(DeviceKind::cuda, "sm_90a", nullptr);
  DeviceAttributes h100 = {"sm_90a", "NVIDIA H100 PCIe", 114};
  const DeviceModel &model = deviceModelOf(DeviceKind::cuda, "sm_90a", &h100);
  EXPECT_EQ(model.name, "NVIDIA H100 PCIe");
  EXPECT_EQ(model.processor.processors, 114);
  EXPECT_DOUBLE_EQ(model.processor.deviceOpsPerUs,
                   h200.processor.deviceOpsPerUs * 114 / 132);
  for (const std::string &source :
       {model.links.source, model.processor.source}) {
    EXPECT_NE(source.find("no cost model for 'NVIDIA H100 PCIe' (sm_90a)"),
              std::string::npos)
        << source;
    EXPECT_NE(source.find("IRIS_COST_MODEL"), std::string::npos) << source;
  }
  // One object for one GPU: callers keep references.
  EXPECT_EQ(&model, &deviceModelOf(DeviceKind::cuda, "sm_90a", &h100));
  // Choices are made with it.
  MatmulTuningKey key;
  key.problem.kind = MatmulKind::matmul;
  key.problem.m = key.problem.n = key.problem.k = 4096;
  key.device = DeviceKind::cuda;
  key.target = "sm_90a";
  key.attributes = &h100;
  Expected<MatmulChoice> choice = select(key);
  ASSERT_TRUE(choice.ok()) << choice.status().message();
  EXPECT_LE(choice->config.programs, 114);
  DeviceAttributes b300 = {"sm_103a", "NVIDIA B300", 148};
  EXPECT_EQ(
      deviceModelOf(DeviceKind::cuda, "sm_103a", &b300).processor.processors,
      148);
  EXPECT_EQ(model.processor.copyEngineBytesPerUs, 0);
  EXPECT_EQ(findDeviceModel(DeviceKind::cuda, "sm_90a", &h100), nullptr);
}

static TuningKey allReduceOf(const DeviceAttributes &attributes) {
  TuningKey call;
  call.op = Op::allReduce;
  call.groupSize = 2;
  call.bytes = 1024;
  call.device = DeviceKind::cuda;
  call.attributes = &attributes;
  return call;
}

TEST(DeviceModel, AnUnknownGpuOfATargetHasItsMeasuredKernels) {
  DeviceAttributes h200 = {"sm_90a", "NVIDIA H200", 132};
  DeviceAttributes h100 = {"sm_90a", "NVIDIA H100 80GB HBM3", 132};
  const DeviceModel &reference = deviceModelOf(allReduceOf(h200));
  const DeviceModel &model = deviceModelOf(allReduceOf(h100));
  ASSERT_FALSE(reference.kernels.empty());
  EXPECT_EQ(model.kernels.size(), reference.kernels.size());
  EXPECT_EQ(model.stagedKernels.size(), reference.stagedKernels.size());
  EXPECT_EQ(select(allReduceOf(h100)).config, select(allReduceOf(h200)).config);
  EXPECT_NE(model.links.source.find("collective kernels of NVIDIA H200"),
            std::string::npos)
      << model.links.source;
}

TEST(DeviceModel, AChoiceHasAtMostTheProgramsThatMayRun) {
  DeviceAttributes h200 = {"sm_90a", "NVIDIA H200", 132};
  for (Op op : {Op::allReduce, Op::allGather, Op::reduceScatter, Op::allToAll,
                Op::broadcast, Op::send})
    for (uint64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 8) {
      TuningKey key = allReduceOf(h200);
      key.op = op;
      key.bytes = bytes;
      const int64_t most = select(key).config.programs;
      for (int64_t limit : {1, 24, 1000}) {
        key.maxPrograms = limit;
        const Config config = select(key).config;
        EXPECT_LE(config.programs, limit) << opName(op) << " " << bytes;
        if (most <= limit && most != 0)
          EXPECT_EQ(config.programs, most) << opName(op) << " " << bytes;
      }
    }
}

TEST(DeviceModel, AGpuOfAnotherTargetHasNoMeasuredKernels) {
  DeviceAttributes a100 = {"sm_80", "NVIDIA A100", 108, 32, 1410, 1555000};
  const DeviceModel &model = deviceModelOf(allReduceOf(a100));
  EXPECT_TRUE(model.kernels.empty());
  EXPECT_TRUE(model.stagedKernels.empty());
  std::vector<Estimate> all = estimates(allReduceOf(a100));
  EXPECT_FALSE(all.empty());
  for (const Estimate &each : all)
    EXPECT_NE(each.config.variant, "copy_engine");
}

TEST(DeviceModel, AnUnknownGpuIsModelledFromItsAttributes) {
  struct Gpu {
    DeviceKind kind;
    DeviceAttributes attributes;
    const char *reference;
  };
  const Gpu gpus[] = {
      {DeviceKind::hip,
       {"gfx90a", "AMD Instinct MI210", 104, 64, 1700, 0},
       "MI300X"},
      // A name that begins like another chip's says nothing.
      {DeviceKind::hip,
       {"gfx1250", "AMD Instinct MI450", 256, 32, 2400, 0},
       "RX 7900 XTX"},
      {DeviceKind::hip, {"gfx1399", "AMD Radeon", 60, 64, 2000, 0}, "MI300X"},
      {DeviceKind::cuda,
       {"sm_80", "NVIDIA A100", 108, 32, 1410, 1555000},
       "H200"},
  };
  for (const Gpu &gpu : gpus) {
    SCOPED_TRACE(gpu.attributes.name);
    const DeviceModel &model =
        deviceModelOf(gpu.kind, gpu.attributes.target, &gpu.attributes);
    const DeviceModel *reference = nullptr;
    for (const DeviceModel &each : embeddedDeviceModels())
      if (each.name.find(gpu.reference) != std::string::npos)
        reference = &each;
    ASSERT_NE(reference, nullptr);
    EXPECT_NE(model.links.source.find(reference->name), std::string::npos)
        << model.links.source;
    EXPECT_EQ(model.processor.processors, gpu.attributes.processors);
    EXPECT_EQ(model.links.warpSize, gpu.attributes.warpSize);
    double clock = gpu.attributes.clockMHz / reference->processor.clockMHz;
    EXPECT_DOUBLE_EQ(model.processor.processorOpsPerUs,
                     reference->processor.processorOpsPerUs * clock);
    double memory = gpu.attributes.memoryBytesPerUs == 0
                        ? 1
                        : static_cast<double>(gpu.attributes.memoryBytesPerUs) /
                              reference->processor.memoryPeakBytesPerUs;
    EXPECT_DOUBLE_EQ(model.processor.memoryBytesPerUs,
                     reference->processor.memoryBytesPerUs * memory);
    EXPECT_TRUE(model.kernels.empty());
  }
}

TEST(DeviceModel, EveryKindHasAModel) {
  for (DeviceKind kind : {DeviceKind::host, DeviceKind::hip, DeviceKind::cuda})
    EXPECT_EQ(deviceModelOf(kind, "no such target", nullptr).kind, kind);
}
