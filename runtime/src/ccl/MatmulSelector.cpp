// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulSelector.cpp - Selection of matmul configs -------------------===//
#include "iris/ccl/MatmulSelector.h"

#include "ccl/MatmulModel.h"
#include "ccl/MatmulPlan.h"
#include "ccl/MatmulUnfused.h"
#include "ccl/Spec.h"
#include "iris/ccl/KernelCache.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

using namespace iris::ccl;
using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Whether the variant copy_engine copies results, so that copies wait for the
/// kernel.
static bool copiesResults(const MatmulTuningKey &s) {
  return s.problem.kind != MatmulKind::allGatherMatmul;
}

/// Whether a variant may be selected automatically. Results of `atomic` differ
/// between runs; copy engines must be known to be faster than communication
/// programs.
static bool isEligible(const MatmulTuningKey &s, const std::string &variant) {
  const ProcessorModel &chip = deviceModelOf(s).processor;
  const plan::MatmulVariant &traits = getVariant(s.problem.kind, variant);
  return !traits.has(plan::addsInResult) &&
         (!traits.has(plan::copiedByEngine) ||
          (chip.copyEngineBytesPerUs != 0 && !chip.copiesUseProcessors &&
           !(s.hasFewQueues && copiesResults(s))));
}

/// Whether a rank's shard has at least as many rows as the tile. Tiles do not
/// cross the boundary of a shard; a larger tile would compute mostly padding
/// and could not use bulk copies.
static bool fillsTiles(const MatmulTuningKey &s, const std::string &variant,
                       const TileShape &tile) {
  const MatmulProblem &p = s.problem;
  if (isUnfused(p.kind, variant) || p.kind == MatmulKind::matmul)
    return true;
  bool isSharded =
      p.kind == MatmulKind::matmulReduceScatter ||
      (p.kind == MatmulKind::allGatherMatmul && p.config.shard == "m") ||
      usesCopyEngine(p.kind, variant);
  return !isSharded || p.m >= static_cast<uint64_t>(tile.m);
}

/// Whether the tile is for matrices of so many rows. Those for few rows are for
/// plain matmuls: fused kernels with them take longer than the two kernels.
static bool isForRows(const MatmulTuningKey &s, const std::string &variant,
                      const TileShape &tile) {
  const MatmulProblem &p = s.problem;
  if (tile.mostRows == 0 || p.config.tileM != 0)
    return true;
  return p.m <= static_cast<uint64_t>(tile.mostRows) &&
         (p.kind == MatmulKind::matmul || isUnfused(p.kind, variant));
}

/// Whether the variant supports all fields that the config sets.
static bool hasFields(MatmulKind kind, const MatmulConfig &requested,
                      const std::string &variant) {
  bool wantsUnits = requested.kPerFlag != 0 || requested.numFetchStages != 0 ||
                    requested.firstStageFetchPrograms != 0 ||
                    !requested.stagedLayout.empty();
  // The same variants have splits and libraries: those with a plain matmul.
  bool wantsSplits = requested.splitK > 1 || !requested.library.empty();
  bool wantsCommPrograms =
      requested.numFetchPrograms != 0 || requested.tilesPerCommProgram != 0;
  return (!wantsSplits || hasSplits(kind, variant)) &&
         (!wantsCommPrograms || hasCommPrograms(kind, variant)) &&
         (!wantsUnits || hasUnits(kind, variant));
}

static bool agrees(int64_t requested, int64_t value) {
  return requested == 0 || requested == value;
}

/// The device's tiles that match the config. If none does, the config's own
/// tile, with the generators' defaults for open fields.
static std::vector<TileShape> tilesFor(const ProcessorModel &chip,
                                       const MatmulConfig &requested) {
  namespace numbers = plan::matmul_numbers;
  std::vector<TileShape> tiles;
  for (const TileShape &tile : chip.tiles)
    if (agrees(requested.tileM, tile.m) && agrees(requested.tileN, tile.n) &&
        agrees(requested.warps, tile.warps))
      tiles.push_back(tile);
  if (tiles.empty())
    tiles.push_back(
        {requested.tileM ? requested.tileM : numbers::tileM.defaultValue,
         requested.tileN ? requested.tileN : numbers::tileN.defaultValue, 128,
         requested.warps ? requested.warps : numbers::warps.defaultValue});
  return tiles;
}

