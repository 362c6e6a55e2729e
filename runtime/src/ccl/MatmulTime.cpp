// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ccl/MatmulTime.h"

#include "iris/Plan/Matmuls.h"

#include <algorithm>
#include <cmath>

using namespace iris::ccl;

/// A multiplication and an addition.
static constexpr double opsPerMultiplyAdd = 2;
/// A partial sum of split-K is an f32 or an i32.
static constexpr double bytesPerPartialSum = 4;

/// The rate of matrix instructions, relative to elements of 16 bits.
static double relativeRate(const ProcessorModel &chip, DType element) {
  uint32_t bytes = dtypeBytes(element);
  return bytes == 1 ? chip.factor8Bit : bytes == 4 ? chip.factor32Bit : 1;
}

static bool hasNonPow2Columns(const MatmulConfig &config) {
  return !plan::isPowerOfTwo(config.tileN);
}

/// Columns of a tile that the matrix instructions compute, with padding.
static int64_t paddedColumns(const ProcessorModel &chip,
                             const MatmulConfig &config, DType element) {
  if (!hasNonPow2Columns(config) ||
      (chip.nonPow2Efficiency != 0 && element != DType::f32))
    return config.tileN;
  return plan::nextPowerOfTwo(config.tileN);
}

static double tileElements(const MatmulConfig &config) {
  return static_cast<double>(config.tileM * config.tileN);
}

static double splitsOf(const MatmulConfig &config) {
  return static_cast<double>(std::max<int64_t>(config.splitK, 1));
}

/// The time of concurrent activities: at least that of the longest.
static double overlapped(const ProcessorModel &chip,
                         std::initializer_list<double> timesUs) {
  double longest = std::max(timesUs), sum = 0;
  if (longest <= 0)
    return 0;
  for (double us : timesUs)
    sum += std::pow(us / longest, chip.overlapExponent);
  return longest * std::pow(sum, 1 / chip.overlapExponent);
}

/// Microseconds of one k-step, while `busyPrograms` programs share the
/// bandwidth of global-to-shared copies.
static double kStepTime(const ProcessorModel &chip, const MatmulConfig &config,
                        DType element, double busyPrograms) {
  double elementBytes = std::max(dtypeBytes(element), 1u);
  auto tileM = static_cast<double>(config.tileM);
  auto tileN = static_cast<double>(paddedColumns(chip, config, element));
  auto tileK = static_cast<double>(config.tileK);
  double multiplyUs = opsPerMultiplyAdd * tileM * tileN * tileK /
                      (chip.processorOpsPerUs * relativeRate(chip, element));
  double bytesPerUs = std::min(chip.processorLoadBytesPerUs,
                               chip.deviceLoadBytesPerUs / busyPrograms);
  double loadUs = (tileM + tileN) * tileK * elementBytes / bytesPerUs;
  return overlapped(chip, {multiplyUs, loadUs}) + chip.kStepUs;
}

/// Microseconds of one tile, or of one split of it.
static double tileTime(const ProcessorModel &chip, const MatmulConfig &config,
                       const MatmulWork &work, double busyPrograms) {
  const double splits = splitsOf(config);
  auto kSteps = static_cast<double>(
      work.kShards *
      plan::ceilDiv(work.k, static_cast<uint64_t>(config.tileK)));
  kSteps = std::ceil(kSteps / splits);
  // Concurrent programs share the bandwidth of device memory.
  double storeUs = tileElements(config) * dtypeBytes(work.result) *
                   busyPrograms / chip.memoryBytesPerUs;
  double us = kSteps * kStepTime(chip, config, work.element, busyPrograms) +
              chip.tileUs + storeUs;
  // The last program of a split tile adds the partial sums of all its programs.
  if (splits > 1)
    us += chip.splitUs + splits * tileElements(config) * bytesPerPartialSum /
                             chip.splitBytesPerUs;
  return us;
}

/// Microseconds to read each element of both operands once.
static double memoryTime(const ProcessorModel &chip, const MatmulWork &work) {
  double bytes = (static_cast<double>(work.m) + static_cast<double>(work.n)) *
                 static_cast<double>(work.k * work.kShards) *
                 dtypeBytes(work.element);
  return bytes / chip.memoryBytesPerUs;
}

/// Microseconds at the device's peak rate, where power limits it; else 0.
static double peakRateTime(const ProcessorModel &chip,
                           const MatmulConfig &config, const MatmulWork &work) {
  if (chip.deviceOpsPerUs == 0)
    return 0;
  bool isBelowPeak = chip.nonPow2Efficiency != 0 && hasNonPow2Columns(config);
  return opsPerMultiplyAdd * static_cast<double>(work.m) *
         static_cast<double>(work.n) *
         static_cast<double>(work.k * work.kShards) /
         (chip.deviceOpsPerUs * relativeRate(chip, work.element) *
          (work.element == DType::bf16 ? chip.bf16Factor : 1) *
          (isBelowPeak ? chip.nonPow2Efficiency : 1));
}

MatmulTime iris::ccl::matmulTimeOf(const ProcessorModel &chip,
                                   const MatmulConfig &config,
                                   const MatmulWork &work,
                                   const ComputePrograms &programs) {
  const double tiles = static_cast<double>(work.tiles) * splitsOf(config);
  const double busyPrograms = std::max(1.0, std::min(tiles, programs.count));
  MatmulTime time;
  time.waves = std::ceil(std::max(tiles - programs.commProgramTiles, 1.0) /
                         std::max(1.0, programs.count));
  time.tileUs = tileTime(chip, config, work, busyPrograms);
  time.us = chip.startUs +
            overlapped(chip, {time.waves * time.tileUs, memoryTime(chip, work),
                              peakRateTime(chip, config, work)});
  return time;
}
