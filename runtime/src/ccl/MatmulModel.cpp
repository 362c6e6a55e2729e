// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ccl/MatmulModel.h"

#include "ccl/DeviceModel.h"
#include "ccl/MatmulPlan.h"
#include "ccl/MatmulTime.h"
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
  MatmulProblem complete = problem;
  complete.config = config;
  plan::MatmulForm form = formOf(complete);
  form.splitK = 1;
  plan::IntegerArithmetic n;
  return static_cast<uint64_t>(
      plan::countTiles(n, form, shapeOf(complete, form, groupSize)));
}

//===----------------------------------------------------------------------===//
// Estimator
//===----------------------------------------------------------------------===//

/// Barriers of a kernel: at its start, where peers' memory may not be written
/// before, and at its end.
static constexpr double entryAndExit = 2, exitOnly = 1;
/// An atomic addition reads and writes every element over the links, and again
/// for the result on every rank.
static constexpr double atomicTraffic = 4;

namespace {
/// Predicts the time of one config.
class MatmulEstimator {
public:
  MatmulEstimator(const ProcessorModel &chip, const MatmulTuningKey &key,
                  const MatmulConfig &config)
      : key(key), problem(key.problem), config(config), chip(chip),
        link(deviceModelOf(key).links), size(key.groupSize) {
    problem.config = config;
  }

  Expected<MatmulEstimate> run() const;

private:
  /// The prediction of one variant of one kind.
  struct VariantModel {
    MatmulKind kind;
    std::string_view variant;
    MatmulEstimate (MatmulEstimator::*predict)() const;
  };
  static const VariantModel variantModels[];

  Status check() const;

  // Quantities that the predictions share. Times are in microseconds.
  plan::MatmulForm form() const { return formOf(problem); }
  double peers() const { return static_cast<double>(size) - 1; }
  double ranks() const { return static_cast<double>(size); }
  bool scatters() const {
    return problem.kind == MatmulKind::matmulReduceScatter;
  }
  double programs() const;
  double commPrograms() const;
  double outputTiles() const;
  double resultBytes() const { return dtypeBytes(problem.result); }
  double partialSumBytes() const;
  double resultElements() const {
    return static_cast<double>(problem.m * problem.n);
  }
  double chunkElements() const {
    return scatters() ? resultElements() : resultElements() / ranks();
  }
  double tilesPerCommProgram() const {
    return static_cast<double>(config.tilesPerCommProgram);
  }
  ComputePrograms allPrograms() const { return {programs(), 0}; }
  ComputePrograms specializedPrograms() const;
  double transferTime(double bytes, double linkBytesPerUs,
                      double byPrograms) const;
  double copyTime(double copies, double bytes) const;
  double barrierTime(double count) const {
    return peers() == 0 ? 0 : count * link.barrierUs;
  }
  CopiedLayout layout() const {
    return copiedLayout(problem, static_cast<uint32_t>(size));
  }

  // The matmul alone, with the rows and the depth that the kind implies.
  MatmulTime computeTime(uint64_t rows, uint64_t kShards,
                         const ComputePrograms &by) const;
  MatmulTime gatheredTime(const ComputePrograms &by) const;
  MatmulTime localTime(const ComputePrograms &by) const {
    return computeTime(problem.m, 1, by);
  }
  MatmulTime partialSumTime(const ComputePrograms &by) const {
    return computeTime(scatters() ? size * problem.m : problem.m, 1, by);
  }

  // Predictions, by the variant's schedule.
  MatmulEstimate computeOnly() const;
  MatmulEstimate pullOperands() const;
  MatmulEstimate fetchOperands() const;
  MatmulEstimate copyOperands() const;
  MatmulEstimate pushResults() const;
  MatmulEstimate specializedResults() const;
  MatmulEstimate copyResults() const;
  MatmulEstimate pushPartialSums() const;
  MatmulEstimate specializedPartialSums() const;
  MatmulEstimate copyPartialSums() const;
  MatmulEstimate twoShot() const;
  MatmulEstimate oneShot() const;
  MatmulEstimate atomic() const;
  Expected<MatmulEstimate> unfused() const;

  MatmulEstimate finish(const MatmulTime &compute, double commUs,
                        double totalUs) const;
  MatmulEstimate sequential(const MatmulTime &compute, double commUs) const;
  MatmulEstimate pipelined(const MatmulTime &compute, double commUs) const;

  const MatmulTuningKey &key;
  MatmulProblem problem;
  const MatmulConfig &config;
  const ProcessorModel &chip;
  const LinkModel &link;
  uint64_t size;
};
} // namespace

