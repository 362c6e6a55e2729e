// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulPlan.cpp - Shapes and memory of matmuls ----------------------===//
//
// Must match lib/Kernels/MatmulKernels.cpp, the compiler's side.
#include "ccl/MatmulPlan.h"

#include "ccl/Spec.h"

#include <algorithm>
#include <cinttypes>
#include <tuple>

using namespace iris::ccl;
using namespace iris::rt;

const char *iris::ccl::kindName(MatmulKind kind) {
  switch (kind) {
  case MatmulKind::matmul:
    return "matmul";
  case MatmulKind::allGatherMatmul:
    return "all_gather_matmul";
  case MatmulKind::matmulAllGather:
    return "matmul_all_gather";
  case MatmulKind::matmulReduceScatter:
    return "matmul_reduce_scatter";
  case MatmulKind::matmulAllReduce:
    return "matmul_all_reduce";
  }
  return "unknown";
}

static const char *defaultVariant(MatmulKind kind) {
  switch (kind) {
  case MatmulKind::matmul:
    return "tiles";
  case MatmulKind::allGatherMatmul:
    return "pull";
  case MatmulKind::matmulAllReduce:
    return "two_shot";
  default:
    return "push";
  }
}

uint64_t iris::ccl::divideUp(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0);
}

DType iris::ccl::sumType(DType element) {
  return element == DType::i8 ? DType::i32 : DType::f32;
}

bool MatmulConfig::operator==(const MatmulConfig &other) const {
  auto names = [](const MatmulConfig &c) {
    return std::tie(c.variant, c.shard, c.stagedLayout, c.partialType);
  };
  return names(*this) == names(other) &&
         std::all_of(std::begin(matmulNumbers), std::end(matmulNumbers),
                     [&](const MatmulNumber &number) {
                       return this->*number.value == other.*number.value;
                     });
}

const std::vector<std::string> &iris::ccl::variantsOf(MatmulKind kind) {
  static const std::vector<std::string> alone = {"tiles"};
  static const std::vector<std::string> gathers = {"pull", "hbm_buffer", "push",
                                                   "copy_engine", "unfused"};
  static const std::vector<std::string> gathersResult = {
      "push", "specialized", "copy_engine", "unfused"};
  static const std::vector<std::string> scatters = {"push", "specialized",
                                                    "copy_engine", "unfused"};
  static const std::vector<std::string> reduces = {"two_shot",    "one_shot",
                                                   "atomic",      "specialized",
                                                   "copy_engine", "unfused"};
  switch (kind) {
  case MatmulKind::allGatherMatmul:
    return gathers;
  case MatmulKind::matmulAllGather:
    return gathersResult;
  case MatmulKind::matmulReduceScatter:
    return scatters;
  case MatmulKind::matmulAllReduce:
    return reduces;
  default:
    return alone;
  }
}

bool iris::ccl::hasUnits(MatmulKind kind, const std::string &variant) {
  return kind == MatmulKind::allGatherMatmul &&
         (variant == "hbm_buffer" || variant == "push");
}

bool iris::ccl::hasCommPrograms(MatmulKind kind, const std::string &variant) {
  return hasUnits(kind, variant) || variant == "specialized";
}

bool iris::ccl::hasSplits(MatmulKind kind, const std::string &variant) {
  return kind == MatmulKind::matmul || variant == "unfused";
}

/// The dimensions by which the operands can be sharded; the first is the
/// default.
static std::vector<std::string> shardsOf(MatmulKind kind) {
  switch (kind) {
  case MatmulKind::allGatherMatmul:
    return {"k", "m"};
  case MatmulKind::matmulAllGather:
    return {"m", "n"};
  case MatmulKind::matmulAllReduce:
    return {"k"};
  default:
    return {"m"};
  }
}

static bool hasPartialSums(MatmulKind kind) {
  return kind == MatmulKind::matmulReduceScatter ||
         kind == MatmulKind::matmulAllReduce;
}

/// Checks that a named field of the config is empty or one of `all`.
static Status checkWord(MatmulKind kind, const char *what,
                        const std::string &word,
                        const std::vector<std::string> &all) {
  if (word.empty() || std::find(all.begin(), all.end(), word) != all.end())
    return Status::success();
  std::string allowed;
  for (const std::string &each : all)
    allowed += (allowed.empty() ? "" : ", ") + each;
  return makeStatus(StatusCode::invalidArgument, "%s: %s '%s'; expected %s%s",
                    kindName(kind), what, word.c_str(),
                    all.empty() ? "none" : "one of ", allowed.c_str());
}

