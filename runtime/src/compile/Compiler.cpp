// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compiler.cpp - iris-compile as a child process ---------------------===//
#include "compile/Compiler.h"

#include "compile/RunProcess.h"
#include "core/Files.h"
#include "iris/rt/Env.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <climits>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Location
//===----------------------------------------------------------------------===//

std::string iris::rt::selfPath() {
  char buffer[PATH_MAX];
  ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof(buffer));
  return length > 0 ? std::string(buffer, static_cast<size_t>(length)) : "";
}

/// The directory of a path, with the trailing slash.
static std::string directoryOf(const std::string &path) {
  return path.substr(0, path.rfind('/') + 1);
}

/// The directory of the library or executable that contains this function.
static std::string libraryDirectory() {
  Dl_info info;
  char resolved[PATH_MAX];
  if (!::dladdr(reinterpret_cast<void *>(&libraryDirectory), &info) ||
      !info.dli_fname || !::realpath(info.dli_fname, resolved))
    return "";
  return directoryOf(resolved);
}

bool iris::rt::isProgram(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string iris::rt::findTool(const std::string &name) {
  std::string self = directoryOf(selfPath()), library = libraryDirectory();
  std::vector<std::string> candidates;
  if (!self.empty())
    candidates.push_back(self + name);
  if (!library.empty()) // lib, and lib/<architecture>
    for (const char *up : {"", "../bin/", "../../bin/"})
      candidates.push_back(library + up + name);
  const std::string &path = Env::get().searchPath();
  for (size_t at = 0; at < path.size();) {
    size_t end = std::min(path.find(':', at), path.size());
    if (path[at] == '/') // others depend on the current directory
      candidates.push_back(path.substr(at, end - at) + "/" + name);
    at = end + 1;
  }
  for (const std::string &candidate : candidates)
    if (isProgram(candidate))
      return candidate;
  return "";
}

Expected<std::string> iris::rt::findCompiler(const std::string &configured) {
  const std::string &named =
      configured.empty() ? Env::get().compiler() : configured;
  if (!named.empty()) {
    if (isProgram(named))
      return named;
    return makeStatus(
        StatusCode::unavailable, "the compiler '%s' cannot be run (set by %s)",
        named.c_str(), configured.empty() ? "IRIS_COMPILE" : "an option");
  }
  std::string found = findTool("iris-compile");
  if (!found.empty())
    return found;
  return makeStatus(StatusCode::unavailable,
                    "the compiler, iris-compile, is neither next to this "
                    "program ('%s') nor next to the runtime nor on PATH (set "
                    "IRIS_COMPILE, or use a package compiled ahead of time)",
                    directoryOf(selfPath()).c_str());
}

//===----------------------------------------------------------------------===//
// Build id
//===----------------------------------------------------------------------===//

static Expected<std::string> hashFile(int fd, const std::string &path) {
  XXH3_state_t *state = XXH3_createState();
  if (!state)
    return makeStatus(StatusCode::outOfMemory, "no memory for a hash");
  XXH3_128bits_reset(state);
  Status status;
  std::vector<char> buffer(1 << 20);
  while (true) {
    ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got == 0)
      break;
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      status = makeErrnoStatus(StatusCode::unavailable, errno,
                               "cannot read '%s'", path.c_str());
      break;
    }
    XXH3_128bits_update(state, buffer.data(), static_cast<size_t>(got));
  }
  XXH128_hash_t hash = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  if (!status.ok())
    return status;
  return formatString("%016llx%016llx",
                      static_cast<unsigned long long>(hash.high64),
                      static_cast<unsigned long long>(hash.low64));
}

// The version that iris-compile prints does not change with every change of its
// code generation. The size, time and inode of the file would identify a build
// on one machine, but differ between copies of it (a container image unpacked
// twice) that may share a cache. So the id is a hash of the contents; the
// file's identity only decides whether to read it again. LLVM's shared
// libraries are not hashed: a release that changes code generation requires a
// new Iris.
Expected<std::string> iris::rt::compilerBuildId(const std::string &compiler) {
  using Identity = std::tuple<dev_t, ino_t, off_t, time_t, long>;
  static std::mutex mutex;
  static std::map<std::string, std::pair<Identity, std::string>> known;

  UniqueFd fd(::open(compiler.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0)
    return makeErrnoStatus(StatusCode::unavailable, errno, "cannot read '%s'",
                           compiler.c_str());
  Identity identity(info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                    info.st_mtim.tv_nsec);
  std::lock_guard<std::mutex> lock(mutex);
  auto found = known.find(compiler);
  if (found != known.end() && found->second.first == identity)
    return found->second.second;
  IRISRT_ASSIGN_OR_RETURN(std::string id, hashFile(fd.get(), compiler));
  known[compiler] = {identity, id};
  return id;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

std::vector<std::string>
iris::rt::compileCommand(const std::string &compiler, const std::string &source,
                         const CompileOptions &options) {
  std::vector<std::string> argv = {
      compiler,         source, "--target=" + options.target,
      "--emit=package", "-o",   "-"};
  if (!options.translation.empty())
    argv.push_back("--translation=" + options.translation);
  if (options.trace)
    argv.push_back("--trace");
  if (options.debug)
    argv.push_back("--debug");
  if (!options.lineTables)
    argv.push_back("-g0");
  return argv;
}

/// The messages of iris-compile about a text on standard input. Callers know
/// the request, not its text: neither where it is nor the op in it.
static std::string describeMessages(std::string messages) {
  const std::string input = "<stdin>", request = "request";
  for (size_t at = messages.find(input); at != std::string::npos;
       at = messages.find(input))
    messages.replace(at, input.size(), request);
  const std::string start = request + ":1:1: error: '", end = "' op ";
  for (size_t at = messages.find(start); at != std::string::npos;
       at = messages.find(start, at + 1)) {
    size_t name = at + start.size(), after = messages.find('\'', name);
    if (after != std::string::npos &&
        messages.compare(after, end.size(), end) == 0)
      messages.erase(at, after + end.size() - at);
  }
  while (!messages.empty() && messages.back() == '\n')
    messages.pop_back();
  return messages;
}

Expected<std::string> iris::rt::compileText(const std::string &compiler,
                                            const std::string &text,
                                            const CompileOptions &options,
                                            std::chrono::milliseconds limit) {
  ProcessOutput output;
  Status status =
      runProcess(compileCommand(compiler, "-", options), text, output, {limit});
  if (status.ok())
    return output.standard;
  std::string messages = describeMessages(output.messages);
  return messages.empty()
             ? status
             : Status(status.code(), status.message() + ": " + messages);
}