//===----------------------------------------------------------------------===//
// Shared quantities
//===----------------------------------------------------------------------===//

/// Programs that run concurrently.
double MatmulEstimator::programs() const {
  auto requested = static_cast<double>(config.programs);
  auto processors = static_cast<double>(chip.processors);
  return requested == 0 ? processors : std::min(requested, processors);
}

double MatmulEstimator::commPrograms() const {
  auto requested = static_cast<double>(config.numFetchPrograms);
  return std::min(std::max(requested, 1.0), programs());
}

/// Compute programs beside communication programs.
ComputePrograms MatmulEstimator::specializedPrograms() const {
  return {std::max(programs() - commPrograms(), 1.0),
          tilesPerCommProgram() * commPrograms()};
}

/// Tiles of the m x n result.
double MatmulEstimator::outputTiles() const {
  return static_cast<double>(
      plan::ceilDiv(problem.m, static_cast<uint64_t>(config.tileM)) *
      plan::ceilDiv(problem.n, static_cast<uint64_t>(config.tileN)));
}

/// Bytes of an element of a rank's partial result.
double MatmulEstimator::partialSumBytes() const {
  return config.partialType == "result" ? dtypeBytes(problem.result)
                                        : dtypeBytes(sumType(problem.element));
}

/// The time of a transfer of `bytes` between this rank and all its peers. It is
/// limited by all links of the rank, by the link to each peer, or by the
/// programs that load and store.
double MatmulEstimator::transferTime(double bytes, double linkBytesPerUs,
                                     double byPrograms) const {
  if (peers() == 0)
    return 0;
  return std::max({bytes / linkBytesPerUs,
                   bytes / peers() / link.peerBytesPerUs,
                   bytes / (byPrograms * chip.commProgramBytesPerUs)});
}

/// The time of copies by copy engine, one after another, of `bytes` in total.
double MatmulEstimator::copyTime(double copies, double bytes) const {
  double bytesPerUs = chip.copyEngineBytesPerUs == 0
                          ? link.pullBytesPerUs
                          : chip.copyEngineBytesPerUs;
  return copies * chip.copyUs + transferTime(bytes, bytesPerUs, programs());
}

MatmulTime MatmulEstimator::computeTime(uint64_t rows, uint64_t kShards,
                                        const ComputePrograms &by) const {
  MatmulWork work;
  work.m = rows;
  work.n = problem.n;
  work.k = problem.k;
  work.kShards = kShards;
  work.tiles = tilesOf(problem, config, size);
  work.element = problem.element;
  work.result = problem.result;
  return matmulTimeOf(chip, config, work, by);
}

/// The matmul of an all-gather + matmul: the shards of all ranks add rows, or
/// with shard k, depth.
MatmulTime MatmulEstimator::gatheredTime(const ComputePrograms &by) const {
  return config.shard == "k" ? computeTime(problem.m, size, by)
                             : computeTime(size * problem.m, 1, by);
}

MatmulEstimate MatmulEstimator::finish(const MatmulTime &compute, double commUs,
                                       double totalUs) const {
  MatmulEstimate estimate;
  estimate.config = config;
  estimate.matmulUs = compute.us;
  estimate.commUs = commUs;
  estimate.us = totalUs;
  return estimate;
}

/// Communication without overlap: each program computes, then communicates.
MatmulEstimate MatmulEstimator::sequential(const MatmulTime &compute,
                                           double commUs) const {
  return finish(compute, commUs,
                compute.us + commUs + barrierTime(entryAndExit));
}

/// Software pipeline over waves: communication programs move the tiles of one
/// wave while compute programs compute the next one.
MatmulEstimate MatmulEstimator::pipelined(const MatmulTime &compute,
                                          double commUs) const {
  double commOfWave = commUs / compute.waves;
  double totalUs = chip.startUs + compute.tileUs +
                   (compute.waves - 1) * std::max(compute.tileUs, commOfWave) +
                   commOfWave;
  // Communication programs compute their own tiles before they communicate, and
  // the power limit holds for the whole launch.
  totalUs = std::max(
      {totalUs, compute.us,
       chip.startUs + tilesPerCommProgram() * compute.tileUs + commUs});
  totalUs += (compute.waves - 1) / compute.waves * chip.storeOverlapLoss *
             std::min(compute.us, commUs);
  return finish(compute, commUs, totalUs + barrierTime(entryAndExit));
}

//===----------------------------------------------------------------------===//
// Matmul and all-gather + matmul
//===----------------------------------------------------------------------===//