static std::vector<int64_t> choicesOf(int64_t requested,
                                      const std::vector<int64_t> &all) {
  return requested != 0 ? std::vector<int64_t>{requested} : all;
}

/// Candidate numbers of tiles for each communication program: as few as save
/// the compute programs one wave of tiles, two waves, and so on, until all
/// programs have the same number.
static std::vector<int64_t> commTilesFor(const MatmulTuningKey &s,
                                         const MatmulConfig &config) {
  if (s.problem.config.tilesPerCommProgram != 0)
    return {s.problem.config.tilesPerCommProgram};
  int64_t commPrograms = config.numFetchPrograms;
  int64_t computePrograms = config.programs - commPrograms;
  std::vector<int64_t> choices = {0};
  if (computePrograms <= 0)
    return choices;
  auto tiles = static_cast<int64_t>(tilesOf(s.problem, config, s.groupSize));
  constexpr int64_t maxChoices = 8;
  for (int64_t waves = plan::ceilDiv(tiles, computePrograms) - 1, i = 0;
       waves >= plan::ceilDiv(tiles, config.programs) && i < maxChoices;
       --waves, ++i)
    choices.push_back(
        plan::ceilDiv(tiles - waves * computePrograms, commPrograms));
  return choices;
}

/// Candidate numbers of splits of a tile's k-steps: 1, and powers of two up to
/// the number of programs, with at least `leastBlocks` k-steps in each split.
static std::vector<int64_t> splitsFor(const MatmulTuningKey &s,
                                      const MatmulConfig &config) {
  if (s.problem.config.splitK != 0)
    return {s.problem.config.splitK};
  const MatmulProblem &p = s.problem;
  auto tiles = static_cast<int64_t>(tilesOf(p, config, s.groupSize));
  auto blocks = static_cast<int64_t>(
      plan::ceilDiv(p.k, static_cast<uint64_t>(config.tileK)));
  constexpr int64_t leastBlocks = 4;
  std::vector<int64_t> choices = {1};
  for (int64_t splits = 2;
       splits <= plan::matmul_numbers::splitK.most &&
       tiles * splits / 2 < config.programs && splits * leastBlocks <= blocks;
       splits *= 2)
    choices.push_back(splits);
  return choices;
}

/// The tile with the k-step of the problem: shards of k may take another one.
static TileShape withKStep(const MatmulProblem &p, TileShape tile) {
  if (p.kind == MatmulKind::allGatherMatmul && p.config.shard != "m" &&
      tile.shardKBytes != 0)
    tile.kBytes = tile.shardKBytes;
  return tile;
}

/// Appends all candidate configs of a variant and a tile.
static void addCandidates(const MatmulTuningKey &s, const ProcessorModel &chip,
                          const std::string &variant, const TileShape &tile,
                          std::vector<MatmulConfig> &configs) {
  const MatmulProblem &p = s.problem;
  // A caller may ask for a tile whose kernel spills registers, or for a variant
  // that has no other ones.
  const bool isOpen = p.config.tileM == 0 || p.config.tileN == 0;
  const bool hasOthers = std::any_of(chip.tiles.begin(), chip.tiles.end(),
                                     [](const auto &t) { return t.fetches; });
  if (isOpen && !tile.fetches && hasUnits(p.kind, variant) &&
      (hasOthers || p.config.variant.empty()))
    return;
  MatmulConfig config = p.config;
  config.variant = variant;
  config.tileM = tile.m;
  config.tileN = tile.n;
  config.warps = tile.warps;
  if (config.tileK == 0)
    config.tileK = tileKOf(withKStep(p, tile), p.element);
  if (config.programs == 0)
    config.programs = chip.processors;
  if (config.xcds == 0 && chip.xcds > 1)
    config.xcds = chip.xcds;
  if (usesCopyEngine(p.kind, variant)) {
    // Incoming shards: 8 rows of tiles per copy measured best of 4, 8 and 16.
    const std::vector<int64_t> rowsOfShards = {
        plan::matmul_numbers::groupM.defaultValue};
    bool isFirst = p.kind == MatmulKind::allGatherMatmul;
    for (int64_t rows :
         choicesOf(p.config.groupM, isFirst ? rowsOfShards : chip.copyGroups)) {
      config.groupM = rows;
      configs.push_back(config);
    }
    return;
  }
  if (hasSplits(p.kind, variant)) {
    for (int64_t splits : splitsFor(s, config)) {
      config.splitK = splits;
      configs.push_back(config);
    }
    return;
  }
  if (!hasCommPrograms(p.kind, variant)) {
    configs.push_back(config);
    return;
  }
  // A flag cannot cover more k-steps than there are.
  auto blocks = static_cast<int64_t>(
      plan::ceilDiv(p.k, static_cast<uint64_t>(config.tileK)));
  for (int64_t commPrograms :
       choicesOf(p.config.numFetchPrograms, chip.commPrograms)) {
    if (p.config.numFetchPrograms == 0 && config.programs != 0)
      commPrograms =
          std::min(commPrograms, std::max<int64_t>(config.programs / 2, 1));
    config.numFetchPrograms = commPrograms;
    for (int64_t tiles : commTilesFor(s, config)) {
      config.tilesPerCommProgram = tiles;
      if (!hasUnits(p.kind, variant)) {
        configs.push_back(config);
        continue;
      }
      for (int64_t count : choicesOf(p.config.kPerFlag, chip.kPerFlag)) {
        config.kPerFlag = p.config.kPerFlag
                              ? count
                              : std::min(count, std::max(blocks, int64_t(1)));
        configs.push_back(config);
      }
    }
  }
}

