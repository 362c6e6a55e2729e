// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FileLock.cpp - Locks with a name in a directory --------------------===//
#include "core/FileLock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace iris::rt;

FileLock::~FileLock() {
  // Unlink before the lock is released, so that no process locks a file that is
  // about to be removed.
  if (fd_.valid())
    ::unlinkat(directory_, name_.c_str(), 0);
}

Expected<std::optional<FileLock>> FileLock::tryLock(int directory,
                                                    const std::string &path,
                                                    const std::string &name) {
  UniqueFd fd(::openat(directory, name.c_str(),
                       O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot open '%s/%s'", path.c_str(), name.c_str());
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR)
      return std::optional<FileLock>();
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot lock '%s/%s'", path.c_str(), name.c_str());
  }
  // Its last owner may have removed the file between open and flock.
  struct stat ours, named;
  if (::fstat(fd.get(), &ours) != 0 ||
      ::fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 ||
      ours.st_ino != named.st_ino || ours.st_dev != named.st_dev)
    return std::optional<FileLock>();
  FileLock lock;
  lock.fd_ = std::move(fd);
  lock.directory_ = directory;
  lock.name_ = name;
  return std::optional<FileLock>(std::move(lock));
}
