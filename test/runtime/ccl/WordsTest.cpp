// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts of collectives: configs, requests, metadata, selections.
#include "ccl/CostModel.h"
#include "ccl/Spec.h"
#include "iris/Plan/CollectiveForm.h"
#include "iris/ccl/Selector.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace iris::ccl;
using namespace iris::rt;

static void expectMessage(const Status &status, const std::string &message) {
  EXPECT_EQ(status.code(), StatusCode::invalidArgument);
  EXPECT_EQ(status.message(), message);
}

TEST(Config, UnsupportedRequestsAreNamed) {
  auto check = [](Op op, DType dtype, auto set) {
    Config config;
    set(config);
    return checkConfig(op, dtype, config);
  };
  EXPECT_TRUE(checkConfig(Op::allReduce, DType::f32, {}).ok());
  expectMessage(
      check(Op::allReduce, DType::f32, [](Config &c) { c.variant = "magic"; }),
      "all_reduce has no variant 'magic'; expected two_shot, "
      "two_shot_push, one_shot, one_shot_packet, two_shot_packet, "
      "one_shot_buffered, ring, atomic");
  expectMessage(
      check(Op::allReduce, DType::f32, [](Config &c) { c.tile = 48; }),
      "all_reduce: the config's tile is 48; expected a power of two from 4 to "
      "4096, or 0 to have it chosen");
  expectMessage(
      check(Op::allGather, DType::f32, [](Config &c) { c.tile = 32768; }),
      "all_gather: the config's tile is 32768; expected a power of two from 16 "
      "to 16384, or 0 to have it chosen");
  expectMessage(
      check(Op::allGather, DType::f32, [](Config &c) { c.warps = 3; }),
      "all_gather: the config's warps is 3; expected a power of two from 1 to "
      "16, or 0 to have it chosen");
  expectMessage(
      check(Op::send, DType::f32, [](Config &c) { c.programs = 129; }),
      "send: the config's programs is 129; expected 1 to 128, or 0 to have it "
      "chosen");
  expectMessage(
      check(Op::reduce, DType::f32, [](Config &c) { c.programs = -1; }),
      "reduce: the config's programs is -1; expected 1 to 128, or 0 to have it "
      "chosen");
  expectMessage(check(Op::gather, DType::f32, [](Config &c) { c.xcds = 65; }),
                "gather: the config's xcds is 65; expected 1 to 64, or 0 to "
                "have it chosen");
  for (DType dtype : {DType::f64, DType::i8, DType::bf16})
    EXPECT_TRUE(check(Op::allReduce, dtype, [&](Config &c) {
                  c.tile = 16384 / dtypeBytes(dtype);
                }).ok());
}

TEST(Spec, Requests) {
  Config config;
  EXPECT_EQ(
      requestText(makeSpec(Op::allReduce, DType::bf16, ReduceOp::avg, 8, {})),
      "iris.collective @all_reduce_avg_bf16_size_8_programs_128 all_reduce avg "
      "bf16 size 8 {programs = 128} loc(\"request\":1:1)\n");
  config.variant = "packet";
  config.tile = 2048;
  config.staged = true;
  config.warps = 8;
  config.programs = 32;
  config.xcds = 8;
  EXPECT_EQ(
      requestText(
          makeSpec(Op::allGather, DType::f64, ReduceOp::max, 3, config)),
      "iris.collective @all_gather_i8_size_3_programs_32_staged_true_tile_2048_"
      "variant_packet_warps_8_xcds_8 all_gather i8 size 3 {programs = 32, "
      "staged = true, tile = 2048, variant = \"packet\", warps = 8, xcds = 8} "
      "loc(\"request\":1:1)\n");
  // The launch sets the number of programs; but the ring's kernel depends on
  // it.
  EXPECT_EQ(kernelSpec(makeSpec(Op::allGather, DType::i8, {}, 3, config))
                .config.programs,
            0);
  config.variant = "ring";
  EXPECT_EQ(kernelSpec(makeSpec(Op::allReduce, DType::i8, {}, 3, config))
                .config.programs,
            32);
  config.variant = "packet";
  // Every relevant part of a spec changes the text, and no irrelevant part
  // does.
  Spec spec = makeSpec(Op::allGather, DType::f64, ReduceOp::max, 3, config);
  EXPECT_TRUE(spec == makeSpec(Op::allGather, DType::u8, {}, 3, config));
  EXPECT_EQ(SpecHash()(spec),
            SpecHash()(makeSpec(Op::allGather, DType::u8, {}, 3, config)));
  const std::pair<DType, const char *> types[] = {
      {DType::u8, "ui8"},
      {DType::u32, "ui32"},
      {DType::u64, "ui64"},
      {DType::f8e4m3fn, "f8E4M3FN"},
      {DType::f8e5m2, "f8E5M2"},
      {DType::f8e4m3fnuz, "f8E4M3FNUZ"},
      {DType::f8e5m2fnuz, "f8E5M2FNUZ"},
      {DType::i16, "i16"},
      {DType::i64, "i64"},
      {DType::f16, "f16"}};
  for (auto [dtype, name] : types)
    EXPECT_EQ(describe(makeSpec(Op::reduce, dtype, ReduceOp::min, 2, {})),
              std::string("reduce min ") + name + " size 2");
}

