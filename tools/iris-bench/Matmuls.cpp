// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matmuls.cpp - Cases of matmuls -------------------------------------===//
#include "Matmuls.h"

#include "MatmulData.h"
#include "Measure.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

using namespace iris;
using namespace iris::bench;
using ccl::DType;
using ccl::MatmulConfig;
using ccl::MatmulKind;
using ccl::MatmulProblem;
using rt::Expected;
using rt::Status;
using rt::StatusCode;

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

static bool reduces(MatmulKind kind) {
  return kind == MatmulKind::matmulReduceScatter ||
         kind == MatmulKind::matmulAllReduce;
}

/// The options' shards that a kind supports; without any, its default.
static std::vector<std::string> shardsFor(const Options &options,
                                          MatmulKind kind) {
  std::vector<std::string> all = {""};
  if (kind == MatmulKind::allGatherMatmul)
    all = {"k", "m"};
  else if (kind == MatmulKind::matmulAllGather)
    all = {"m", "n"};
  if (options.shards.front().empty() || all.front().empty())
    return {all.front()};
  std::vector<std::string> some;
  for (const std::string &shard : options.shards)
    if (std::find(all.begin(), all.end(), shard) != all.end())
      some.push_back(shard);
  return some;
}

/// The result type for an element type.
static DType resultOf(DType element) {
  if (element == DType::i8)
    return DType::i32;
  return ccl::dtypeBytes(element) == 1 ? DType::f16 : element;
}

Expected<MatmulProblem>
iris::bench::problemOf(uint32_t numRanks, MatmulKind kind, DType dtype,
                       const std::string &shard, const std::string &partialType,
                       const Shape &shape, const MatmulProblem &layouts) {
  MatmulProblem p = layouts;
  p.kind = kind;
  p.element = dtype;
  p.result = resultOf(dtype);
  p.config.shard = shard;
  p.config.partialType = reduces(kind) ? partialType : "";
  p.m = shape.m;
  p.n = shape.n;
  p.k = shape.k;
  const uint64_t ranks = numRanks;
  auto divide = [&](uint64_t &extent, const char *name) -> Status {
    if (extent % ranks != 0)
      return rt::makeStatus(StatusCode::invalidArgument,
                            "--shape=%llux%llux%llu for %s on %llu ranks; "
                            "expected a multiple of that for %s",
                            static_cast<unsigned long long>(shape.m),
                            static_cast<unsigned long long>(shape.n),
                            static_cast<unsigned long long>(shape.k),
                            ccl::kindName(kind),
                            static_cast<unsigned long long>(ranks), name);
    extent /= ranks;
    return {};
  };
  bool isGather = kind == MatmulKind::allGatherMatmul ||
                  kind == MatmulKind::matmulAllGather;
  if (reduces(kind) || (isGather && shard == "k"))
    IRISRT_RETURN_IF_ERROR(divide(p.k, "K"));
  if (kind == MatmulKind::matmulReduceScatter || (isGather && shard == "m"))
    IRISRT_RETURN_IF_ERROR(divide(p.m, "M"));
  if (isGather && shard == "n")
    IRISRT_RETURN_IF_ERROR(divide(p.n, "N"));
  return p;
}

std::string iris::bench::matmulName(const MatmulProblem &p) {
  std::string name = ccl::kindName(p.kind);
  for (const std::string &word : {p.config.shard, p.config.partialType})
    if (!word.empty() && p.kind != MatmulKind::matmul)
      name += " " + word;
  return name + (p.aIsColumnMajor ? ", a column" : "") +
         (p.bIsColumnMajor ? ", b column" : "");
}

