// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Report.cpp - Output of iris-bench ----------------------------------===//
#include "Report.h"

#include "iris/ccl/Selector.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

using namespace iris;
using namespace iris::bench;
using ccl::Op;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::string formatBytes(uint64_t bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (unit + 1 < std::size(units) && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return rt::formatString("%llu %s", static_cast<unsigned long long>(bytes),
                          units[unit]);
}

/// Bus bandwidth as defined by nccl-tests, in GB/s: the traffic on each rank's
/// links with an optimal algorithm.
static double busBandwidth(const Case &each, uint32_t ranks, double us) {
  double bytes = static_cast<double>(each.count) * ccl::dtypeBytes(each.dtype);
  double peers = ranks - 1.0;
  double carried = bytes;
  if (each.op == Op::allReduce)
    carried = 2 * peers / ranks * bytes;
  else if (!ccl::getCollective(each.op).isDivisible())
    carried = peers * bytes;
  return carried / us / 1e3;
}

/// A JSON string.
static std::string quote(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      result += rt::formatString("\\u%04x", c);
    else
      result += c;
  }
  return result + "\"";
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

rt::Expected<std::unique_ptr<Report>> Report::open(const Options &options) {
  std::unique_ptr<Report> report(new Report(options));
  report->showsProgress_ = ::isatty(STDERR_FILENO) != 0;
  if (options.jsonPath.empty())
    return report;
  report->json_ = std::fopen(options.jsonPath.c_str(), "a");
  if (!report->json_)
    return rt::makeStatus(rt::StatusCode::invalidArgument,
                          "cannot write %s: %s", options.jsonPath.c_str(),
                          std::strerror(errno));
  return report;
}

Report::~Report() {
  if (json_)
    std::fclose(json_);
}

rt::Status Report::finish() {
  if (!json_)
    return {};
  // ferror also reports an earlier flush that failed.
  bool failed = std::ferror(json_) != 0;
  errno = 0;
  failed = std::fclose(std::exchange(json_, nullptr)) != 0 || failed;
  if (!failed)
    return {};
  return rt::makeErrnoStatus(rt::StatusCode::unavailable,
                             errno != 0 ? errno : EIO, "cannot write %s",
                             options_.jsonPath.c_str());
}

void Report::begin(const rt::World &world, size_t numCases, size_t numMatmuls) {
  numCases_ = numCases;
  numAll_ = numCases + numMatmuls;
  device_ = world.deviceName();
  std::printf("%u ranks on %s (%s), %u calls in a sample, %u samples\n",
              world.numRanks(), device_.c_str(), world.target().c_str(),
              options_.calls, options_.samples);
  if (numCases != 0)
    std::printf("%-15s %-10s %10s %-6s %-24s %10s %21s %9s  %s\n", "operation",
                "type", "chunk", "mode", "variant", "us", "quartiles",
                "GB/s bus", "result");
  if (numMatmuls != 0)
    std::printf("%-29s %-6s %18s %-6s %-44s %10s %21s %8s  %s\n", "matmul",
                "type", "shape", "mode", "variant", "us", "quartiles",
                "TFLOP/s", "result");
  std::fflush(stdout);
}

void Report::clearProgress() {
  if (showsProgress_)
    std::fprintf(stderr, "\r\033[K");
}

void Report::printProgress(size_t number, const std::string &what) {
  if (!showsProgress_)
    return;
  std::fprintf(stderr, "\r\033[K%zu of %zu: %s", number + 1, numAll_,
               what.c_str());
  std::fflush(stderr);
}

void Report::progress(size_t number, const Case &each) {
  uint64_t bytes = each.count * ccl::dtypeBytes(each.dtype);
  printProgress(number, std::string(ccl::opName(each.op)) + " " +
                            each.config.variant + ", " + formatBytes(bytes));
}

/// The variant, and the config fields that a sweep may change.
static std::string variantOf(const ccl::Config &config) {
  std::string text = config.variant;
  auto add = [&text](const char *key, int64_t value) {
    if (value != 0)
      text += rt::formatString(" %s%lld", key, static_cast<long long>(value));
  };
  add("p", config.programs);
  add("t", config.tile);
  add("w", config.warps);
  return text;
}

/// What stands for the variant if the communicator selects it.
static constexpr const char *openVariant = "selected";

static std::string describe(const Case &each) {
  uint64_t bytes = each.count * ccl::dtypeBytes(each.dtype);
  return rt::formatString(
      "%-15s %-10s %10s %-6s %-24s", std::string(ccl::opName(each.op)).c_str(),
      std::string(ccl::dtypeName(each.dtype)).c_str(),
      formatBytes(bytes).c_str(), modeName(each.mode),
      each.isOpen ? openVariant : variantOf(each.config).c_str());
}

void Report::add(const Case &each, const Timing &timing) {
  clearProgress();
  double bandwidth = busBandwidth(each, options_.numRanks, timing.median);
  std::printf("%s %10.2f %10.2f-%-10.2f %9.2f  right%s%s\n",
              describe(each).c_str(), timing.median, timing.q1, timing.q3,
              bandwidth, each.isOpen ? "; " : "", timing.choice.c_str());
  std::fflush(stdout);
  if (!json_)
    return;
  std::fprintf(
      json_,
      "{\"op\": %s, \"peer\": \"iris\", \"dtype\": %s, \"bytes\": %llu, "
      "\"us\": %.3f, \"q1\": %.3f, \"q3\": %.3f, \"min\": %.3f, \"max\": %.3f, "
      "\"busbw_GBs\": %.3f, \"ranks\": %u, \"mode\": %s, \"variant\": %s, "
      "\"chosen\": %s, \"programs\": %lld, \"tile\": %lld, \"warps\": %lld, "
      "\"calls\": %u, \"first_ms\": %.3f, \"staged\": %s, \"in_place\": %s, "
      "\"device\": %s, \"choice\": %s, "
      "\"machine\": %s, \"commit\": %s}\n",
      quote(std::string(ccl::opName(each.op))).c_str(),
      quote(std::string(ccl::dtypeName(each.dtype))).c_str(),
      static_cast<unsigned long long>(each.count * ccl::dtypeBytes(each.dtype)),
      timing.median, timing.q1, timing.q3, timing.least, timing.most, bandwidth,
      options_.numRanks, quote(modeName(each.mode)).c_str(),
      quote(each.isOpen ? openVariant : each.config.variant).c_str(),
      each.chosen ? "true" : "false",
      static_cast<long long>(each.config.programs),
      static_cast<long long>(each.config.tile),
      static_cast<long long>(each.config.warps), timing.calls, timing.firstMs,
      each.config.staged ? "true" : "false", each.inPlace ? "true" : "false",
      quote(device_).c_str(), quote(timing.choice).c_str(),
      quote(options_.machine).c_str(), quote(options_.commit).c_str());
  std::fflush(json_);
}

void Report::skip(const Case &each, const rt::Status &status) {
  clearProgress();
  std::printf("%s not possible: %s\n", describe(each).c_str(),
              status.message().c_str());
  std::fflush(stdout);
}

void Report::fail(const Case &each, const rt::Status &status) {
  clearProgress();
  std::printf("%s FAILED: %s\n", describe(each).c_str(),
              status.message().c_str());
  std::fflush(stdout);
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

static std::string shapeText(const Shape &shape) {
  return rt::formatString("%llux%llux%llu",
                          static_cast<unsigned long long>(shape.m),
                          static_cast<unsigned long long>(shape.n),
                          static_cast<unsigned long long>(shape.k));
}

static std::string describe(const MatmulCase &each) {
  const ccl::MatmulConfig &config = each.problem.config;
  std::string what = matmulName(each.problem);
  std::string way = config.variant;
  if (config.tileM != 0)
    way += rt::formatString(" %lldx%lldx%lld",
                            static_cast<long long>(config.tileM),
                            static_cast<long long>(config.tileN),
                            static_cast<long long>(config.tileK));
  auto add = [&way](const char *key, int64_t value) {
    if (value != 0)
      way += rt::formatString(" %s%lld", key, static_cast<long long>(value));
  };
  add("w", config.warps);
  add("p", config.programs);
  add("g", config.groupM);
  add("f", config.numFetchPrograms);
  add("k", config.kPerFlag);
  add("t", config.tilesPerCommProgram);
  add("s", config.splitK);
  return rt::formatString(
      "%-29s %-6s %18s %-6s %-44s", what.c_str(),
      std::string(ccl::dtypeName(each.problem.element)).c_str(),
      shapeText(each.shape).c_str(), modeName(each.mode), way.c_str());
}

void Report::progress(size_t number, const MatmulCase &each) {
  printProgress(numCases_ + number,
                std::string(ccl::kindName(each.problem.kind)) + " " +
                    shapeText(each.shape) + ", " +
                    ccl::describe(each.problem.config));
}

static const char *layoutName(bool isColumnMajor) {
  return isColumnMajor ? "column" : "row";
}

void Report::add(const MatmulCase &each, const MatmulTiming &result) {
  clearProgress();
  const Timing &timing = result.timing;
  std::printf("%s %10.2f %10.2f-%-10.2f %8.2f  right\n", describe(each).c_str(),
              timing.median, timing.q1, timing.q3, result.tflops);
  std::fflush(stdout);
  if (!json_)
    return;
  const ccl::MatmulProblem &p = each.problem;
  const ccl::MatmulConfig &config = p.config;
  std::fprintf(
      json_,
      "{\"op\": %s, \"peer\": \"iris\", \"dtype\": %s, \"result\": %s, "
      "\"shape\": [%llu, %llu, %llu], \"us\": %.3f, \"q1\": %.3f, "
      "\"q3\": %.3f, \"min\": %.3f, \"max\": %.3f, \"tflops\": %.3f, "
      "\"ranks\": %u, \"mode\": %s, \"variant\": %s, \"chosen\": %s, "
      "\"shard\": %s, \"partial_type\": %s, \"a\": %s, \"b\": %s, ",
      quote(ccl::kindName(p.kind)).c_str(),
      quote(std::string(ccl::dtypeName(p.element))).c_str(),
      quote(std::string(ccl::dtypeName(p.result))).c_str(),
      static_cast<unsigned long long>(each.shape.m),
      static_cast<unsigned long long>(each.shape.n),
      static_cast<unsigned long long>(each.shape.k), timing.median, timing.q1,
      timing.q3, timing.least, timing.most, result.tflops, options_.numRanks,
      quote(modeName(each.mode)).c_str(), quote(config.variant).c_str(),
      each.chosen ? "true" : "false", quote(config.shard).c_str(),
      quote(config.partialType).c_str(),
      quote(layoutName(p.aIsColumnMajor)).c_str(),
      quote(layoutName(p.bIsColumnMajor)).c_str());
  struct Number {
    const char *key;
    int64_t value;
  };
  for (Number number : {Number{"tile_m", config.tileM},
                        {"tile_n", config.tileN},
                        {"tile_k", config.tileK},
                        {"warps", config.warps},
                        {"programs", config.programs},
                        {"group_m", config.groupM},
                        {"xcds", config.xcds},
                        {"num_fetch_programs", config.numFetchPrograms},
                        {"tiles_per_comm_program", config.tilesPerCommProgram},
                        {"split_k", config.splitK},
                        {"k_per_flag", config.kPerFlag}})
    std::fprintf(json_, "\"%s\": %lld, ", number.key,
                 static_cast<long long>(number.value));
  std::fprintf(json_,
               "\"error\": %.4f, \"calls\": %u, \"first_ms\": %.3f, "
               "\"device\": %s, \"machine\": %s, \"commit\": %s}\n",
               result.error, timing.calls, timing.firstMs,
               quote(device_).c_str(), quote(options_.machine).c_str(),
               quote(options_.commit).c_str());
  std::fflush(json_);
}

void Report::skip(const MatmulCase &each, const rt::Status &status) {
  clearProgress();
  std::printf("%s not possible: %s\n", describe(each).c_str(),
              status.message().c_str());
  std::fflush(stdout);
}

void Report::fail(const MatmulCase &each, const rt::Status &status) {
  clearProgress();
  std::printf("%s FAILED: %s\n", describe(each).c_str(),
              status.message().c_str());
  std::fflush(stdout);
}

//===----------------------------------------------------------------------===//
// Explanations
//===----------------------------------------------------------------------===//

static void explainCall(const ccl::TuningKey &tuningKey) {
  std::printf("%-15s %-10s %10s  %s\n",
              std::string(ccl::opName(tuningKey.op)).c_str(),
              std::string(ccl::dtypeName(tuningKey.dtype)).c_str(),
              formatBytes(tuningKey.bytes).c_str(),
              ccl::select(tuningKey).reason.c_str());
  std::vector<ccl::Estimate> all = ccl::estimates(tuningKey);
  for (size_t i = 1; i < all.size(); ++i)
    std::printf("%-38s  instead of %s: %.1f us\n", "",
                ccl::describe(all[i].config).c_str(), all[i].us);
}

void iris::bench::explain(const Options &options) {
  for (const Options &part : options.plan)
    explain(part);
  if (!options.plan.empty() || options.ops.empty())
    return;
  std::printf("%u ranks on %s; parameters of the model: %s\n", options.numRanks,
              rt::deviceName(options.device).c_str(),
              ccl::choiceSource(options.device.kind, options.attributesOrNull())
                  .c_str());
  for (Op op : options.ops)
    for (ccl::DType dtype : options.dtypes)
      for (uint64_t bytes : options.sizes)
        for (int64_t programs : options.programs) {
          ccl::TuningKey tuningKey = tuningKeyOf(options, op, dtype, bytes);
          tuningKey.programs = programs;
          explainCall(tuningKey);
        }
}