/// A kernel as the compiler describes it.
static KernelInfo kernelOf(const std::string &config, bool symmetric = true) {
  KernelInfo kernel;
  kernel.name = "kernel";
  kernel.module = "run";
  kernel.config = config;
  kernel.args.resize(6);
  kernel.args[0].kind = IRISRT_ARG_CONTEXT;
  for (size_t i = 1; i < 4; ++i) {
    kernel.args[i].kind = IRISRT_ARG_MEMREF;
    kernel.args[i].element = i == 3 ? IRISRT_ELT_I32 : IRISRT_ELT_BF16;
    kernel.args[i].symmetric = symmetric || i == 3;
    kernel.args[i].sizes = {std::nullopt};
  }
  for (size_t i = 4; i < 6; ++i)
    kernel.args[i].element = IRISRT_ELT_INDEX;
  return kernel;
}

static const char goodFacts[] =
    R"({"collective": "all_reduce", "reduction": "sum", "element": "bf16",
        "group": 8, "variant": "one_shot", "tile": 2048, "programs": 64,
        "staged": false, "workspace_bytes": 33554432, "max_count": 10,
        "in_place": true, "warps": 4})";

TEST(Spec, Facts) {
  Expected<KernelFacts> facts = readFacts(kernelOf(goodFacts));
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(facts->tile, 2048);
  EXPECT_EQ(facts->programs, 64);
  EXPECT_EQ(facts->workspaceBytes, 33554432u);
  EXPECT_EQ(facts->maxCount, 10u);
  EXPECT_TRUE(facts->inPlace);

  Config config;
  auto spec = [&](Op op = Op::allReduce, DType dtype = DType::bf16,
                  ReduceOp reduce = ReduceOp::sum, uint32_t size = 8) {
    return makeSpec(op, dtype, reduce, size, config);
  };
  EXPECT_TRUE(serves(*facts, spec()));
  EXPECT_FALSE(serves(*facts, spec(Op::reduce)));
  EXPECT_FALSE(serves(*facts, spec(Op::allReduce, DType::f16)));
  EXPECT_FALSE(serves(*facts, spec(Op::allReduce, DType::bf16, ReduceOp::max)));
  EXPECT_FALSE(
      serves(*facts, spec(Op::allReduce, DType::bf16, ReduceOp::sum, 4)));
  config.variant = "one_shot";
  config.tile = 2048;
  config.programs = 64;
  EXPECT_TRUE(serves(*facts, spec()));
  config.tile = 1024;
  EXPECT_FALSE(serves(*facts, spec()));
  config = {};
  config.staged = true;
  EXPECT_FALSE(serves(*facts, spec()));
  // A substitute for the selector's config may have other numbers, if necessary
  // another variant; but it computes the same.
  config = {};
  config.tile = 1024;
  config.variant = "one_shot";
  Spec requested = spec();
  requested.isSelected = true;
  EXPECT_TRUE(serves(*facts, requested));
  requested.config.variant = "two_shot";
  EXPECT_FALSE(serves(*facts, requested));
  EXPECT_TRUE(servesAtAll(*facts, requested));
  requested.reduce = ReduceOp::max;
  EXPECT_FALSE(servesAtAll(*facts, requested));
  EXPECT_FALSE(servesAtAll(*facts, spec()));
  requested.reduce = ReduceOp::sum;
  facts->variant = "atomic";
  EXPECT_FALSE(servesAtAll(*facts, requested));
  facts->variant = "one_shot";

  config = {};
  facts->groupSize = 0; // any
  EXPECT_TRUE(
      serves(*facts, spec(Op::allReduce, DType::bf16, ReduceOp::sum, 4)));
}