std::vector<MatmulEstimate>
iris::ccl::estimates(const MatmulTuningKey &tuningKey) {
  MatmulTuningKey s = tuningKey;
  fillSemantics(s.problem);
  const ProcessorModel &chip = deviceModelOf(s).processor;
  const std::string &requested = s.problem.config.variant;
  std::vector<MatmulEstimate> all;
  auto addEstimates = [&](bool onlyFilled) {
    std::vector<MatmulConfig> configs;
    for (const std::string &variant : variantsOf(s.problem.kind))
      if (requested.empty()
              ? isEligible(s, variant) &&
                    hasFields(s.problem.kind, s.problem.config, variant)
              : requested == variant)
        for (const TileShape &tile : tilesFor(chip, s.problem.config))
          if (isForRows(s, variant, tile) &&
              (!onlyFilled || fillsTiles(s, variant, tile)))
            addCandidates(s, chip, variant, tile, configs);
    for (const MatmulConfig &config : configs) {
      bool isNew = std::none_of(all.begin(), all.end(), [&](const auto &other) {
        return other.config == config;
      });
      Expected<MatmulEstimate> each = estimate(s, config);
      if (isNew && each.ok())
        all.push_back(*each);
    }
  };
  addEstimates(/*onlyFilled=*/requested.empty());
  // Nothing else is possible: allow tiles that are not filled.
  if (all.empty())
    addEstimates(/*onlyFilled=*/false);
  // A stable sort, so that all ranks select the same of two equal estimates.
  std::stable_sort(all.begin(), all.end(),
                   [](const MatmulEstimate &a, const MatmulEstimate &b) {
                     return a.us < b.us;
                   });
  return all;
}

/// Variants whose estimate exceeds the best one by this factor are not tuned.
static constexpr double maxSlowdown = 3;
/// The penalty on a config's estimate for each one already picked with the same
/// variant and tile, to favor variety.
static constexpr double repetitionPenalty = 0.02;