MatmulEstimate MatmulEstimator::computeOnly() const {
  MatmulTime compute = localTime(allPrograms());
  return finish(compute, /*commUs=*/0, compute.us);
}

/// Bytes of one rank's shard of a.
static double shardBytes(const MatmulProblem &problem) {
  return static_cast<double>(problem.m * problem.k) *
         dtypeBytes(problem.element);
}

/// Every compute program loads its operand tiles from the peers, so each column
/// of output tiles reads the shards again.
MatmulEstimate MatmulEstimator::pullOperands() const {
  auto tileColumns = static_cast<double>(
      plan::ceilDiv(problem.n, static_cast<uint64_t>(config.tileN)));
  return sequential(gatheredTime(allPrograms()),
                    transferTime(tileColumns * peers() * shardBytes(problem),
                                 link.pullBytesPerUs, programs()));
}

/// Communication programs move shards to the staging buffer while compute
/// programs multiply the k-steps that have arrived.
MatmulEstimate MatmulEstimator::fetchOperands() const {
  MatmulTime compute = gatheredTime(specializedPrograms());
  // Programs that fetch have so many loads in flight that they reach the rate
  // of stores.
  double commUs = transferTime(peers() * shardBytes(problem),
                               link.pushBytesPerUs, commPrograms());
  auto flagsPerTileRow = static_cast<double>(plan::ceilDiv(
      problem.k, static_cast<uint64_t>(config.tileK * config.kPerFlag)));
  auto flags = peers() * flagsPerTileRow *
               static_cast<double>(plan::ceilDiv(
                   problem.m, static_cast<uint64_t>(config.tileM)));
  commUs += flags / commPrograms() * chip.signalUs;
  const double kShards = config.shard == "k" ? ranks() : 1;
  double waitUs = compute.waves * flagsPerTileRow * kShards *
                  (peers() == 0 ? 0 : chip.waitUs);
  double overlappedUs =
      std::max(compute.us, commUs + tilesPerCommProgram() * compute.tileUs) +
      chip.fetchOverlapLoss * std::min(compute.us, commUs);
  return finish(compute, commUs,
                overlappedUs + waitUs + barrierTime(entryAndExit));
}

/// Copy engines move the shards in groups of tile rows while all programs
/// compute. Exposed after the last copy: the tiles that need its group, or with
/// shard k, the last shard of their k-steps.
MatmulEstimate MatmulEstimator::copyOperands() const {
  MatmulTime compute = gatheredTime(allPrograms());
  CopiedLayout copied = layout();
  double commUs = chip.copyEngineStartUs +
                  copyTime(peers() * static_cast<double>(copied.groups),
                           peers() * shardBytes(problem));
  auto lastTiles = static_cast<double>(
      plan::ceilDiv(std::min(copied.rows, copied.groupRows),
                    static_cast<uint64_t>(config.tileM)) *
      plan::ceilDiv(problem.n, static_cast<uint64_t>(config.tileN)));
  double exposedUs = compute.tileUs * std::ceil(lastTiles / programs());
  if (config.shard == "k")
    exposedUs /= ranks();
  double totalUs = std::max(compute.us, commUs + exposedUs) +
                   chip.copyOverlapLoss * std::min(compute.us, commUs);
  return finish(compute, commUs, totalUs + barrierTime(entryAndExit));
}

//===----------------------------------------------------------------------===//
// Matmul + all-gather
//===----------------------------------------------------------------------===//

/// A program stores its finished tile on every rank before it computes the next
/// one.
MatmulEstimate MatmulEstimator::pushResults() const {
  return sequential(localTime(allPrograms()),
                    transferTime(peers() * resultElements() * resultBytes(),
                                 link.pushBytesPerUs, programs()));
}

MatmulEstimate MatmulEstimator::specializedResults() const {
  return pipelined(localTime(specializedPrograms()),
                   transferTime(peers() * resultElements() * resultBytes(),
                                link.pushBytesPerUs, commPrograms()));
}

/// Copy engines send a group of tile rows as soon as its tiles are finished.
/// The copies of the last group are exposed after the matmul.
MatmulEstimate MatmulEstimator::copyResults() const {
  MatmulTime compute = localTime(allPrograms());
  auto groups = static_cast<double>(layout().groups);
  double commUs =
      groups * chip.copyEngineWaitUs +
      copyTime(peers() * groups, peers() * resultElements() * resultBytes());
  double totalUs = std::max(compute.us + commUs / std::max(groups, 1.0),
                            chip.startUs + compute.tileUs + commUs) +
                   chip.copyOverlapLoss * std::min(compute.us, commUs);
  return finish(compute, commUs, totalUs + barrierTime(exitOnly));
}