TEST(Spec, WrongFactsAreRefused) {
  auto message = [](const KernelInfo &kernel) {
    return readFacts(kernel).status().message();
  };
  for (const char *config : {"", "{", "[]", "{}", "null", "3"})
    EXPECT_NE(message(kernelOf(config)), "") << config;
  auto with = [](const char *from, const char *to) {
    std::string text = goodFacts;
    return text.replace(text.find(from), std::string(from).size(), to);
  };
  EXPECT_NE(message(kernelOf(with("\"tile\": 2048", "\"tile\": 0")))
                .find("'config.tile' should be an integer from 1"),
            std::string::npos);
  EXPECT_NE(message(kernelOf(with("\"tile\": 2048, ", "")))
                .find("'config.tile' is missing"),
            std::string::npos);
  EXPECT_NE(message(kernelOf(with("8", "17"))), "");
  EXPECT_NE(message(kernelOf(with("true", "1"))), "");
  // Another signature.
  KernelInfo kernel = kernelOf(goodFacts, /*symmetric=*/false);
  EXPECT_NE(message(kernel).find("is not a collective"), std::string::npos);
  kernel = kernelOf(goodFacts);
  kernel.args.pop_back();
  EXPECT_NE(message(kernel).find("is not a collective"), std::string::npos);
  kernel = kernelOf(goodFacts);
  kernel.args[2].element = IRISRT_ELT_F32;
  EXPECT_NE(message(kernel).find("is not a collective"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Selector
//===----------------------------------------------------------------------===//

static const DeviceKind allDevices[] = {DeviceKind::host, DeviceKind::cuda,
                                        DeviceKind::hip};

static TuningKey tuningKeyOf(Op op, uint64_t bytes, uint32_t groupSize = 8,
                             DeviceKind device = DeviceKind::cuda,
                             DType dtype = DType::bf16) {
  TuningKey tuningKey;
  tuningKey.op = op;
  tuningKey.dtype = dtype;
  tuningKey.bytes = bytes;
  tuningKey.groupSize = groupSize;
  tuningKey.device = device;
  tuningKey.alignment = bytes & (~bytes + 1);
  return tuningKey;
}

/// Calls body(tuning key) for many tuning keys.
template <typename Body>
static void forManyTuningKeys(Body body) {
  for (DeviceKind device : allDevices)
    for (int op = 0; op <= static_cast<int>(Op::barrier); ++op)
      for (int dtype = 0; dtype <= static_cast<int>(DType::u64); ++dtype)
        for (uint32_t size : {2, 3, 4, 5, 6, 7, 8, 9, 12, 16})
          for (uint64_t bytes = 8; bytes <= uint64_t(1) << 33; bytes *= 4)
            for (uint64_t more : {0, 24})
              body(tuningKeyOf(static_cast<Op>(op), bytes + more, size, device,
                               static_cast<DType>(dtype)));
}

TEST(Selector, ChoosesWhatPrepareLoads) {
  auto check = [](const TuningKey &tuningKey) {
    std::string where = std::string(opName(tuningKey.op)) + " " +
                        std::string(dtypeName(tuningKey.dtype)) + " x" +
                        std::to_string(tuningKey.groupSize) + " " +
                        std::to_string(tuningKey.bytes) + " " +
                        std::string(deviceKindName(tuningKey.device));
    Choice choice = select(tuningKey);
    ASSERT_NE(choice.reason, "") << where;
    ASSERT_EQ(choice.config.staged, !tuningKey.onHeap) << where;
    Status status = checkConfig(tuningKey.op, tuningKey.dtype, choice.config);
    ASSERT_TRUE(status.ok()) << where << ": " << status.message();
    bool isCopied = choice.config.variant == "copy_engine";
    ASSERT_EQ(choice.config.programs > 0, !isCopied) << where;
    ASSERT_TRUE(tuningKey.onHeap || !isCopied) << where;
    // A kernel serves any number of programs.
    Config config = choice.config;
    config.programs = 0;
    std::vector<Config> all =
        candidates(tuningKey.op, tuningKey.dtype, tuningKey.device,
                   tuningKey.groupSize, tuningKey.onHeap);
    ASSERT_EQ(std::count(all.begin(), all.end(), config), 1)
        << where << ": " << choice.reason;
  };
  forManyTuningKeys(check);
  for (bool onHeap : {false, true})
    for (bool inPlace : {false, true})
      for (uint64_t bytes = 1; bytes <= 1 << 28; bytes += 1 + bytes / 3)
        for (Op op : {Op::allReduce, Op::allGather, Op::reduceScatter,
                      Op::allToAll, Op::broadcast, Op::gather})
          for (DeviceKind device : allDevices) {
            TuningKey tuningKey = tuningKeyOf(op, bytes, 8, device);
            tuningKey.onHeap = onHeap;
            tuningKey.inPlace = inPlace;
            check(tuningKey);
          }
}

TEST(Config, OpenParametersAreSelected) {
  Config chosen;
  chosen.variant = "two_shot";
  chosen.tile = 4096;
  chosen.warps = 8;
  chosen.programs = 64;
  Config asked;
  asked.programs = 16;
  EXPECT_TRUE(isOpen(asked));
  Config whole = complete(asked, chosen);
  EXPECT_EQ(whole.variant, "two_shot");
  EXPECT_EQ(whole.tile, 4096);
  EXPECT_EQ(whole.warps, 8);
  EXPECT_EQ(whole.programs, 16);
  // A tile determines its number of warps.
  asked.tile = 1024;
  EXPECT_FALSE(isOpen(asked));
  whole = complete(asked, chosen);
  EXPECT_EQ(whole.tile, 1024);
  EXPECT_EQ(whole.warps, 0);
  EXPECT_EQ(complete(Config(), chosen).programs, 64);
}

TEST(Selector, KernelsAreFewAndFit) {
  for (DeviceKind device : allDevices)
    for (uint32_t size : {8, 16})
      for (int op = 0; op <= static_cast<int>(Op::barrier); ++op)
        for (int type = 0; type <= static_cast<int>(DType::u64); ++type) {
          DType dtype = static_cast<DType>(type);
          std::vector<Config> all =
              candidates(static_cast<Op>(op), dtype, device, size);
          EXPECT_GE(all.size(), 1u);
          EXPECT_LE(all.size(), 8u);
          for (const Config &config : all) {
            EXPECT_TRUE(checkConfig(static_cast<Op>(op), dtype, config).ok());
            EXPECT_EQ(config.programs, 0);
            EXPECT_EQ(std::count(all.begin(), all.end(), config), 1);
            // A thread's accumulators stay in registers.
            if (reduces(static_cast<Op>(op)) && config.tile != 0)
              EXPECT_LE(config.tile / (config.warps * 32), 32);
          }
        }
}

/// The members of a group divide the slots among them.
TEST(Selector, TilesOfTransfersFitIntoTheirSlots) {
  for (DeviceKind device : allDevices)
    for (Op op : {Op::send, Op::recv})
      for (uint32_t size = 2; size <= plan::Workspace::maxMembers; ++size)
        for (const Config &config : candidates(op, DType::u8, device, size)) {
          plan::CollectiveForm form;
          form.collective = &getCollective(op);
          form.variant = form.collective->find(config.variant);
          form.size = size;
          form.tile = config.tile;
          EXPECT_LE(form.tileBytes(), form.tileRoom().bytes)
              << config.variant << ", " << size << " members";
        }
}

TEST(Selector, SomeChoices) {
  auto variant = [](Op op, uint64_t bytes) {
    return select(tuningKeyOf(op, bytes)).config.variant;
  };
  EXPECT_EQ(variant(Op::allReduce, 1 << 10), "one_shot_packet");
  EXPECT_EQ(variant(Op::allReduce, 32 << 10), "one_shot_packet");
  EXPECT_EQ(variant(Op::allReduce, 1 << 20), "two_shot");
  EXPECT_EQ(variant(Op::allReduce, 64 << 20), "two_shot_push");
  EXPECT_EQ(variant(Op::allGather, 8 << 10), "packet");
  EXPECT_EQ(variant(Op::allGather, 8 << 20), "push");
  EXPECT_EQ(variant(Op::reduceScatter, 8 << 20), "pull");
  // Large messages use large tiles.
  EXPECT_GT(select(tuningKeyOf(Op::allGather, 8 << 20)).config.tile,
            select(tuningKeyOf(Op::allGather, 8 << 10)).config.tile);
  // Small messages use few programs.
  EXPECT_LE(select(tuningKeyOf(Op::allReduce, 1 << 10)).config.programs, 16);
  EXPECT_GE(select(tuningKeyOf(Op::allReduce, 64 << 20)).config.programs, 64);
  // A requested number of programs is kept, whatever it costs.
  TuningKey few = tuningKeyOf(Op::allReduce, 64 << 20);
  few.programs = 20;
  EXPECT_EQ(select(few).config.programs, 20);
  EXPECT_GT(estimates(few).front().us,
            estimates(tuningKeyOf(Op::allReduce, 64 << 20)).front().us);
  // The root's links carry the data once.
  EXPECT_EQ(variant(Op::broadcast, 16 << 10), "packet");
  EXPECT_EQ(variant(Op::broadcast, 64 << 20), "scatter");
  EXPECT_EQ(variant(Op::reduce, 64 << 20), "two_shot");
  // The root's buffers may overlap.
  EXPECT_EQ(variant(Op::gather, 1 << 20), "push");
  EXPECT_EQ(variant(Op::scatter, 1 << 20), "pull");
  // Staging is free if data go through the workspace anyway.
  TuningKey elsewhere = tuningKeyOf(Op::allReduce, 8 << 10);
  elsewhere.onHeap = false;
  EXPECT_EQ(select(elsewhere).config.variant, "one_shot_packet");
  EXPECT_NE(select(elsewhere).reason.find("staged"), std::string::npos);
  for (Op op : {Op::allReduce, Op::allGather, Op::send})
    EXPECT_EQ(
        select(tuningKeyOf(op, 8 << 20, 2, DeviceKind::host)).config.programs,
        2);
  for (uint32_t size : {2u, 4u, 12u})
    EXPECT_EQ(select(tuningKeyOf(Op::send, 8 << 20, size)).config.programs,
              plan::Workspace::fifoPrograms(size));
}

TEST(Selector, EstimatesAreOrdered) {
  forManyTuningKeys([](const TuningKey &tuningKey) {
    std::vector<Estimate> all = estimates(tuningKey);
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.front().config.variant, select(tuningKey).config.variant);
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_GT(all[i].us, 0);
      ASSERT_GE(all[i].us, all[i > 0 ? i - 1 : 0].us);
    }
  });
}

TEST(Selector, MoreWorkTakesLonger) {
  for (DeviceKind device : allDevices) {
    const DeviceModel &model = deviceModelOf(device, "", nullptr);
    const LinkModel &link = model.links;
    for (int op = 0; op <= static_cast<int>(Op::barrier); ++op)
      for (const KernelModel &kernel :
           kernelModelsOf(model, static_cast<Op>(op)))
        for (int64_t programs : link.programs)
          for (uint32_t size : {2, 4, 8}) {
            double least = 0;
            // From the size at which tiles are whole.
            for (uint64_t bytes = 1 << 17; bytes <= 1 << 30; bytes *= 2) {
              TuningKey s = tuningKeyOf(kernel.op, bytes, size, device);
              double us = estimate(link, kernel, s, programs);
              if (kernel.op != Op::barrier)
                EXPECT_GT(us, least) << kernel.variant << " " << bytes;
              least = us;
              // Odd sizes, odd addresses, buffers off the heap.
              s.bytes -= 8;
              s.alignment = 8;
              EXPECT_GE(estimate(link, kernel, s, programs), us * 0.99);
              s = tuningKeyOf(kernel.op, bytes, size, device);
              s.onHeap = false;
              EXPECT_GE(estimate(link, kernel, s, programs), us);
            }
          }
  }
}

TEST(Selector, BufferedTakesAnyBuffer) {
  // Kernels that are not listed yet.
  for (DeviceKind device : allDevices) {
    const DeviceModel &model = deviceModelOf(device, "", nullptr);
    const LinkModel &link = model.links;
    KernelModel kernel = {
        Op::allReduce, "one_shot_buffered", 4096, 8, 5, 0, 1, 0, 0, 300e3};
    TuningKey s = tuningKeyOf(Op::allReduce, 64 << 10, 8, device);
    double us = estimate(link, kernel, s, 16);
    EXPECT_GE(us, 5 + 1 + 7 * 65536 / 300e3);
    s.onHeap = false; // everything goes through the workspace unchanged
    EXPECT_EQ(estimate(link, kernel, s, 16), us);
  }
}