ccl::MatmulTuningKey iris::bench::tuningKeyOf(const Options &options,
                                              const MatmulProblem &problem) {
  ccl::MatmulTuningKey tuningKey;
  tuningKey.problem = problem;
  tuningKey.groupSize = options.numRanks;
  tuningKey.device = options.device.kind;
  tuningKey.target = options.target;
  tuningKey.attributes = options.attributesOrNull();
  if (options.target.empty())
    tuningKey.target = options.device.kind == rt::DeviceKind::cuda  ? "sm_90a"
                       : options.device.kind == rt::DeviceKind::hip ? "gfx942"
                       : options.device.kind == rt::DeviceKind::emulated
                           ? options.device.chip
                           : "host";
  return tuningKey;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

static std::vector<std::string>
variantsFor(const Options &options, MatmulKind kind, const MatmulProblem &p) {
  if (options.variants.empty())
    return {""};
  std::vector<std::string> some;
  for (const std::string &variant : ccl::variantsOf(kind)) {
    bool isNamed = std::find(options.variants.begin(), options.variants.end(),
                             variant) != options.variants.end();
    // Atomic additions require results of the accumulator's type.
    bool isPossible = !ccl::addsInResult(kind, variant) ||
                      p.result == DType::f32 || p.result == DType::i32;
    if (isNamed || (asksForAll(options) && isPossible))
      some.push_back(variant);
  }
  return some;
}

/// Replaces each config by one for each of the values.
static void vary(std::vector<MatmulConfig> &configs,
                 int64_t MatmulConfig::*field,
                 const std::vector<int64_t> &values) {
  std::vector<MatmulConfig> all;
  for (const MatmulConfig &config : configs)
    for (int64_t value : values)
      (all.emplace_back(config)).*field = value;
  configs = std::move(all);
}

/// Every combination of the config fields that the options give, as far as the
/// variant supports them.
static std::vector<MatmulConfig> requestedConfigs(const Options &options,
                                                  const MatmulProblem &p) {
  std::vector<MatmulConfig> requests;
  std::vector<std::string> variants = variantsFor(options, p.kind, p);
  if (options.tune != 0 && asksForAll(options))
    variants = {""};
  for (const std::string &variant : variants) {
    std::vector<MatmulConfig> configs;
    for (const Shape &tile : options.matmulTiles) {
      MatmulConfig &config = configs.emplace_back(p.config);
      config.variant = variant;
      config.tileM = static_cast<int64_t>(tile.m);
      config.tileN = static_cast<int64_t>(tile.n);
      config.tileK = static_cast<int64_t>(tile.k);
      if (ccl::addsInResult(p.kind, variant))
        config.partialType = "";
    }
    vary(configs, &MatmulConfig::warps, options.warps);
    vary(configs, &MatmulConfig::programs, options.programs);
    vary(configs, &MatmulConfig::groupM, options.groupM);
    if (variant.empty() || ccl::hasSplits(p.kind, variant))
      vary(configs, &MatmulConfig::splitK, options.splitK);
    if (variant.empty() || ccl::hasCommPrograms(p.kind, variant)) {
      vary(configs, &MatmulConfig::numFetchPrograms, options.fetchPrograms);
      vary(configs, &MatmulConfig::tilesPerCommProgram,
           options.tilesPerCommProgram);
    }
    if (variant.empty() || ccl::hasUnits(p.kind, variant))
      vary(configs, &MatmulConfig::kPerFlag, options.kPerFlag);
    requests.insert(requests.end(), configs.begin(), configs.end());
  }
  return requests;
}

static void addProblem(const Options &options, const MatmulProblem &problem,
                       const MatmulCase &base, std::vector<MatmulCase> &cases) {
  ccl::MatmulTuningKey tuningKey = tuningKeyOf(options, problem);
  Expected<ccl::MatmulChoice> chosen = ccl::select(tuningKey);
  auto add = [&](const MatmulConfig &config, const Status &status) {
    MatmulCase each = base;
    each.problem = problem;
    each.problem.config = config;
    each.chosen = chosen.ok() && chosen->config == config;
    each.status = status;
    each.isUnsupported = !ccl::checkDevice(tuningKey).ok();
    cases.push_back(each);
  };
  if (options.tune != 0) {
    // Include the selector's current choice, which may come from the table.
    std::vector<MatmulConfig> all;
    if (chosen.ok())
      all.push_back(chosen->config);
    for (const MatmulConfig &requested : requestedConfigs(options, problem)) {
      tuningKey.problem.config = requested;
      for (const MatmulConfig &config :
           ccl::tuningCandidates(tuningKey, options.tune))
        if (std::find(all.begin(), all.end(), config) == all.end())
          all.push_back(config);
    }
    for (const MatmulConfig &config : all)
      add(config, {});
    return;
  }
  for (const MatmulConfig &requested : requestedConfigs(options, problem)) {
    tuningKey.problem.config = requested;
    Expected<ccl::MatmulChoice> choice = ccl::select(tuningKey);
    add(choice.ok() ? choice->config : requested, choice.status());
  }
}

Expected<std::vector<MatmulCase>>
iris::bench::matmulsOf(const Options &options) {
  std::vector<MatmulCase> cases;
  for (const Options &part : options.plan) {
    IRISRT_ASSIGN_OR_RETURN(std::vector<MatmulCase> some, matmulsOf(part));
    size_t first = cases.empty() ? 0 : cases.back().group + 1;
    for (MatmulCase &each : some) {
      each.group += first;
      cases.push_back(std::move(each));
    }
  }
  if (!options.plan.empty())
    return cases;
  std::vector<MatmulProblem> layouts;
  for (const std::string &a : options.aLayouts)
    for (const std::string &b : options.bLayouts) {
      layouts.emplace_back();
      layouts.back().aIsColumnMajor = a == "column";
      layouts.back().bIsColumnMajor = b == "column";
    }
  ccl::MatmulTable done;
  if (options.tune != 0 && options.resume &&
      ::access(options.tablePath.c_str(), F_OK) == 0) {
    IRISRT_ASSIGN_OR_RETURN(done, ccl::MatmulTable::read(options.tablePath));
  }
  MatmulCase base;
  base.mayBeImpossible = asksForAll(options) || options.tune != 0;
  for (MatmulKind kind : options.matmuls)
    for (DType dtype : options.dtypes)
      for (const std::string &shard : shardsFor(options, kind))
        for (const std::string &partialType :
             reduces(kind) ? options.partialTypes
                           : std::vector<std::string>{""})
          for (const MatmulProblem &layout : layouts)
            for (Mode mode : options.modes)
              for (const Shape &shape : options.shapes) {
                IRISRT_ASSIGN_OR_RETURN(
                    MatmulProblem problem,
                    problemOf(options.numRanks, kind, dtype, shard,
                              partialType.empty() && reduces(kind)
                                  ? "sum"
                                  : partialType,
                              shape, layout));
                if (done.find(tuningKeyOf(options, problem)))
                  continue;
                base.shape = shape;
                base.mode = mode;
                addProblem(options, problem, base, cases);
                ++base.group;
              }
  return cases;
}

void iris::bench::addRequests(const Options &options,
                              const std::vector<MatmulCase> &cases,
                              std::set<std::string> &requests) {
  for (const MatmulCase &each : cases)
    if (each.status.ok())
      for (std::string &source :
           ccl::kernelSources(tuningKeyOf(options, each.problem)))
        requests.insert(std::move(source));
}

uint64_t iris::bench::heapBytesOf(const Options &options,
                                  const std::vector<MatmulCase> &cases) {
  uint64_t most = 0;
  for (const MatmulCase &each : cases) {
    MatmulData data(each.problem, 0, options.numRanks);
    uint64_t element = ccl::dtypeBytes(each.problem.element);
    uint64_t bytes =
        (data.a.count() + data.b.count()) * element + data.resultBytes();
    Expected<uint64_t> shared =
        ccl::sharedBytes(tuningKeyOf(options, each.problem));
    bytes += shared.ok() ? *shared : 0;
    most = std::max(most, bytes);
  }
  // Add space for mapped chunks and gaps between allocations.
  return most == 0 ? 0 : most + most / 4 + (192 << 20);
}

//===----------------------------------------------------------------------===//
// Explanations
//===----------------------------------------------------------------------===//

Status iris::bench::explainMatmuls(const Options &options) {
  for (const Options &part : options.plan)
    IRISRT_RETURN_IF_ERROR(explainMatmuls(part));
  if (!options.plan.empty() || options.matmuls.empty())
    return {};
  ccl::MatmulTuningKey any = tuningKeyOf(options, {});
  std::printf(
      "%u ranks on %s; parameters of the matmul model: %s\n", options.numRanks,
      any.target.c_str(),
      ccl::matmulModelSource(any.device, any.target, any.attributes).c_str());
  Options once = options;
  once.modes.resize(1);
  once.tune = 0;
  IRISRT_ASSIGN_OR_RETURN(std::vector<MatmulCase> cases, matmulsOf(once));
  Status worst;
  for (const MatmulCase &each : cases) {
    const MatmulConfig &config = each.problem.config;
    std::string what = matmulName(each.problem);
    std::printf("%-29s %-6s %llux%llux%llu  ", what.c_str(),
                std::string(ccl::dtypeName(each.problem.element)).c_str(),
                static_cast<unsigned long long>(each.shape.m),
                static_cast<unsigned long long>(each.shape.n),
                static_cast<unsigned long long>(each.shape.k));
    if (!each.status.ok()) {
      std::printf("%s\n", each.status.message().c_str());
      // As where it is measured: an error, unless every variant was asked for.
      if (!each.mayBeImpossible && worst.ok())
        worst = each.status;
      continue;
    }
    ccl::MatmulTuningKey tuningKey = tuningKeyOf(options, each.problem);
    if (options.variants.empty())
      tuningKey.problem.config = MatmulConfig();
    tuningKey.problem.config.shard = config.shard;
    tuningKey.problem.config.partialType = config.partialType;
    IRISRT_ASSIGN_OR_RETURN(ccl::MatmulChoice choice, ccl::select(tuningKey));
    std::printf("%s\n", choice.reason.c_str());
    // The best candidate of each other variant.
    std::set<std::string> printed = {choice.config.variant};
    for (const ccl::MatmulEstimate &other : ccl::estimates(tuningKey))
      if (printed.insert(other.config.variant).second)
        std::printf("%-38s  instead of %s: %.1f us (%.1f, %.1f)\n", "",
                    ccl::describe(other.config).c_str(), other.us,
                    other.matmulUs, other.commUs);
  }
  return worst;
}
