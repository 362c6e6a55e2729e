// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/Files.h"

#include "iris/rt/Env.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>

using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Expected<std::string> iris::rt::readRegularFile(const std::string &path,
                                                uint64_t most) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::invalidArgument, errno,
                           "cannot read '%s'", path.c_str());
  return readRegularFile(fd.get(), path, most);
}

Expected<std::string> iris::rt::readRegularFile(int fd, const std::string &name,
                                                uint64_t most) {
  struct stat info;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    return makeStatus(StatusCode::invalidArgument, "'%s' is not a regular file",
                      name.c_str());
  Status tooLarge =
      makeStatus(StatusCode::invalidArgument,
                 "'%s' is too large; expected at most %llu "
                 "bytes",
                 name.c_str(), static_cast<unsigned long long>(most));
  if (static_cast<uint64_t>(info.st_size) > most)
    return tooLarge;
  std::string bytes;
  bytes.reserve(static_cast<size_t>(info.st_size));
  char buffer[65536];
  while (true) {
    ssize_t got = ::read(fd, buffer, sizeof(buffer));
    if (got == 0)
      return bytes;
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return makeErrnoStatus(StatusCode::invalidArgument, errno,
                             "cannot read '%s'", name.c_str());
    bytes.append(buffer, static_cast<size_t>(got));
    if (bytes.size() > most)
      return tooLarge;
  }
}

Status iris::rt::writeAll(int fd, std::string_view bytes,
                          const std::string &name) {
  while (!bytes.empty()) {
    ssize_t step = ::write(fd, bytes.data(), bytes.size());
    if (step < 0 && errno == EINTR)
      continue;
    if (step <= 0)
      return makeErrnoStatus(StatusCode::unavailable, errno,
                             "cannot write '%s'", name.c_str());
    bytes.remove_prefix(static_cast<size_t>(step));
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Directories
//===----------------------------------------------------------------------===//

Expected<UniqueFd> iris::rt::openPrivateDirectory(const std::string &path,
                                                  const char *what) {
  for (size_t at = path.find('/', 1); at != std::string::npos;
       at = path.find('/', at + 1))
    ::mkdir(path.substr(0, at).c_str(), 0700); // a failure shows below
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot create the %s directory '%s'", what,
                           path.c_str());
  // What is checked is what is used afterwards: the name may change hands.
  // O_NOFOLLOW: a link planted by somebody else must not lead us elsewhere.
  UniqueFd fd(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::failedPrecondition, errno,
                           "cannot open the %s directory '%s'", what,
                           path.c_str());
  struct stat info;
  if (::fstat(fd.get(), &info) != 0)
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot look at the %s directory '%s'", what,
                           path.c_str());
  if (info.st_uid != ::geteuid() || (info.st_mode & 077) != 0)
    return makeStatus(StatusCode::failedPrecondition,
                      "the %s directory '%s' must belong to user %u with mode "
                      "0700; it belongs to user %u with mode %04o",
                      what, path.c_str(), ::geteuid(), info.st_uid,
                      info.st_mode & 07777);
  return fd;
}

TempDirectory::~TempDirectory() {
  if (path_.empty())
    return;
  for (const std::string &file : files_)
    ::unlink(file.c_str());
  ::rmdir(path_.c_str());
}

Status TempDirectory::create(const char *prefix) {
  std::string pattern = Env::get().tempDir() + "/" + prefix + "-XXXXXX";
  if (!::mkdtemp(pattern.data())) // mode 0700
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot create a directory in '%s'",
                           Env::get().tempDir().c_str());
  path_ = pattern;
  return Status::success();
}

std::string TempDirectory::file(const char *name) {
  files_.push_back(path_ + "/" + name);
  return files_.back();
}
