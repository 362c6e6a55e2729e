// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ccl/MatmulModel.h"

#include "ccl/DeviceModel.h"
#include "ccl/MatmulPlan.h"
#include "ccl/MatmulUnfused.h"
#include "ccl/Spec.h"

#include <algorithm>
#include <cmath>

using namespace iris::ccl;
using namespace iris::rt;

std::string iris::ccl::matmulModelSource(DeviceKind device,
                                         const std::string &target,
                                         const DeviceAttributes *attributes) {
  return deviceModelOf(device, target, attributes).processor.source;
}

int64_t iris::ccl::tileKOf(const TileShape &tile, DType element) {
  return tile.kBytes / std::max<int64_t>(dtypeBytes(element), 1);
}

uint64_t iris::ccl::tilesOf(const MatmulProblem &problem,
                            const MatmulConfig &config, uint64_t groupSize) {
  MatmulProblem whole = problem;
  whole.config = config;
  plan::MatmulForm form = formOf(whole);
  form.splitK = 1;
  plan::IntegerArithmetic n;
  const auto m = static_cast<int64_t>(problem.m), size = int64_t(groupSize);
  bool isWhole = problem.kind == MatmulKind::matmulReduceScatter ||
                 form.has(plan::takesGathered);
  return static_cast<uint64_t>(plan::countTiles<plan::IntegerArithmetic>(
      n, form,
      {isWhole ? size * m : m, static_cast<int64_t>(problem.k),
       static_cast<int64_t>(problem.n), size}));
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

namespace {
/// The tiles of one launch.
struct MatmulTime {
  /// Of the busiest program.
  double waves = 1;
  /// Of one tile, and of all with the start.
  double tileUs = 0, us = 0;
};
} // namespace

/// How much faster elements are than those of 16 bits.
static double speedOf(const ProcessorModel &chip, DType element) {
  uint32_t bytes = dtypeBytes(element);
  return bytes == 1 ? chip.factor8Bit : bytes == 4 ? chip.factor32Bit : 1;
}

static bool hasNonPow2Columns(const MatmulConfig &config) {
  return !plan::isPowerOfTwo(config.tileN);
}

/// Columns that the instructions compute for a tile.
static int64_t computedColumns(const ProcessorModel &chip,
                               const MatmulConfig &config, DType element) {
  if (!hasNonPow2Columns(config) ||
      (chip.nonPow2Efficiency != 0 && element != DType::f32))
    return config.tileN;
  return plan::nextPowerOfTwo(config.tileN);
}

/// What goes on at the same time: at least as long as the longest of it.
static double overlapped(const ProcessorModel &chip,
                         std::initializer_list<double> times) {
  double longest = std::max(times), sum = 0;
  if (longest <= 0)
    return 0;
  for (double time : times)
    sum += std::pow(time / longest, chip.overlapExponent);
  return longest * std::pow(sum, 1 / chip.overlapExponent);
}

static double blockTime(const ProcessorModel &chip, const MatmulConfig &config,
                        DType element, double busy) {
  double bytes = std::max(dtypeBytes(element), 1u);
  double tileM = static_cast<double>(config.tileM);
  auto tileN = static_cast<double>(computedColumns(chip, config, element));
  double tileK = static_cast<double>(config.tileK);
  double multiplying = 2 * tileM * tileN * tileK /
                       (chip.processorOpsPerUs * speedOf(chip, element));
  double rate =
      std::min(chip.processorLoadBytesPerUs, chip.deviceLoadBytesPerUs / busy);
  double loading = (tileM + tileN) * tileK * bytes / rate;
  return overlapped(chip, {multiplying, loading}) + chip.kStepUs;
}

/// A matmul of m x n, in so many tiles, over `depths` parts of depth k each, by
/// `programs`, with `elsewhere` tiles that others compute.
static MatmulTime matmulTimeOf(const ProcessorModel &chip,
                               const MatmulConfig &config, DType element,
                               DType result, uint64_t tileCount, uint64_t rows,
                               uint64_t columns, uint64_t k, uint64_t depths,
                               double programs, double elsewhere) {
  auto tiles = static_cast<double>(tileCount);
  auto blocks = static_cast<double>(
      depths * plan::ceilDiv(k, static_cast<uint64_t>(config.tileK)));
  const auto splits = static_cast<double>(std::max<int64_t>(config.splitK, 1));
  tiles *= splits;
  blocks = std::ceil(blocks / splits);
  MatmulTime matmul;
  double busy = std::max(1.0, std::min(tiles, programs));
  matmul.waves =
      std::ceil(std::max(tiles - elsewhere, 1.0) / std::max(1.0, programs));
  // Writing a tile out takes its share of the memory.
  double store = static_cast<double>(config.tileM * config.tileN) *
                 dtypeBytes(result) * busy / chip.memoryBytesPerUs;
  matmul.tileUs =
      blocks * blockTime(chip, config, element, busy) + chip.tileUs + store;
  // The last of a tile's programs adds up what all have stored.
  if (splits > 1)
    matmul.tileUs += chip.splitUs +
                     splits * static_cast<double>(config.tileM * config.tileN) *
                         4 / chip.reduceBytesPerUs;
  double unique = (static_cast<double>(rows) + static_cast<double>(columns)) *
                  static_cast<double>(k * depths) * dtypeBytes(element);
  double atOnce = 0;
  bool leavesOut = chip.nonPow2Efficiency != 0 && hasNonPow2Columns(config);
  if (chip.deviceOpsPerUs != 0)
    atOnce = 2 * static_cast<double>(rows) * static_cast<double>(columns) *
             static_cast<double>(k * depths) /
             (chip.deviceOpsPerUs * speedOf(chip, element) *
              (element == DType::bf16 ? chip.bf16Factor : 1) *
              (leavesOut ? chip.nonPow2Efficiency : 1));
  matmul.us =
      chip.startUs + overlapped(chip, {matmul.waves * matmul.tileUs,
                                       unique / chip.memoryBytesPerUs, atOnce});
  return matmul;
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

namespace {
/// One estimate in the making.
class Estimation {
public:
  Estimation(const ProcessorModel &chip, const MatmulTuningKey &s,
             const MatmulConfig &config)
      : key(s), problem(s.problem), config(config), chip(chip),
        link(deviceModelOf(s).links), size(s.groupSize) {
    problem.config = config;
  }

  Expected<MatmulEstimate> run();

private:
  Status check() const;
  plan::MatmulForm form() const { return formOf(problem); }
  double programs() const {
    auto asked = static_cast<double>(config.programs);
    auto all = static_cast<double>(chip.processors);
    return asked == 0 ? all : std::min(asked, all);
  }
  double commPrograms() const {
    double asked = static_cast<double>(config.numFetchPrograms);
    return std::min(std::max(asked, 1.0), programs());
  }
  double multipliers() const {
    return std::max(programs() - commPrograms(), 1.0);
  }
  double peers() const { return static_cast<double>(size) - 1; }
  /// Microseconds for bytes that all peers together get, or give.
  double transfer(double bytes, double rate, double byPrograms) const {
    if (peers() == 0)
      return 0;
    return std::max({bytes / rate, bytes / peers() / link.peerBytesPerUs,
                     bytes / (byPrograms * chip.commProgramBytesPerUs)});
  }
  double barriers(double count) const {
    return peers() == 0 ? 0 : count * link.barrierUs;
  }
  MatmulTime matmul(uint64_t rows, uint64_t columns, uint64_t k,
                    uint64_t depths, double by, double elsewhere = 0) const {
    return matmulTimeOf(chip, config, problem.element, problem.result,
                        tilesOf(problem, config, size), rows, columns, k,
                        depths, by, elsewhere);
  }
  /// Tiles of each that moves, and of all of them.
  double ownTiles() const {
    return static_cast<double>(config.tilesPerCommProgram);
  }
  double tilesPerCommProgram() const { return ownTiles() * commPrograms(); }

  MatmulEstimate gatherFirst();
  MatmulEstimate copiedParts(const MatmulTime &own, double bytes) const;
  MatmulEstimate copiedResults(const MatmulTime &own, double bytes) const;
  MatmulEstimate copiedPartialSums(const MatmulTime &own,
                                   double partialSumBytes,
                                   double resultBytes) const;
  CopiedLayout layout() const;
  double copying(double copies, double bytes) const;
  MatmulEstimate gatherLast();
  MatmulEstimate sum();
  MatmulEstimate pipelined(const MatmulTime &own, double moving) const;
  Expected<MatmulEstimate> unfused();
  MatmulEstimate finish(const MatmulTime &matmul, double moving,
                        double together) const {
    MatmulEstimate estimate;
    estimate.config = config;
    estimate.matmul = matmul.us;
    estimate.moving = moving;
    estimate.us = together;
    return estimate;
  }

  const MatmulTuningKey &key;
  MatmulProblem problem;
  const MatmulConfig &config;
  const ProcessorModel &chip;
  const LinkModel &link;
  uint64_t size;
};
} // namespace

/// Some programs move parts while others multiply those that have come.
MatmulEstimate Estimation::gatherFirst() {
  bool isK = config.shard == "k";
  double part =
      static_cast<double>(problem.m * problem.k) * dtypeBytes(problem.element);
  uint64_t rows = isK ? problem.m : size * problem.m;
  uint64_t depths = isK ? size : 1;
  if (config.variant == "pull") {
    MatmulTime own = matmul(rows, problem.n, problem.k, depths, programs());
    // Every column of tiles reads the parts again.
    auto columns = static_cast<double>(
        plan::ceilDiv(problem.n, static_cast<uint64_t>(config.tileN)));
    double moving =
        transfer(columns * peers() * part, link.pullBytesPerUs, programs());
    return finish(own, moving, own.us + moving + barriers(2));
  }
  if (form().isCopied())
    return copiedParts(matmul(rows, problem.n, problem.k, depths, programs()),
                       peers() * part);
  MatmulTime own = matmul(rows, problem.n, problem.k, depths, multipliers(),
                          tilesPerCommProgram());
  // Programs that fetch ask for so much at once that they do not wait longer
  // than stores.
  double moving = transfer(peers() * part, link.pushBytesPerUs, commPrograms());
  // Flags: by who moves, and by who multiplies before each unit.
  auto rowUnits = static_cast<double>(plan::ceilDiv(
      problem.k, static_cast<uint64_t>(config.tileK * config.kPerFlag)));
  auto units = peers() * rowUnits *
               static_cast<double>(plan::ceilDiv(
                   problem.m, static_cast<uint64_t>(config.tileM)));
  moving += units / commPrograms() * chip.signalUs;
  double waiting = own.waves * rowUnits * static_cast<double>(depths) *
                   (peers() == 0 ? 0 : chip.waitUs);
  double together = std::max(own.us, moving + ownTiles() * own.tileUs) +
                    chip.fetchOverlapLoss * std::min(own.us, moving);
  return finish(own, moving, together + waiting + barriers(2));
}

CopiedLayout Estimation::layout() const {
  return copiedLayout(problem, static_cast<uint32_t>(size));
}

/// Microseconds of copies, one after another, of `bytes` in all.
double Estimation::copying(double copies, double bytes) const {
  double rate = chip.copyEngineBytesPerUs == 0 ? link.pullBytesPerUs
                                               : chip.copyEngineBytesPerUs;
  return copies * chip.copyUs + transfer(bytes, rate, programs());
}

/// All programs multiply; the tiles of the group that comes last wait for it,
/// and with shard k for its last part.
MatmulEstimate Estimation::copiedParts(const MatmulTime &own,
                                       double bytes) const {
  CopiedLayout p = layout();
  double moving = chip.copyEngineStartUs +
                  copying(peers() * static_cast<double>(p.groups), bytes);
  auto lastTiles = static_cast<double>(
      plan::ceilDiv(std::min(p.rows, p.groupRows),
                    static_cast<uint64_t>(config.tileM)) *
      plan::ceilDiv(problem.n, static_cast<uint64_t>(config.tileN)));
  double last = own.tileUs * std::ceil(lastTiles / programs());
  if (config.shard == "k")
    last /= peers() + 1;
  double together = std::max(own.us, moving + last) +
                    chip.copyOverlapLoss * std::min(own.us, moving);
  return finish(own, moving, together + barriers(2));
}

/// A group leaves when its tiles are finished: the last one after the matmul.
MatmulEstimate Estimation::copiedResults(const MatmulTime &own,
                                         double bytes) const {
  auto groups = static_cast<double>(layout().groups);
  double moving =
      groups * chip.copyEngineWaitUs + copying(peers() * groups, bytes);
  double together = std::max(own.us + moving / std::max(groups, 1.0),
                             chip.startUs + own.tileUs + moving) +
                    chip.copyOverlapLoss * std::min(own.us, moving);
  return finish(own, moving, together + barriers(1));
}

/// Shares leave in the same way; those of the last group are added up by its
/// own tiles, which come last. Of an all-reduce that is sent after all. Ranks
/// meet beside the matmul, and again where peers write c.
MatmulEstimate Estimation::copiedPartialSums(const MatmulTime &own,
                                             double partialSumBytes,
                                             double resultBytes) const {
  auto groups = static_cast<double>(layout().groups);
  double copies = peers() * groups;
  double leaving =
      copies * chip.copyEngineWaitUs + copying(copies, partialSumBytes);
  double lastTiles = own.tileUs * std::max(1.0, own.waves / (peers() + 1) /
                                                    std::max(groups, 1.0));
  double together =
      std::max(own.us, chip.startUs + own.tileUs + leaving + lastTiles);
  double moving = leaving;
  if (resultBytes != 0) {
    double sending =
        groups * chip.copyEngineWaitUs + copying(copies, resultBytes);
    moving += sending;
    together = std::max(together + sending / std::max(groups, 1.0),
                        chip.startUs + own.tileUs + moving);
  }
  // A program that reduces reads the partial sums of its tiles.
  together += partialSumBytes / chip.memoryBytesPerUs;
  together += chip.copyOverlapLoss * std::min(own.us, moving);
  return finish(own, moving, together + barriers(resultBytes != 0));
}

/// push: a program that stores its tile everywhere does not multiply.
/// specialized: others move what the wave before has computed.
MatmulEstimate Estimation::gatherLast() {
  double bytes = peers() * static_cast<double>(problem.m * problem.n) *
                 dtypeBytes(problem.result);
  if (config.variant == "push") {
    MatmulTime own = matmul(problem.m, problem.n, problem.k, 1, programs());
    double moving = transfer(bytes, link.pushBytesPerUs, programs());
    return finish(own, moving, own.us + moving + barriers(2));
  }
  if (form().isCopied())
    return copiedResults(matmul(problem.m, problem.n, problem.k, 1, programs()),
                         bytes);
  MatmulTime own = matmul(problem.m, problem.n, problem.k, 1, multipliers(),
                          tilesPerCommProgram());
  return pipelined(own, transfer(bytes, link.pushBytesPerUs, commPrograms()));
}

/// What moves of a wave does so while the next one is computed.
MatmulEstimate Estimation::pipelined(const MatmulTime &own,
                                     double moving) const {
  double ofWave = moving / own.waves;
  double together = chip.startUs + own.tileUs +
                    (own.waves - 1) * std::max(own.tileUs, ofWave) + ofWave;
  // Those that move multiply first; and power limits all of them.
  together = std::max(
      {together, own.us, chip.startUs + ownTiles() * own.tileUs + moving});
  together += (own.waves - 1) / own.waves * chip.storeOverlapLoss *
              std::min(own.us, moving);
  return finish(own, moving, together + barriers(2));
}

MatmulEstimate Estimation::sum() {
  bool scatters = problem.kind == MatmulKind::matmulReduceScatter;
  double share = config.partialType == "result"
                     ? dtypeBytes(problem.result)
                     : dtypeBytes(sumType(problem.element));
  double all = static_cast<double>(problem.m * problem.n);
  double result = dtypeBytes(problem.result);
  uint64_t rows = scatters ? size * problem.m : problem.m;
  bool isSpecialized = config.variant == "specialized";
  double by = isSpecialized ? commPrograms() : programs();
  MatmulTime own = matmul(rows, problem.n, problem.k, 1,
                          isSpecialized ? multipliers() : programs(),
                          isSpecialized ? tilesPerCommProgram() : 0);
  auto members = static_cast<double>(size);
  if (form().isCopied()) {
    double part = scatters ? all : all / members;
    return copiedPartialSums(own, peers() * part * share,
                             scatters ? 0 : peers() * part * result);
  }
  double moving = 0;
  auto tiles = static_cast<double>(
      plan::ceilDiv(problem.m, static_cast<uint64_t>(config.tileM)) *
      plan::ceilDiv(problem.n, static_cast<uint64_t>(config.tileN)));
  if (isSpecialized) {
    // Owners read the partial sums of a tile from the ranks that have them.
    double part = scatters ? all : all / members;
    double turns = (scatters ? tiles : tiles / members) / by;
    double bytes = peers() * part * (scatters ? share : share + result);
    moving = transfer(peers() * part * share, link.pullBytesPerUs, by);
    if (!scatters)
      moving += transfer(peers() * part * result, link.pushBytesPerUs, by);
    // The programs may be slower than the links.
    moving = std::max(moving, bytes / (by * chip.commProgramBytesPerUs) +
                                  turns * chip.reduceTileUs);
    return pipelined(own, moving);
  }
  if (scatters) {
    // Shares go to their owners, who read all of them again: tile by tile,
    // which few programs do where there are few tiles.
    double turns = std::ceil(tiles / programs());
    double ofTile = static_cast<double>(config.tileM * config.tileN) * share;
    moving = transfer(peers() * all * share, link.pushBytesPerUs, programs()) +
             std::max(members * all * share / chip.memoryBytesPerUs,
                      turns * members * ofTile / chip.reduceBytesPerUs);
  } else if (config.variant == "two_shot") {
    double part = peers() / members * all;
    double owners = std::min(programs(), std::ceil(tiles / members));
    moving = transfer(part * share, link.pullBytesPerUs, owners) +
             transfer(part * result, link.pushBytesPerUs, owners);
  } else if (config.variant == "one_shot") {
    moving = transfer(peers() * all * share, link.pullBytesPerUs, programs());
  } else {
    // Atomics read and write every element on every rank.
    moving =
        4 * transfer(peers() * all * result, link.pushBytesPerUs, programs());
  }
  return finish(own, moving, own.us + moving + barriers(2));
}

Expected<MatmulEstimate> Estimation::unfused() {
  IRISRT_ASSIGN_OR_RETURN(UnfusedPlan plan, planUnfused(problem, key));
  bool isGathered = plan.matmul.kind == MatmulKind::allGatherMatmul;
  const MatmulProblem &p = plan.matmul;
  MatmulTime own = matmulTimeOf(chip, config, p.element, p.result,
                                tilesOf(p, p.config, size), p.m, p.n, p.k,
                                isGathered ? size : 1, programs(), 0);
  double moving = peers() == 0 ? 0 : plan.collectiveUs;
  return finish(own, moving, own.us + moving);
}

/// What the generators do not make is no candidate.
Status Estimation::check() const {
  if (form().copiesA() && problem.aIsColumnMajor)
    return makeStatus(StatusCode::invalidArgument, "copies row-major a");
  if (form().copiesRowsOfC() && config.shard == "n")
    return makeStatus(StatusCode::invalidArgument,
                      "copies whole rows of the result");
  return Status::success();
}

Expected<MatmulEstimate> Estimation::run() {
  IRISRT_RETURN_IF_ERROR(check());
  if (isUnfused(problem.kind, config.variant))
    return unfused();
  switch (problem.kind) {
  case MatmulKind::allGatherMatmul:
    return gatherFirst();
  case MatmulKind::matmulAllGather:
    return gatherLast();
  case MatmulKind::matmulReduceScatter:
  case MatmulKind::matmulAllReduce:
    return sum();
  default: {
    MatmulTime own = matmul(problem.m, problem.n, problem.k, 1, programs());
    return finish(own, 0, own.us);
  }
  }
}

Expected<MatmulEstimate> iris::ccl::estimate(const MatmulTuningKey &tuningKey,
                                             const MatmulConfig &config) {
  return estimate(deviceModelOf(tuningKey).processor, tuningKey, config);
}

Expected<MatmulEstimate> iris::ccl::estimate(const ProcessorModel &chip,
                                             const MatmulTuningKey &tuningKey,
                                             const MatmulConfig &config) {
  return Estimation(chip, tuningKey, config).run();
}
