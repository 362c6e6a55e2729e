// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Files.cpp - Files and private directories --------------------------===//
#include "core/Files.h"

#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

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
  std::vector<char> buffer(64 << 10); // the stack may be as small
  while (true) {
    // pread, because other users of the descriptor move its file offset.
    ssize_t got = ::pread(fd, buffer.data(), buffer.size(),
                          static_cast<off_t>(bytes.size()));
    if (got == 0)
      return bytes;
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return makeErrnoStatus(StatusCode::invalidArgument, errno,
                             "cannot read '%s'", name.c_str());
    bytes.append(buffer.data(), static_cast<size_t>(got));
    if (bytes.size() > most)
      return tooLarge;
  }
}

Expected<std::string> iris::rt::readOwnFile(const std::string &path,
                                            const char *what, uint64_t most) {
  UniqueFd fd(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::invalidArgument, errno,
                           "cannot read %s '%s'", what, path.c_str());
  struct stat info;
  if (::fstat(fd.get(), &info) != 0 || info.st_uid != ::geteuid() ||
      (info.st_mode & 077) != 0)
    return makeStatus(StatusCode::failedPrecondition,
                      "%s '%s' must be a file of user %u with mode 0600; it "
                      "belongs to user %u with mode %04o",
                      what, path.c_str(), ::geteuid(), info.st_uid,
                      info.st_mode & 07777);
  return readRegularFile(fd.get(), path, most);
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

Expected<UniqueFd> iris::rt::makeMemoryFile(const char *name,
                                            std::string_view bytes) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot create an in-memory file for '%s'", name);
  IRISRT_RETURN_IF_ERROR(writeAll(fd.get(), bytes, name));
  if (::lseek(fd.get(), 0, SEEK_SET) != 0)
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot seek to the start of '%s'", name);
  return fd;
}

//===----------------------------------------------------------------------===//
// Directories
//===----------------------------------------------------------------------===//

Expected<UniqueFd> iris::rt::openPrivateDirectory(const std::string &path,
                                                  const char *what) {
  for (size_t at = path.find('/', 1); at != std::string::npos;
       at = path.find('/', at + 1))
    ::mkdir(path.substr(0, at).c_str(),
            0700); // the last mkdir reports a failure
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot create the %s directory '%s'", what,
                           path.c_str());
  IRISRT_ASSIGN_OR_RETURN(std::optional<UniqueFd> fd,
                          findPrivateDirectory(path, what));
  if (!fd)
    return makeStatus(StatusCode::unavailable,
                      "the %s directory '%s' was removed by another process "
                      "before it could be opened",
                      what, path.c_str());
  return std::move(*fd);
}

Expected<std::optional<UniqueFd>>
iris::rt::findPrivateDirectory(const std::string &path, const char *what) {
  // Check and use the same descriptor, because the name may be replaced.
  // O_NOFOLLOW: another user may have planted a link.
  UniqueFd fd(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT)
    return std::optional<UniqueFd>();
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::failedPrecondition, errno,
                           "cannot open the %s directory '%s'", what,
                           path.c_str());
  struct stat info;
  if (::fstat(fd.get(), &info) != 0)
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot stat the %s directory '%s'", what,
                           path.c_str());
  if (info.st_uid != ::geteuid() || (info.st_mode & 077) != 0)
    return makeStatus(StatusCode::failedPrecondition,
                      "the %s directory '%s' must belong to user %u with mode "
                      "0700; it belongs to user %u with mode %04o",
                      what, path.c_str(), ::geteuid(), info.st_uid,
                      info.st_mode & 07777);
  return std::optional<UniqueFd>(std::move(fd));
}

Status iris::rt::checkTrusted(int fd, const std::string &name, uint32_t owner) {
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return makeErrnoStatus(StatusCode::internal, errno, "cannot stat '%s'",
                           name.c_str());
  const bool isTrusted =
      info.st_uid == 0 || info.st_uid == ::geteuid() || info.st_uid == owner;
  if (isTrusted && (info.st_mode & 022) == 0)
    return Status::success();
  return makeStatus(StatusCode::failedPrecondition,
                    "other users can write to '%s': it belongs to user %u with "
                    "mode %04o; expected user %u or root, and no write "
                    "permission of group or others (chmod go-w)",
                    name.c_str(), info.st_uid, info.st_mode & 07777, owner);
}

std::vector<std::string> iris::rt::listDirectory(int fd) {
  std::vector<std::string> names;
  // A separate descriptor: threads share the directory offset of `fd`.
  UniqueFd copy(::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR *dir = copy.valid() ? ::fdopendir(copy.get()) : nullptr;
  if (!dir)
    return names;
  (void)copy.release(); // closedir closes it
  while (dirent *entry = ::readdir(dir))
    names.push_back(entry->d_name);
  ::closedir(dir);
  return names;
}

Status iris::rt::replaceOwnFile(const std::string &path,
                                const std::string &bytes) {
  std::string temporary = formatString("%s.%d.part", path.c_str(), ::getpid());
  UniqueFd fd(::open(temporary.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     0600));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::invalidArgument, errno,
                           "cannot write '%s'", temporary.c_str());
  Status status = writeAll(fd.get(), bytes, temporary);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = makeErrnoStatus(StatusCode::invalidArgument, errno,
                             "cannot rename '%s' to '%s'", temporary.c_str(),
                             path.c_str());
  if (!status.ok())
    ::unlink(temporary.c_str());
  return status;
}