std::vector<MatmulConfig>
iris::ccl::tuningCandidates(const MatmulTuningKey &tuningKey, size_t most) {
  std::vector<MatmulEstimate> all = estimates(tuningKey);
  std::vector<MatmulConfig> configs;
  std::set<std::string> variants;
  std::map<std::tuple<std::string, int64_t, int64_t>, int> picked;
  auto countOf = [&](const MatmulConfig &config) -> int & {
    return picked[{config.variant, config.tileM, config.tileN}];
  };
  auto pick = [&](size_t i) {
    ++countOf(all[i].config);
    configs.push_back(all[i].config);
    all.erase(all.begin() + static_cast<ptrdiff_t>(i));
  };
  const double least = all.empty() ? 0 : all.front().us;
  for (size_t i = 0; i < all.size() && configs.size() < most;) {
    bool isFirst = all[i].us <= maxSlowdown * least &&
                   variants.insert(all[i].config.variant).second;
    isFirst ? pick(i) : static_cast<void>(++i);
  }
  while (!all.empty() && configs.size() < most) {
    auto scoreOf = [&](const MatmulEstimate &each) {
      return each.us * (1 + repetitionPenalty * countOf(each.config));
    };
    auto best =
        std::min_element(all.begin(), all.end(),
                         [&](const MatmulEstimate &a, const MatmulEstimate &b) {
                           return scoreOf(a) < scoreOf(b);
                         });
    pick(static_cast<size_t>(best - all.begin()));
  }
  return configs;
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

std::string iris::ccl::describe(const MatmulConfig &config) {
  std::string text = config.variant;
  if (!config.library.empty())
    return text + ", matmul by the " + config.library + "'s library";
  text += formatString(", tile %lldx%lldx%lld",
                       static_cast<long long>(config.tileM),
                       static_cast<long long>(config.tileN),
                       static_cast<long long>(config.tileK));
  auto add = [&text](int64_t value, const char *format) {
    if (value != 0)
      text += formatString(format, static_cast<long long>(value));
  };
  add(config.warps, ", %lld warps");
  add(config.programs, ", %lld programs");
  add(config.numFetchPrograms, ", %lld fetch");
  add(config.tilesPerCommProgram, " and multiply %lld tiles");
  add(config.kPerFlag, ", %lld k-blocks a flag");
  add(config.splitK > 1 ? config.splitK : 0, ", split-K by %lld");
  add(config.groupM, ", groups of %lld tile rows");
  return text;
}

const MatmulEntry *MatmulTable::findPossible(const MatmulTuningKey &s) const {
  const MatmulEntry *entry = find(s);
  if (!entry)
    return nullptr;
  const MatmulConfig &requested = s.problem.config, &has = entry->config;
  auto agreesName = [](const std::string &a, const std::string &b) {
    return a.empty() || a == b;
  };
  bool fits =
      agreesName(requested.variant, has.variant) &&
      agreesName(requested.stagedLayout, has.stagedLayout) &&
      agreesName(requested.library, has.library) &&
      std::all_of(std::begin(matmulNumbers), std::end(matmulNumbers),
                  [&](const MatmulNumber &number) {
                    return agrees(requested.*number.value, has.*number.value);
                  });
  fits = fits && (!requested.variant.empty() || isEligible(s, has.variant));
  if (!fits || (isUnfused(s.problem.kind, has.variant) &&
                !planUnfused(s.problem, s).ok()))
    return nullptr;
  return entry;
}

/// Fields that an entry leaves open are selected by the model.
static MatmulChoice choiceOf(const MatmulEntry &entry, MatmulTuningKey s,
                             ChoiceSource source) {
  MatmulConfig config = entry.config;
  s.problem.config = config;
  std::vector<MatmulEstimate> all = estimates(s);
  if (!all.empty())
    config = all.front().config;
  return {config, source,
          formatString("%s: %.1f us when it was tuned (%s)",
                       describe(config).c_str(), entry.us,
                       source == ChoiceSource::table ? "IRIS_MATMUL_TABLE"
                                                     : "built in")};
}

Status iris::ccl::checkDevice(const MatmulTuningKey &s) {
  const MatmulKind kind = s.problem.kind;
  const std::string &variant = s.problem.config.variant;
  if (usesCopyEngine(kind, variant) &&
      deviceModelOf(s).processor.copiesUseProcessors)
    return makeStatus(StatusCode::failedPrecondition,
                      "%s: copy_engine needs copies that run concurrently with "
                      "a kernel that occupies the whole device; this device "
                      "uses kernels for stream waits and for copies of up to "
                      "1 MiB; use another variant",
                      kindName(kind));
  if (s.hasFewQueues && usesCopyEngine(kind, variant) && copiesResults(s))
    return makeStatus(StatusCode::failedPrecondition,
                      "%s: copy_engine needs 8 hardware queues, or its stream "
                      "waits may never end after a failure; set "
                      "CUDA_DEVICE_MAX_CONNECTIONS to 8 or more, or use "
                      "another variant",
                      kindName(kind));
  return Status::success();
}

Expected<MatmulChoice> iris::ccl::select(const MatmulTuningKey &tuningKey) {
  IRISRT_RETURN_IF_ERROR(checkCostModel(tuningKey.device));
  MatmulTuningKey s = tuningKey;
  IRISRT_RETURN_IF_ERROR(checkProblem(s.problem, s.groupSize));
  fillSemantics(s.problem);
  const MatmulConfig &requested = s.problem.config;
  if (!requested.variant.empty() &&
      !hasFields(s.problem.kind, requested, requested.variant))
    return makeStatus(
        StatusCode::invalidArgument,
        "%s: variant %s has no %s; remove these fields from the config",
        kindName(s.problem.kind), requested.variant.c_str(),
        requested.splitK > 1         ? "split_k"
        : !requested.library.empty() ? "library"
        : hasCommPrograms(s.problem.kind, requested.variant)
            ? "staging buffer (k_per_flag, num_fetch_stages, "
              "first_stage_fetch_programs, staged_layout)"
            : "communication programs (num_fetch_programs, "
              "tiles_per_comm_program, k_per_flag, num_fetch_stages, "
              "first_stage_fetch_programs, staged_layout)");
  IRISRT_RETURN_IF_ERROR(checkDevice(s));
  const Expected<MatmulTable> &own = MatmulTable::fromEnvironment();
  IRISRT_RETURN_IF_ERROR(own.status());
  if (const MatmulEntry *entry = own->findPossible(s))
    return choiceOf(*entry, s, ChoiceSource::table);
  // What was tuned on another GPU of the same target says little about this.
  if (findDeviceModel(s.device, s.target, s.attributes))
    if (const MatmulEntry *entry = MatmulTable::builtIn().findPossible(s))
      return choiceOf(*entry, s, ChoiceSource::builtInTable);
  if (isUnfused(s.problem.kind, s.problem.config.variant))
    IRISRT_RETURN_IF_ERROR(planUnfused(s.problem, s).status());
  std::vector<MatmulEstimate> all = estimates(s);
  if (all.empty())
    return makeStatus(
        StatusCode::invalidArgument,
        "%s: no variant for these layouts has all fields that the "
        "config sets; set fewer fields, or store a row-major",
        kindName(s.problem.kind));
  const MatmulEstimate &best = all.front();
  return MatmulChoice{
      best.config, ChoiceSource::model,
      formatString("%s: %.1f us estimated, %.1f of them for the matmul and "
                   "%.1f for communication",
                   describe(best.config).c_str(), best.us, best.matmulUs,
                   best.commUs)};
}

//===----------------------------------------------------------------------===//
// Kernels and memory of a config
//===----------------------------------------------------------------------===//

std::vector<std::string>
iris::ccl::kernelSources(const MatmulTuningKey &tuningKey) {
  MatmulProblem p = tuningKey.problem;
  if (!makePlan(p, tuningKey.groupSize).ok())
    return {};
  if (usesCopyEngine(p.kind, p.config.variant)) {
    TuningKey barrier;
    barrier.op = Op::barrier;
    barrier.groupSize = tuningKey.groupSize;
    barrier.device = tuningKey.device;
    barrier.attributes = tuningKey.attributes;
    return {kernelSource(p, tuningKey.groupSize),
            kernelSource(Op::barrier, DType::i8, ReduceOp::sum,
                         tuningKey.groupSize, select(barrier).config)};
  }
  const bool hasKernel = p.config.library.empty();
  if (!isUnfused(p.kind, p.config.variant))
    return hasKernel
               ? std::vector<std::string>{kernelSource(p, tuningKey.groupSize)}
               : std::vector<std::string>();
  Expected<UnfusedPlan> plan = planUnfused(p, tuningKey);
  if (!plan.ok())
    return {};
  std::vector<std::string> sources = {
      kernelSource(plan->op, plan->dtype, ReduceOp::sum, tuningKey.groupSize,
                   plan->collective)};
  if (hasKernel)
    sources.push_back(kernelSource(plan->matmul, tuningKey.groupSize));
  return sources;
}

Expected<uint64_t> iris::ccl::sharedBytes(const MatmulTuningKey &tuningKey) {
  MatmulProblem p = tuningKey.problem;
  IRISRT_ASSIGN_OR_RETURN(MatmulPlan plan, makePlan(p, tuningKey.groupSize));
  if (usesCopyEngine(p.kind, p.config.variant))
    return plan.stagingBytes + plan.workspaceBytes + defaultWorkspaceBytes;
  if (!isUnfused(p.kind, p.config.variant))
    return plan.stagingBytes + plan.workspaceBytes;
  IRISRT_ASSIGN_OR_RETURN(UnfusedPlan unfused, planUnfused(p, tuningKey));
  IRISRT_ASSIGN_OR_RETURN(MatmulPlan matmul,
                          makePlan(unfused.matmul, tuningKey.groupSize));
  return unfused.stagingBytes + matmul.stagingBytes + matmul.workspaceBytes +
         defaultWorkspaceBytes;
}