/// Checks the fields that decide how the problem is computed, before the
/// compiler could check them.
static Status checkWords(const MatmulProblem &p) {
  const MatmulConfig &config = p.config;
  IRISRT_RETURN_IF_ERROR(
      checkWord(p.kind, "variant", config.variant, variantsOf(p.kind)));
  IRISRT_RETURN_IF_ERROR(
      checkWord(p.kind, "shard", config.shard, shardsOf(p.kind)));
  if (p.kind == MatmulKind::matmulAllGather && config.shard == "n" &&
      isCopied(config.variant))
    return makeStatus(StatusCode::invalidArgument,
                      "%s: copy_engine copies whole rows; expected shard m, or "
                      "another variant",
                      kindName(p.kind));
  std::vector<std::string> partialTypes;
  if (hasPartialSums(p.kind))
    partialTypes = {"sum", "result"};
  IRISRT_RETURN_IF_ERROR(
      checkWord(p.kind, "partial_type", config.partialType, partialTypes));
  auto bias = static_cast<int>(p.bias);
  auto activation = static_cast<int>(p.activation);
  if (bias < 0 || bias > static_cast<int>(Bias::column) || activation < 0 ||
      activation > static_cast<int>(Activation::gelu))
    return makeStatus(StatusCode::invalidArgument,
                      "%s: bias %d, activation %d; expected a Bias and an "
                      "Activation",
                      kindName(p.kind), bias, activation);
  return Status::success();
}

/// Checks the limits that keep the computation of shapes from overflowing.
Status iris::ccl::checkProblem(const MatmulProblem &p, uint32_t groupSize) {
  const char *name = kindName(p.kind);
  if (std::string(name) == "unknown")
    return makeStatus(StatusCode::invalidArgument,
                      "matmul: %d is no kind of matmul",
                      static_cast<int>(p.kind));
  if (groupSize > IRISRT_MAX_GROUP)
    return makeStatus(StatusCode::invalidArgument,
                      "%s: a world of %u ranks; expected at most %u", name,
                      groupSize, static_cast<unsigned>(IRISRT_MAX_GROUP));
  constexpr uint64_t most = uint64_t(1) << 24;
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.m > most || p.n > most ||
      p.k > most)
    return makeStatus(StatusCode::invalidArgument,
                      "%s: m = %" PRIu64 ", n = %" PRIu64 ", k = %" PRIu64
                      "; expected 1 to %" PRIu64,
                      name, p.m, p.n, p.k, most);
  if (dtypeBytes(p.element) == 0 || dtypeBytes(p.result) == 0)
    return makeStatus(StatusCode::invalidArgument,
                      "%s: element type %d, result type %d; expected DTypes",
                      name, static_cast<int>(p.element),
                      static_cast<int>(p.result));
  for (int64_t value : {p.config.tileM, p.config.tileN, p.config.tileK,
                        p.config.groupM, p.config.kPerFlag})
    if (value < 0 || value > 1024)
      return makeStatus(StatusCode::invalidArgument,
                        "%s: the config has a tile or group of %" PRId64
                        "; expected 0 to 1024",
                        name, value);
  const int64_t splits = p.config.splitK;
  if (splits < 0 || splits > mostSplits || (splits & (splits - 1)) != 0)
    return makeStatus(StatusCode::invalidArgument,
                      "%s: split_k = %" PRId64
                      "; expected a power of two, at most %" PRId64,
                      name, splits, mostSplits);
  return checkWords(p);
}

void iris::ccl::fillSemantics(MatmulProblem &p) {
  if (p.config.shard.empty())
    p.config.shard = shardsOf(p.kind).front();
  if (hasPartialSums(p.kind) && p.config.partialType.empty() &&
      p.config.variant != "atomic")
    p.config.partialType = "sum";
  // The same, which kernels call by the first name.
  if (p.config.partialType == "result" && p.result == sumType(p.element))
    p.config.partialType = "sum";
}

CopiedParts iris::ccl::copiedParts(const MatmulProblem &p, uint32_t groupSize) {
  const uint64_t size = groupSize;
  const auto tileRows = static_cast<uint64_t>(p.config.tileM);
  CopiedParts parts;
  parts.rows = p.m;
  if (p.kind == MatmulKind::matmulAllReduce)
    parts.rows = divideUp(divideUp(p.m, tileRows), size) * tileRows;
  parts.groupRows = static_cast<uint64_t>(p.config.groupM) * tileRows;
  parts.groups = divideUp(parts.rows, parts.groupRows);
  parts.hasPartialSums = hasPartialSums(p.kind);
  if (p.kind != MatmulKind::matmulAllGather)
    parts.flags = size * parts.groups;
  if (p.kind == MatmulKind::matmulAllGather)
    parts.counts = parts.groups;
  else if (parts.hasPartialSums)
    parts.counts = parts.flags;
  return parts;
}

