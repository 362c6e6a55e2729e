// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Compile.h"

#include "iris/rt/Env.h"
#include "iris/rt/Package.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace iris;
using namespace iris::run;
using rt::StatusCode;

std::string iris::run::selfPath() {
  char buffer[PATH_MAX];
  ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof(buffer));
  return length > 0 ? std::string(buffer, static_cast<size_t>(length)) : "";
}

namespace {
/// A directory that only we may enter, removed with its one file.
class PrivateDirectory {
public:
  PrivateDirectory() = default;
  PrivateDirectory(const PrivateDirectory &) = delete;
  ~PrivateDirectory() {
    if (path_.empty())
      return;
    ::unlink(file().c_str());
    ::rmdir(path_.c_str());
  }

  rt::Status create() {
    std::string pattern = rt::Env::get().tempDir() + "/iris-run-XXXXXX";
    if (!::mkdtemp(pattern.data())) // mode 0700
      return rt::makeErrnoStatus(StatusCode::unavailable, errno,
                                 "cannot create a directory in '%s'",
                                 rt::Env::get().tempDir().c_str());
    path_ = pattern;
    return {};
  }
  std::string file() const { return path_ + "/program.pkg"; }

private:
  std::string path_;
};
} // namespace

static rt::Expected<std::string> readFile(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return rt::makeErrnoStatus(StatusCode::invalidArgument, errno,
                               "cannot read '%s'", path.c_str());
  struct stat info;
  std::string bytes;
  rt::Status status;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    status = rt::makeStatus(StatusCode::invalidArgument,
                            "'%s' is not a regular file", path.c_str());
  else if (static_cast<uint64_t>(info.st_size) > rt::Package::maxBytes)
    status = rt::makeStatus(StatusCode::invalidArgument,
                            "'%s' is too large for a package", path.c_str());
  char buffer[65536];
  while (status.ok()) {
    ssize_t got = ::read(fd, buffer, sizeof(buffer));
    if (got == 0)
      break;
    if (got < 0 && errno != EINTR)
      status = rt::makeErrnoStatus(StatusCode::invalidArgument, errno,
                                   "cannot read '%s'", path.c_str());
    else if (got > 0)
      bytes.append(buffer, static_cast<size_t>(got));
    if (bytes.size() > rt::Package::maxBytes)
      status = rt::makeStatus(StatusCode::invalidArgument,
                              "'%s' is too large for a package", path.c_str());
  }
  ::close(fd);
  if (!status.ok())
    return status;
  return bytes;
}

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
  spec.path = selfPath();
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

static rt::Expected<std::string> findCompiler() {
  std::string path = rt::Env::get().compiler();
  if (path.empty()) {
    std::string self = selfPath();
    path = self.substr(0, self.rfind('/') + 1) + "iris-compile";
  }
  if (::access(path.c_str(), X_OK) != 0)
    return rt::makeErrnoStatus(
        StatusCode::unavailable, errno,
        "an .mlir program needs the compiler, but '%s' cannot be run (set "
        "IRIS_COMPILE, or run a package)",
        path.c_str());
  return path;
}

rt::Expected<std::string> iris::run::obtainPackage(Supervisor &supervisor,
                                                   const Options &options) {
  const std::string &program = options.program;
  bool isSource = program.size() > 5 &&
                  program.compare(program.size() - 5, 5, ".mlir") == 0;
  if (!isSource)
    return readFile(program);
  if (::access(program.c_str(), R_OK) != 0)
    return rt::makeErrnoStatus(StatusCode::invalidArgument, errno,
                               "cannot read '%s'", program.c_str());

  ChildSpec spec;
  IRISRT_ASSIGN_OR_RETURN(spec.path, findCompiler());
  IRISRT_ASSIGN_OR_RETURN(std::string target, findTarget(supervisor, options));
  PrivateDirectory directory;
  IRISRT_RETURN_IF_ERROR(directory.create());
  spec.args = {program, "--target=" + target, "--emit=package", "-o",
               directory.file()};
  IRISRT_RETURN_IF_ERROR(runToEnd(supervisor, spec, "iris-compile"));
  return readFile(directory.file());
}
