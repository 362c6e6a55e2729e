// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- iris-run.cpp - Runs a self-checking program on several ranks -------===//
#include "ChildProcess.h"
#include "Compile.h"
#include "Options.h"
#include "Processes.h"
#include "Reference.h"
#include "Results.h"
#include "StandardStreams.h"
#include "Worker.h"

#include "iris-c/RuntimeABI.h"
#include "iris/rt/Env.h"
#include "iris/rt/Package.h"
#include "stack/LargeStack.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace iris;
using namespace iris::run;

static constexpr const char *toolName = "iris-run";

static int report(const rt::Status &status, int exitStatus) {
  std::fprintf(stderr, "%s: %s\n", toolName, status.message().c_str());
  return exitStatus;
}

static rt::Status invalid(const std::string &message) {
  return rt::Status(rt::StatusCode::invalidArgument, message);
}

static int printTarget(const Options &options) {
  rt::Expected<rt::DeviceTarget> target = rt::deviceTarget(options.device, 0);
  if (!target.ok())
    return report(target.status(), 1);
  std::printf("%s %s\n", target->name.c_str(), target->translation.c_str());
  return 0;
}

/// Runs all ranks in this process, with default signal handling for debuggers
/// and Ctrl-C.
static int runInThreads(const Options &options, const rt::Package &package,
                        const std::vector<rt::UniqueFd> &dumps) {
  return summarize(options, runThreads(options, package, dumps));
}

/// Whether any kernel of the package checks its accesses.
static bool hasChecks(const rt::Package &package) {
  for (const rt::PackageImage &image : package.images())
    for (const rt::KernelInfo &kernel : image.kernels)
      if (kernel.debug)
        return true;
  return false;
}

/// Runs all ranks on the device. `dumps` has a file for the buffers of each, or
/// is empty.
static int launch(const Options &options,
                  const std::vector<rt::UniqueFd> &dumps) {
  rt::Expected<rt::Package> package =
      rt::Status(rt::StatusCode::internal, "not read yet");
  {
    Supervisor supervisor;
    if (!supervisor.status().ok())
      return report(supervisor.status(), 1);
    rt::Expected<std::string> bytes = obtainPackage(supervisor, options);
    if (supervisor.stopSignal() != 0)
      return 128 + supervisor.stopSignal();
    if (!bytes.ok())
      return report(bytes.status(), 1);
    package = rt::Package::fromBytes(bytes->data(), bytes->size());
    if (!package.ok())
      return report(package.status().withContext(options.program), 1);
    if (!package->findMain())
      return report(invalid(options.program +
                            " has no @main; it contains only kernels; expected "
                            "func.func @main(%ctx: !iris.ctx)"),
                    1);
    if (options.debug && !hasChecks(*package))
      return report(
          invalid("--debug: no kernel of " + options.program +
                  " checks its accesses; compile it with iris-compile --debug, "
                  "and give its kernels an argument of type !iris.ctx"),
          1);
    if (!options.threads) {
      rt::Expected<std::vector<RankResult>> results =
          runProcesses(supervisor, options, *bytes, dumps);
      if (!results.ok())
        return report(results.status(), 1);
      if (supervisor.stopSignal() != 0) {
        std::fprintf(stderr, "iris-run: stopped by signal %d\n",
                     supervisor.stopSignal());
        return 128 + supervisor.stopSignal();
      }
      return summarize(options, *results);
    }
  }
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_UNBLOCK, &all, nullptr);
  return runInThreads(options, *package, dumps);
}

/// Runs all ranks on the device, and then in the interpreter, which compares
/// their buffers, also those of ranks that failed later.
static int compare(const Options &options) {
  rt::Expected<std::vector<rt::UniqueFd>> dumps = prepareDumps(options);
  if (!dumps.ok())
    return report(dumps.status(), 1);
  int exitStatus = finishStandardOutput(toolName, launch(options, *dumps));
  if (exitStatus > 128 || ::lseek(dumps->front().get(), 0, SEEK_CUR) == 0)
    return exitStatus; // stopped, or no rank has come to a sync
  return report(compareWithReference(options, *dumps, exitStatus), 1);
}

static int runTool(int argc, char **argv) {
  rt::Expected<Options> options = parseOptions(argc, argv);
  if (!options.ok())
    return report(options.status(), 1);
  if (options->helpEnv) {
    std::fputs(rt::Env::describe().c_str(), stdout);
    return 0;
  }
  if (options->help) {
    std::fputs(helpText().c_str(), stdout);
    return 0;
  }
  if (options->version) {
    std::printf("iris-run %s (runtime ABI %d.%d)\n", IRIS_VERSION,
                IRISRT_ABI_VERSION_MAJOR, IRISRT_ABI_VERSION_MINOR);
    return 0;
  }
  if (options->printTarget)
    return printTarget(*options);
  if (options->resultFd >= 0)
    return workerMain(*options);
  if (options->reference)
    return report(runReference(*options), 1);
  if (options->verbose)
    ::setenv("IRIS_LOG", "info", /*overwrite=*/1);
  return options->compare ? compare(*options) : launch(*options, {});
}

static int runAndFinish(int argc, char **argv) {
  return finishStandardOutput(toolName, runTool(argc, argv));
}

int main(int argc, char **argv) {
  prepareStandardStreams();
  return iristools::runOnLargeStack(toolName, runAndFinish, argc, argv);
}