Expected<MatmulPlan> iris::ccl::makePlan(MatmulProblem &p, uint32_t groupSize) {
  MatmulConfig &config = p.config;
  auto setDefault = [](int64_t &value, int64_t defaultValue) {
    value = value == 0 ? defaultValue : value;
  };
  if (config.variant.empty())
    config.variant = defaultVariant(p.kind);
  fillSemantics(p);
  setDefault(config.tileM, defaultTile);
  setDefault(config.tileN, defaultTile);
  setDefault(config.tileK, defaultTileK);
  const uint64_t size = groupSize;
  MatmulPlan plan;
  plan.a = {p.m, p.k};
  plan.b = {p.k, p.n};
  plan.c = {p.m, p.n};
  bool isGathered = config.variant == "gathered";
  bool isUnfused = config.variant == "unfused";
  bool isStaged = hasUnits(p.kind, config.variant);
  if (isGathered)
    plan.a.rows *= size;
  if (p.kind == MatmulKind::allGatherMatmul && config.shard == "k")
    plan.b.rows *= size;
  else if (p.kind == MatmulKind::allGatherMatmul)
    plan.c.rows *= size;
  else if (p.kind == MatmulKind::matmulAllGather && config.shard == "m")
    plan.c.rows *= size;
  else if (p.kind == MatmulKind::matmulAllGather)
    plan.c.columns *= size;
  else if (p.kind == MatmulKind::matmulReduceScatter)
    plan.a.rows *= size;

  const uint64_t rowTiles = divideUp(p.m, config.tileM);
  const uint64_t columnTiles = divideUp(p.n, config.tileN);
  uint64_t flags = 0;
  // In a reduce-scatter every rank computes tiles of all parts.
  bool isScatter = p.kind == MatmulKind::matmulReduceScatter;
  plan.tiles = (isScatter ? size : 1) * divideUp(plan.c.rows, config.tileM) *
               divideUp(plan.c.columns, config.tileN);
  // The partial sums of all splits, stacked by rows, and a count for each tile.
  if (p.kind == MatmulKind::matmul && config.splitK > 1) {
    const auto splits = static_cast<uint64_t>(config.splitK);
    plan.staging = {splits * p.m, p.n};
    plan.stagingBytes = plan.staging.rows * plan.staging.columns *
                        dtypeBytes(sumType(p.element));
    plan.workspaceBytes = matmulWorkspaceBase + plan.tiles * matmulFlagBytes;
    plan.tiles *= splits;
    return plan;
  }
  if (isGathered || isUnfused || p.kind == MatmulKind::matmul)
    return plan;
  // The element size of partial sums.
  uint32_t stagedBytes =
      config.partialType == "result" ? dtypeBytes(p.result) : 4;
  if (isCopied(config.variant)) {
    setDefault(config.groupM, defaultGroupM);
    CopiedParts parts = copiedParts(p, groupSize);
    flags = parts.words();
    if (p.kind == MatmulKind::allGatherMatmul) {
      plan.staging = {size * p.m, p.k};
      stagedBytes = dtypeBytes(p.element);
    } else if (hasPartialSums(p.kind)) {
      // Outgoing and incoming partial sums.
      plan.staging = {std::max<uint64_t>(2 * (size - 1), 1) * parts.rows, p.n};
    }
  } else if (isStaged) {
    setDefault(config.kPerFlag, defaultKPerFlag);
    flags = size * rowTiles * divideUp(p.k, config.kPerFlag * config.tileK);
    plan.staging = {size * p.m, p.k};
    stagedBytes = dtypeBytes(p.element);
  } else if (p.kind == MatmulKind::matmulReduceScatter) {
    flags = size * rowTiles * columnTiles;
    plan.staging = {size * p.m, p.n};
  } else if (p.kind == MatmulKind::matmulAllReduce &&
             config.variant != "atomic") {
    flags = size * rowTiles * columnTiles;
    plan.staging = {p.m, p.n};
  } else if (config.variant == "specialized") {
    flags = rowTiles * columnTiles;
  }
  plan.stagingBytes = plan.staging.rows * plan.staging.columns * stagedBytes;
  plan.workspaceBytes = matmulWorkspaceBase + flags * matmulFlagBytes;
  plan.hasCommPrograms = hasCommPrograms(p.kind, config.variant);
  return plan;
}
