// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- iris-bench.cpp - Measures collectives and matmuls ------------------===//
//
// Starts itself once per rank. Under another launcher (torchrun, mpirun) the
// process is a rank. Options.cpp documents the options.
#include "Measure.h"
#include "Options.h"
#include "Report.h"
#include "Tuning.h"

#include "RankLauncher.h"
#include "StandardStreams.h"
#include "iris-c/RuntimeABI.h"
#include "iris/rt/Env.h"
#include "stack/LargeStack.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>

using namespace iris;
using namespace iris::bench;

static constexpr const char *toolName = "iris-bench";

static int report(const rt::Status &status) {
  std::fprintf(stderr, "iris-bench: %s\n", status.message().c_str());
  return 1;
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// With "all" variants, an impossible case is not an error.
static bool isImpossible(const Case &each, const rt::Status &status) {
  return each.mayBeImpossible &&
         status.code() == rt::StatusCode::invalidArgument;
}

static bool isImpossible(const MatmulCase &each, const rt::Status &status) {
  return each.mayBeImpossible &&
         (each.isUnsupported ||
          status.code() == rt::StatusCode::invalidArgument);
}

/// Measures the cases in order; returns the last error.
template <typename Each, typename Measure, typename Use>
static rt::Status measureAll(const std::vector<Each> &cases,
                             Measurement &measurement, Report *report,
                             Measure measureOne, Use use) {
  rt::Status worst;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (report)
      report->progress(i, cases[i]);
    auto timing = measureOne(cases[i]);
    if (timing.ok()) {
      if (report)
        report->add(cases[i], *timing);
      use(cases[i], *timing);
      continue;
    }
    if (isImpossible(cases[i], timing.status())) {
      if (report)
        report->skip(cases[i], timing.status());
      continue;
    }
    if (report)
      report->fail(cases[i], timing.status());
    worst = timing.status();
    // Continue after an impossible case, but not in a failed world.
    IRISRT_RETURN_IF_ERROR(measurement.world().failure());
  }
  return worst;
}

static rt::Status measure(const Options &options) {
  std::vector<Case> cases = casesOf(options);
  IRISRT_ASSIGN_OR_RETURN(std::vector<MatmulCase> matmuls, matmulsOf(options));
  IRISRT_ASSIGN_OR_RETURN(
      std::unique_ptr<Measurement> measurement,
      Measurement::create(options, cases, heapBytesOf(options, matmuls)));
  std::unique_ptr<Report> report;
  if (measurement->world().rank() == 0) {
    IRISRT_ASSIGN_OR_RETURN(report, Report::open(options));
    report->begin(measurement->world(), cases.size(), matmuls.size());
  }
  std::vector<ccl::CalibrationCall> calibrations;
  rt::Status worst = measureAll(
      cases, *measurement, report.get(),
      [&](const Case &each) { return measurement->run(each); },
      [&](const Case &each, const Timing &timing) {
        calibrations.push_back(calibrated(each, timing));
      });
  IRISRT_RETURN_IF_ERROR(measurement->world().failure());
  if (!options.calibratePath.empty() && report && worst.ok())
    worst = writeCalibration(options, calibrations);
  MatmulRun run(*measurement);
  std::optional<Tuning> tuning;
  rt::Status tuned;
  if (options.tune != 0 && report) {
    rt::Expected<Tuning> opened = Tuning::open(options, measurement->world());
    tuned = opened.status();
    if (opened.ok())
      tuning = opened.take();
    else
      measurement->world().fail(tuned); // stops all ranks
  }
  rt::Status status = measureAll(
      matmuls, *measurement, report.get(),
      [&](const MatmulCase &each) {
        if (tuning && tuned.ok())
          tuned = tuning->begin(each);
        return run.run(each);
      },
      [&](const MatmulCase &each, const MatmulTiming &result) {
        if (tuning)
          tuning->add(each, result.timing.median);
      });
  if (!status.ok())
    worst = status;
  IRISRT_RETURN_IF_ERROR(measurement->world().failure());
  if (tuning && tuned.ok())
    tuned = tuning->finish();
  if (!tuned.ok())
    worst = tuned;
  IRISRT_RETURN_IF_ERROR(run.release());
  IRISRT_RETURN_IF_ERROR(measurement->finish());
  if (report)
    IRISRT_RETURN_IF_ERROR(report->finish());
  return worst;
}

/// What the environment names must be usable, also where nothing is measured.
static rt::Status checkEnvironment(const Options &options) {
  if (options.nccl)
    return rt::Status::success(); // of the target, which the list checks
  IRISRT_RETURN_IF_ERROR(ccl::checkCostModel(options.device.kind));
  // Tuning writes the table.
  return options.tune != 0 ? rt::Status::success()
                           : ccl::MatmulTable::fromEnvironment().status();
}

/// Separates the parts that `iris-compile --split` compiles.
static void addPart(std::string &text, const std::string &part) {
  text += (text.empty() ? "" : "// -----\n") + part;
}

