// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedMemory.cpp - Memory that ranks map by a descriptor -----------===//
#include "core/SharedMemory.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace iris::rt;

Expected<UniqueFd> iris::rt::createSharedMemory(const char *name,
                                                uint64_t bytes) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot create shared memory");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    return makeErrnoStatus(StatusCode::outOfMemory, errno,
                           "cannot create %llu bytes of shared memory",
                           static_cast<unsigned long long>(bytes));
  if (::fcntl(fd.get(), F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot seal shared memory");
  return fd;
}

Status iris::rt::checkSharedMemory(int fd, uint64_t bytes) {
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot stat a peer's memory");
  int seals = ::fcntl(fd, F_GET_SEALS);
  if (!S_ISREG(info.st_mode) || seals < 0 || (seals & F_SEAL_SHRINK) == 0 ||
      static_cast<uint64_t>(info.st_size) != bytes)
    return makeStatus(StatusCode::invalidArgument,
                      "a peer's memory is not a sealed file of %llu bytes",
                      static_cast<unsigned long long>(bytes));
  return Status::success();
}