//===----------------------------------------------------------------------===//
// Matmul + reduce-scatter and all-reduce
//===----------------------------------------------------------------------===//

/// Communication programs pull the partial sums of the tiles in their rank's
/// chunk and reduce them; in an all-reduce they push the sums to all peers.
MatmulEstimate MatmulEstimator::specializedPartialSums() const {
  const double programs = commPrograms(), chunk = chunkElements();
  double tilesPerProgram =
      (scatters() ? outputTiles() : outputTiles() / ranks()) / programs;
  double bytes =
      peers() * chunk *
      (scatters() ? partialSumBytes() : partialSumBytes() + resultBytes());
  double commUs = transferTime(peers() * chunk * partialSumBytes(),
                               link.pullBytesPerUs, programs);
  if (!scatters())
    commUs += transferTime(peers() * chunk * resultBytes(), link.pushBytesPerUs,
                           programs);
  // The programs can be slower than the links.
  commUs = std::max(commUs, bytes / (programs * chip.commProgramBytesPerUs) +
                                tilesPerProgram * chip.reduceTileUs);
  return pipelined(partialSumTime(specializedPrograms()), commUs);
}

/// Copy engines send the partial sums of a group of tile rows to the group's
/// owner as soon as they are finished. The owner's own tiles come last and
/// reduce; an all-reduce then copies the sums to all peers. The entry barrier
/// overlaps with the matmul; an all-reduce needs another one, because peers
/// write its result.
MatmulEstimate MatmulEstimator::copyPartialSums() const {
  MatmulTime compute = partialSumTime(allPrograms());
  const double partialBytes = peers() * chunkElements() * partialSumBytes();
  const double sumBytes =
      scatters() ? 0 : peers() * chunkElements() * resultBytes();
  auto groups = static_cast<double>(layout().groups);
  double copies = peers() * groups;
  double commUs =
      copies * chip.copyEngineWaitUs + copyTime(copies, partialBytes);
  double exposedUs = compute.tileUs * std::max(1.0, compute.waves / ranks() /
                                                        std::max(groups, 1.0));
  double totalUs =
      std::max(compute.us, chip.startUs + compute.tileUs + commUs + exposedUs);
  if (sumBytes != 0) {
    double gatherUs =
        groups * chip.copyEngineWaitUs + copyTime(copies, sumBytes);
    commUs += gatherUs;
    totalUs = std::max(totalUs + gatherUs / std::max(groups, 1.0),
                       chip.startUs + compute.tileUs + commUs);
  }
  // The reduction reads the partial sums from device memory.
  totalUs += partialBytes / chip.memoryBytesPerUs;
  totalUs += chip.copyOverlapLoss * std::min(compute.us, commUs);
  return finish(compute, commUs, totalUs + barrierTime(sumBytes != 0));
}

/// Partial sums go to the owner of their rows, which reads those of all ranks
/// again. A program reduces whole tiles: with few tiles, few programs reduce.
MatmulEstimate MatmulEstimator::pushPartialSums() const {
  double waves = std::ceil(outputTiles() / programs());
  double tileBytes =
      static_cast<double>(config.tileM * config.tileN) * partialSumBytes();
  double reduceUs = std::max(
      ranks() * resultElements() * partialSumBytes() / chip.memoryBytesPerUs,
      waves * ranks() * tileBytes / chip.reduceBytesPerUs);
  double commUs = transferTime(peers() * resultElements() * partialSumBytes(),
                               link.pushBytesPerUs, programs()) +
                  reduceUs;
  return sequential(partialSumTime(allPrograms()), commUs);
}

/// Each rank pulls and reduces the partial sums of its tiles, then pushes the
/// sums to all peers.
MatmulEstimate MatmulEstimator::twoShot() const {
  double elements = peers() / ranks() * resultElements();
  double reducers = std::min(programs(), std::ceil(outputTiles() / ranks()));
  double commUs =
      transferTime(elements * partialSumBytes(), link.pullBytesPerUs,
                   reducers) +
      transferTime(elements * resultBytes(), link.pushBytesPerUs, reducers);
  return sequential(partialSumTime(allPrograms()), commUs);
}

/// Every rank pulls and reduces the partial sums of all tiles.
MatmulEstimate MatmulEstimator::oneShot() const {
  return sequential(partialSumTime(allPrograms()),
                    transferTime(peers() * resultElements() * partialSumBytes(),
                                 link.pullBytesPerUs, programs()));
}

