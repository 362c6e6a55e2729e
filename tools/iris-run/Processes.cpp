// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Processes.cpp - Ranks as processes ---------------------------------===//
#include "Processes.h"

#include "RankLauncher.h"
#include "compile/Compiler.h"
#include "core/Files.h"

#include <csignal>

using namespace iris;
using namespace iris::run;

/// The command line of a rank: this executable, with the package in inherited
/// memory. `dumpFd` is -1 if buffers are not compared.
static ChildSpec commandOf(const Options &options, int packageFd, int resultFd,
                           int dumpFd) {
  ChildSpec spec;
  spec.path = rt::selfPath();
  spec.args = {"--device=" + rt::deviceName(options.device),
               "--result-fd=" + std::to_string(resultFd),
               "--heap=" + std::to_string(options.heapBytes),
               "/proc/self/fd/" + std::to_string(packageFd)};
  if (!options.trace.empty())
    spec.args.push_back("--trace=" + options.trace);
  if (options.traceEvents != 0)
    spec.args.push_back(
        rt::formatString("--trace-events=%u", options.traceEvents));
  if (options.waitLimit)
    spec.args.push_back(
        rt::formatString("--timeout=%.17g", *options.waitLimit));
  if (options.verbose)
    spec.env.push_back("IRIS_LOG=info");
  spec.keep = {packageFd, resultFd};
  if (dumpFd >= 0) {
    spec.args.push_back("--dump-fd=" + std::to_string(dumpFd));
    spec.keep.push_back(dumpFd);
  }
  return spec;
}

/// The error of a rank whose process ended without a report.
static std::string describeEnd(const Options &options, const RankEnd &end) {
  std::string text =
      "its process " + end.how + " before it could report anything";
  bool isMemoryFault = end.signal == SIGSEGV || end.signal == SIGBUS;
  if (isMemoryFault && !options.debug &&
      options.device.kind == rt::DeviceKind::host)
    text += "; --debug names the access, if a rank or an index is out of range";
  return text;
}

rt::Expected<std::vector<RankResult>>
iris::run::runProcesses(Supervisor &supervisor, const Options &options,
                        const std::string &packageBytes,
                        const std::vector<rt::UniqueFd> &dumps) {
  IRISRT_ASSIGN_OR_RETURN(rt::UniqueFd package,
                          rt::makeMemoryFile("iris-package", packageBytes));
  RankLaunch launch;
  launch.numRanks = options.numRanks;
  launch.command = [&](uint32_t rank, int resultFd) {
    return commandOf(options, package.get(), resultFd,
                     dumps.empty() ? -1 : dumps[rank].get());
  };
  launch.stopLimit = stopLimitFor(options.waitLimit);
  IRISRT_ASSIGN_OR_RETURN(std::vector<RankEnd> ends,
                          launchRanks(supervisor, launch));
  std::vector<RankResult> results;
  for (const RankEnd &end : ends) {
    RankResult result = decodeResult(end.result);
    if (!result.reported)
      result.error = describeEnd(options, end);
    else if (!end.succeeded && result.error.empty() && result.failed == 0)
      result.error = "its process " + end.how;
    results.push_back(std::move(result));
  }
  return results;
}
