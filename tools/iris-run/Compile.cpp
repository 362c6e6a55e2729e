// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.cpp - Reads or compiles the program ------------------------===//
#include "Compile.h"

#include "compile/Compiler.h"
#include "compile/RunProcess.h"
#include "core/Deadline.h"
#include "core/Files.h"
#include "iris/ccl/KernelCache.h"
#include "iris/rt/Package.h"

#include <cerrno>
#include <sstream>
#include <unistd.h>

using namespace iris;
using namespace iris::run;
using rt::StatusCode;

/// Runs `argv`, called `name` in errors, and returns its standard output, which
/// is kept in memory: no file needs to be removed, or could be replaced.
static rt::Expected<std::string> outputOf(Supervisor &supervisor,
                                          const std::vector<std::string> &argv,
                                          const char *name, double limit) {
  rt::ProcessOptions options{rt::secondsOf(limit)};
  options.name = name;
  options.keepsMessages = false;
  options.isCancelled = [&] {
    supervisor.wait({}, std::chrono::milliseconds(0));
    return supervisor.stopSignal() != 0;
  };
  rt::ProcessOutput output;
  rt::Status status = rt::runProcess(argv, "", output, options);
  if (status.code() == StatusCode::timeout)
    return rt::makeStatus(StatusCode::timeout,
                          "%s; a longer limit can be set with --compile-limit",
                          status.message().c_str());
  IRISRT_RETURN_IF_ERROR(status);
  return std::move(output.standard);
}

/// The kernel cache's limit, unless another one is set.
static double compileLimitOf(const Options &options) {
  return options.compileLimit.value_or(ccl::KernelCacheOptions().compileLimit);
}

/// The device's target. A child queries it, so that the launcher itself never
/// opens a device.
static rt::Expected<rt::DeviceTarget> findTarget(Supervisor &supervisor,
                                                 const Options &options) {
  if (options.device.kind == rt::DeviceKind::host)
    return rt::deviceTarget(options.device, 0); // opens nothing
  IRISRT_ASSIGN_OR_RETURN(
      std::string text,
      outputOf(supervisor,
               {rt::selfPath(), "--print-target",
                "--device=" + rt::deviceName(options.device)},
               "the query of the device", compileLimitOf(options)));
  std::istringstream words(text);
  rt::DeviceTarget target;
  if (!(words >> target.name >> target.translation))
    return rt::makeStatus(StatusCode::internal,
                          "the query of the device printed '%s'; expected a "
                          "target and a translation",
                          text.c_str());
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
  IRISRT_ASSIGN_OR_RETURN(rt::DeviceTarget target,
                          findTarget(supervisor, options));
  rt::CompileOptions compile;
  compile.target = target.name;
  compile.translation = target.translation;
  compile.trace = !options.trace.empty();
  compile.debug = options.debug;
  compile.lineTables = options.lineTables;
  return outputOf(supervisor, rt::compileCommand(*compiler, program, compile),
                  "iris-compile", compileLimitOf(options));
}