MatmulEstimate MatmulEstimator::atomic() const {
  return sequential(partialSumTime(allPrograms()),
                    atomicTraffic *
                        transferTime(peers() * resultElements() * resultBytes(),
                                     link.pushBytesPerUs, programs()));
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

const MatmulEstimator::VariantModel MatmulEstimator::variantModels[] = {
    {MatmulKind::matmul, "tiles", &MatmulEstimator::computeOnly},
    {MatmulKind::allGatherMatmul, "pull", &MatmulEstimator::pullOperands},
    {MatmulKind::allGatherMatmul, "hbm_buffer",
     &MatmulEstimator::fetchOperands},
    {MatmulKind::allGatherMatmul, "push", &MatmulEstimator::fetchOperands},
    {MatmulKind::allGatherMatmul, "copy_engine",
     &MatmulEstimator::copyOperands},
    {MatmulKind::matmulAllGather, "push", &MatmulEstimator::pushResults},
    {MatmulKind::matmulAllGather, "specialized",
     &MatmulEstimator::specializedResults},
    {MatmulKind::matmulAllGather, "copy_engine", &MatmulEstimator::copyResults},
    {MatmulKind::matmulReduceScatter, "push",
     &MatmulEstimator::pushPartialSums},
    {MatmulKind::matmulReduceScatter, "specialized",
     &MatmulEstimator::specializedPartialSums},
    {MatmulKind::matmulReduceScatter, "copy_engine",
     &MatmulEstimator::copyPartialSums},
    {MatmulKind::matmulAllReduce, "two_shot", &MatmulEstimator::twoShot},
    {MatmulKind::matmulAllReduce, "one_shot", &MatmulEstimator::oneShot},
    {MatmulKind::matmulAllReduce, "atomic", &MatmulEstimator::atomic},
    {MatmulKind::matmulAllReduce, "specialized",
     &MatmulEstimator::specializedPartialSums},
    {MatmulKind::matmulAllReduce, "copy_engine",
     &MatmulEstimator::copyPartialSums},
};

/// A local matmul and a collective, each with its own launch.
Expected<MatmulEstimate> MatmulEstimator::unfused() const {
  IRISRT_ASSIGN_OR_RETURN(UnfusedPlan plan, planUnfused(problem, key));
  const MatmulProblem &local = plan.matmul;
  MatmulWork work;
  work.m = local.m;
  work.n = local.n;
  work.k = local.k;
  work.kShards = local.kind == MatmulKind::allGatherMatmul ? size : 1;
  work.tiles = tilesOf(local, local.config, size);
  work.element = local.element;
  work.result = local.result;
  MatmulTime compute = matmulTimeOf(chip, config, work, allPrograms());
  double commUs = peers() == 0 ? 0 : plan.collectiveUs;
  return finish(compute, commUs, compute.us + commUs);
}

/// Fails for configs that the kernel generators refuse.
Status MatmulEstimator::check() const {
  if (form().copiesA() && problem.aIsColumnMajor)
    return makeStatus(StatusCode::invalidArgument,
                      "%s: variant %s copies a in its memory layout; expected "
                      "row-major a",
                      kindName(problem.kind), config.variant.c_str());
  if (form().copiesRowsOfC() && config.shard == "n")
    return makeStatus(StatusCode::invalidArgument,
                      "%s: variant %s copies whole rows of c; expected shard m",
                      kindName(problem.kind), config.variant.c_str());
  return Status::success();
}

Expected<MatmulEstimate> MatmulEstimator::run() const {
  IRISRT_RETURN_IF_ERROR(check());
  const plan::MatmulVariant &variant = *form().variant;
  if (variant.has(plan::separateKernels))
    return unfused();
  for (const VariantModel &model : variantModels)
    if (model.kind == problem.kind && model.variant == variant.name)
      return (this->*model.predict)();
  return makeStatus(StatusCode::invalidArgument,
                    "%s: no cost model for variant '%s'",
                    kindName(problem.kind), config.variant.c_str());
}

Expected<MatmulEstimate> iris::ccl::estimate(const MatmulTuningKey &tuningKey,
                                             const MatmulConfig &config) {
  return estimate(deviceModelOf(tuningKey).processor, tuningKey, config);
}

Expected<MatmulEstimate> iris::ccl::estimate(const ProcessorModel &chip,
                                             const MatmulTuningKey &tuningKey,
                                             const MatmulConfig &config) {
  return MatmulEstimator(chip, tuningKey, config).run();
}
