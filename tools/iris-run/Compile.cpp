// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Compile.h"

#include "compile/Compiler.h"
#include "core/Files.h"
#include "iris/rt/Package.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace iris;
using namespace iris::run;
using rt::StatusCode;

/// Runs a child to its end.
static rt::Status runToEnd(Supervisor &supervisor, const ChildSpec &spec,
                           const char *what) {
  IRISRT_ASSIGN_OR_RETURN(size_t index, supervisor.start(spec));
  while (supervisor.children()[index].running) {
    supervisor.wait({}, std::chrono::milliseconds(1000));
    if (supervisor.stopSignal() != 0) {
      supervisor.endAll(std::chrono::milliseconds(1000));
      return rt::makeStatus(StatusCode::aborted, "stopped by signal %d",
                            supervisor.stopSignal());
    }
  }
  const Child &child = supervisor.children()[index];
  if (!child.succeeded())
    return rt::makeStatus(StatusCode::invalidArgument, "%s %s", what,
                          child.ending().c_str());
  return {};
}

/// The device's target name, asked in a child, so that the launcher itself
/// never opens a device.
static rt::Expected<std::string> findTarget(Supervisor &supervisor,
                                            const Options &options) {
  if (options.device == rt::DeviceKind::host)
    return std::string(IRISRT_ARCH_HOST);
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    return rt::makeErrnoStatus(StatusCode::internal, errno,
                               "cannot create a pipe");
  ChildSpec spec;
  spec.path = rt::selfPath();
  spec.args = {"--print-target",
               "--device=" + std::string(rt::deviceKindName(options.device))};
  spec.outputFd = fds[1];
  rt::Status status = runToEnd(supervisor, spec, "the look for a device");
  ::close(fds[1]);
  char buffer[128];
  ssize_t got = ::read(fds[0], buffer, sizeof(buffer));
  ::close(fds[0]);
  IRISRT_RETURN_IF_ERROR(status);
  std::string target(buffer, got > 0 ? static_cast<size_t>(got) : 0);
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
  return rt::compileFile(*compiler, program, compile,
                         [&](const std::vector<std::string> &argv) {
                           ChildSpec spec;
                           spec.path = argv[0];
                           spec.args.assign(argv.begin() + 1, argv.end());
                           return runToEnd(supervisor, spec, "iris-compile");
                         });
}
