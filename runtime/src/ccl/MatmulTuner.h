// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulTuner.h - Measured choice of matmul configs --------*- C++ -*-===//
//
// Measures the candidates of a problem on the device, and keeps the choice on
// disk (TunedChoices.h). docs/guides/tuning.md describes it for users.
#ifndef IRIS_RT_CCL_MATMULTUNER_H
#define IRIS_RT_CCL_MATMULTUNER_H

#include "ccl/MatmulExecution.h"
#include "ccl/MeasureCalls.h"

#include <memory>
#include <string>

namespace iris::ccl {

/// What is measured if neither the caller nor IRIS_TUNE says it. Only where
/// measurements were compared with a vendor's matmul and collective on
/// hardware: no AMD GPU has measured yet, and on the host times vary too much.
rt::TuneLevel defaultTuneLevel(rt::DeviceKind device);

/// What is measured, and for how long.
struct MatmulTuneRequest {
  rt::TuneLevel level = rt::TuneLevel::off;
  double limitMs = 0;
  std::shared_ptr<TuningClock> clock;

  /// Completes the caller's request.
  static MatmulTuneRequest from(const MatmulTuning &tuning,
                                rt::DeviceKind device);
  /// "quick, up to 100 ms"; equal on all ranks.
  std::string describe() const;
};

/// A choice, or the reason why nothing was measured. A choice that was measured
/// just now is ready to run.
struct TunedMatmul {
  std::optional<MatmulChoice> choice;
  std::string why;
  std::unique_ptr<MatmulExecution> execution;
};

/// Collective over the world; all ranks get the same choice. `modelChoice` is
/// that of select().
rt::Expected<TunedMatmul> tuneMatmul(const MatmulSite &site,
                                     const MatmulTuningKey &tuningKey,
                                     const MatmulChoice &modelChoice,
                                     const MatmulTuneRequest &request);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MATMULTUNER_H
