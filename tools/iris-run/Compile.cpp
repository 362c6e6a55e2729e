// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.cpp - Reads or compiles the program ------------------------===//
#include "Compile.h"

#include "compile/Compiler.h"
#include "core/Deadline.h"
#include "core/Files.h"
#include "iris/ccl/KernelCache.h"
#include "iris/rt/Package.h"

#include <cerrno>
#include <csignal>
#include <unistd.h>

using namespace iris;
using namespace iris::run;
using rt::StatusCode;

/// Runs a child until it ends; after `limit` seconds it is ended.
static rt::Status runToEnd(Supervisor &supervisor, const ChildSpec &spec,
                           const char *what, double limit) {
  rt::Deadline deadline(rt::secondsOf(limit));
  IRISRT_ASSIGN_OR_RETURN(size_t index, supervisor.start(spec));
  while (supervisor.children()[index].running) {
    supervisor.wait({}, std::chrono::milliseconds(deadline.pollMs(1000)));
    if (supervisor.stopSignal() != 0) {
      supervisor.endAll(std::chrono::milliseconds(1000));
      return rt::makeStatus(StatusCode::aborted, "stopped by signal %d",
                            supervisor.stopSignal());
    }
    if (supervisor.children()[index].running && deadline.passed()) {
      supervisor.endAll(std::chrono::milliseconds(500));
      return rt::makeStatus(StatusCode::timeout,
                            "%s ('%s') did not end within %.3g s and was "
                            "killed; a longer limit can be set with "
                            "--compile-limit",
                            what, spec.path.c_str(), limit);
    }
  }
  const Child &child = supervisor.children()[index];
  if (!child.succeeded())
    return rt::makeStatus(StatusCode::invalidArgument, "%s %s", what,
                          child.ending().c_str());
  return {};
}

/// Runs a child and returns its standard output, which is kept in memory: no
/// file needs to be removed, or could be replaced.
static rt::Expected<std::string> outputOf(Supervisor &supervisor,
                                          ChildSpec spec, const char *what,
                                          double limit) {
  IRISRT_ASSIGN_OR_RETURN(rt::UniqueFd output, rt::makeMemoryFile(what, ""));
  spec.outputFd = output.get();
  IRISRT_RETURN_IF_ERROR(runToEnd(supervisor, spec, what, limit));
  return rt::readRegularFile(output.get(), std::string("output of ") + what,
                             rt::Package::maxBytes);
}

/// The kernel cache's limit, unless another one is set.
static double compileLimitOf(const Options &options) {
  return options.compileLimit.value_or(ccl::KernelCacheOptions().compileLimit);
}

/// The device's target name. A child queries it, so that the launcher itself
/// never opens a device.
static rt::Expected<std::string> findTarget(Supervisor &supervisor,
                                            const Options &options) {
  if (options.device.kind == rt::DeviceKind::host)
    return std::string(IRISRT_ARCH_HOST);
  ChildSpec spec;
  spec.leadsGroup = true;
  spec.path = rt::selfPath();
  spec.args = {"--print-target", "--device=" + rt::deviceName(options.device)};
  IRISRT_ASSIGN_OR_RETURN(std::string target,
                          outputOf(supervisor, spec, "the query of the device",
                                   compileLimitOf(options)));
  while (!target.empty() && target.back() == '\n')
    target.pop_back();
  return target;
}

rt::Expected<std::string> iris::run::obtainPackage(Supervisor &supervisor,
                                                   const Options &options) {
  const std::string &program = options.program;
  bool isSource = program.size() > 5 &&
                  program.compare(program.size() - 5, 5, ".mlir") == 0;
  if (!isSource)
    return rt::readRegularFile(program, rt::Package::maxBytes);
  if (::access(program.c_str(), R_OK) != 0)
    return rt::makeErrnoStatus(StatusCode::invalidArgument, errno,
                               "cannot read '%s'", program.c_str());

  rt::Expected<std::string> compiler = rt::findCompiler();
  if (!compiler.ok())
    return compiler.status().withContext("an .mlir program needs the compiler");
  IRISRT_ASSIGN_OR_RETURN(std::string target, findTarget(supervisor, options));
  rt::CompileOptions compile;
  compile.target = target;
  compile.trace = !options.trace.empty();
  compile.debug = options.debug;
  std::vector<std::string> argv =
      rt::compileCommand(*compiler, program, compile);
  ChildSpec spec;
  spec.path = argv[0];
  spec.args.assign(argv.begin() + 1, argv.end());
  spec.deathSignal = SIGTERM;
  spec.leadsGroup = true;
  return outputOf(supervisor, spec, "iris-compile", compileLimitOf(options));
}