/// The requests of what is measured.
static rt::Expected<std::string> measuredRequests(const Options &options) {
  std::vector<Case> cases = casesOf(options);
  IRISRT_ASSIGN_OR_RETURN(std::vector<MatmulCase> matmuls, matmulsOf(options));
  std::set<std::string> requests = requestsOf(options, cases);
  addRequests(options, matmuls, requests);
  std::string text;
  for (const std::string &request : requests)
    addPart(text, request);
  return text;
}

/// The kernels of libiris_nccl.
static rt::Expected<std::string> ncclRequests(const Options &options) {
  IRISRT_ASSIGN_OR_RETURN(ccl::KernelList kernels,
                          nccl::listKernels(options.target, options.ncclCalls));
  std::string text;
  for (const auto &[name, source] : kernels)
    addPart(text, source);
  return text;
}

static rt::Status writeRequests(const Options &options) {
  IRISRT_ASSIGN_OR_RETURN(std::string text, options.nccl
                                                ? ncclRequests(options)
                                                : measuredRequests(options));
  if (options.requestsPath == "-") {
    std::fputs(text.c_str(), stdout);
    return rt::Status::success();
  }
  std::ofstream file(options.requestsPath);
  file << text;
  file.close();
  if (!file)
    return rt::makeStatus(rt::StatusCode::invalidArgument, "cannot write %s",
                          options.requestsPath.c_str());
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// The launcher
//===----------------------------------------------------------------------===//

static int launch(const Options &options, int argc, char **argv) {
  run::Supervisor supervisor;
  if (!supervisor.status().ok())
    return report(supervisor.status());
  run::RankLaunch ranks;
  ranks.numRanks = options.numRanks;
  ranks.command = [&](uint32_t, int) {
    run::ChildSpec spec;
    spec.path = "/proc/self/exe";
    spec.args.assign(argv + 1, argv + argc);
    return spec;
  };
  ranks.stopLimit = run::stopLimitFor(std::nullopt);
  rt::Expected<std::vector<run::RankEnd>> ends =
      run::launchRanks(supervisor, ranks);
  if (!ends.ok())
    return report(ends.status());
  if (supervisor.stopSignal() != 0) {
    std::fprintf(stderr, "iris-bench: stopped by signal %d\n",
                 supervisor.stopSignal());
    return 128 + supervisor.stopSignal();
  }
  size_t failed = 0;
  for (size_t rank = 0; rank < ends->size(); ++rank) {
    const run::RankEnd &end = (*ends)[rank];
    failed += !end.succeeded;
    // A rank that exited with a status has reported the reason.
    if (end.isUnexplained)
      std::fprintf(stderr, "iris-bench: rank %zu: its process %s\n", rank,
                   end.how.c_str());
  }
  if (failed != 0)
    std::fprintf(stderr, "iris-bench: FAILED on %zu of %zu ranks\n", failed,
                 ends->size());
  return failed != 0 ? 1 : 0;
}

static int runTool(int argc, char **argv) {
  rt::Expected<Options> options = parseOptions(argc, argv);
  if (!options.ok())
    return report(options.status());
  if (options->help) {
    std::fputs(helpText().c_str(), stdout);
    return 0;
  }
  if (options->version) {
    std::printf("iris-bench %s, ABI %d.%d\n", IRIS_VERSION,
                IRISRT_ABI_VERSION_MAJOR, IRISRT_ABI_VERSION_MINOR);
    return 0;
  }
  if (options->explain || !options->requestsPath.empty()) {
    rt::Status environment = checkEnvironment(*options);
    if (!environment.ok())
      return report(environment);
  }
  if (options->explain) {
    explain(*options);
    rt::Status status = explainMatmuls(*options);
    return status.ok() ? 0 : report(status);
  }
  if (!options->requestsPath.empty()) {
    rt::Status status = writeRequests(*options);
    return status.ok() ? 0 : report(status);
  }
  const rt::Expected<rt::LaunchInfo> &info = rt::Env::get().launch();
  if (!info.ok())
    return report(info.status());
  if (info->launcher == "none")
    return launch(*options, argc, argv);
  // The device determines the selected kernels, and so the size of the heap:
  // query it before the world is created.
  rt::Expected<int> devices = rt::deviceCount(options->device);
  if (!devices.ok())
    return report(devices.status());
  rt::Expected<rt::DeviceAttributes> attributes =
      rt::deviceAttributes(options->device, static_cast<int>(info->localRank) %
                                                std::max(*devices, 1));
  if (!attributes.ok())
    return report(attributes.status());
  rt::Status costModel = ccl::checkCostModel(options->device.kind);
  if (!costModel.ok())
    return report(costModel);
  auto prepare = [&](Options &part) {
    part.numRanks = info->numRanks;
    part.target = attributes->target;
    part.attributes = *attributes;
  };
  prepare(*options);
  for (Options &part : options->plan)
    prepare(part);
  rt::Status status = measure(*options);
  if (!status.ok())
    report(status);
  return run::exitStatusOf(status);
}

static int runAndFinish(int argc, char **argv) {
  return run::finishStandardOutput(toolName, runTool(argc, argv));
}

int main(int argc, char **argv) {
  run::prepareStandardStreams();
  return iristools::runOnLargeStack(toolName, runAndFinish, argc, argv);
}
