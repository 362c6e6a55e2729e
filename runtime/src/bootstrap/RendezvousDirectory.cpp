// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RendezvousDirectory.cpp - Directory of the rendezvous --------------===//
#include "bootstrap/RendezvousDirectory.h"

#include "core/Deadline.h"
#include "core/Files.h"

#include <thread>
#include <unistd.h>

using namespace iris::rt;

/// Of the directory, in messages.
static const char purpose[] = "rendezvous";
static const char lockSuffix[] = ".lock";
static const char socketSuffix[] = ".sock";
/// The number of hex digits of a job's hash in a file name.
static constexpr size_t hashDigits = 16;

static std::string fileName(const std::string &job, const char *suffix) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char c : job)
    hash = (hash ^ c) * 0x100000001b3ull;
  return formatString("%016llx%s", static_cast<unsigned long long>(hash),
                      suffix);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Ranks may have different working directories.
static Status checkAbsolute(const std::string &path) {
  if (!path.empty() && path[0] == '/')
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "the rendezvous directory '%s' is relative; expected an "
                    "absolute path",
                    path.c_str());
}

Status RendezvousDirectory::noneIsUsable(const std::string &reasons) {
  return makeStatus(StatusCode::failedPrecondition,
                    "there is no usable rendezvous directory: %s; set "
                    "IRIS_RENDEZVOUS_DIR, on every rank, to the absolute path "
                    "of a directory with mode 0700 that belongs to this user, "
                    "or that can be created",
                    reasons.c_str());
}

Expected<std::optional<RendezvousDirectory>>
RendezvousDirectory::find(const std::string &path) {
  IRISRT_RETURN_IF_ERROR(checkAbsolute(path));
  IRISRT_ASSIGN_OR_RETURN(std::optional<UniqueFd> fd,
                          findPrivateDirectory(path, purpose));
  if (!fd)
    return std::optional<RendezvousDirectory>();
  return std::optional<RendezvousDirectory>(
      RendezvousDirectory(std::move(*fd), path));
}

Expected<RendezvousDirectory>
RendezvousDirectory::open(const std::vector<std::string> &paths,
                          std::string &skipped) {
  Deadline deadline(contestLimit);
  while (true) {
    skipped.clear();
    bool mayBecomeUsable = false;
    for (const std::string &path : paths) {
      Status status = checkAbsolute(path);
      if (status.ok()) {
        Expected<UniqueFd> fd = openPrivateDirectory(path, purpose);
        if (fd.ok())
          return RendezvousDirectory(std::move(*fd), path);
        status = fd.status();
        mayBecomeUsable = true;
      }
      skipped += (skipped.empty() ? "" : "; ") + status.message();
    }
    if (!mayBecomeUsable || deadline.passed())
      return noneIsUsable(skipped);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string RendezvousDirectory::socketPath(const std::string &job) const {
  return "/proc/self/fd/" + std::to_string(fd_.get()) + "/" +
         fileName(job, socketSuffix);
}

void RendezvousDirectory::removeSocket(const std::string &job) const {
  ::unlinkat(fd_.get(), fileName(job, socketSuffix).c_str(), 0);
}

//===----------------------------------------------------------------------===//
// Locks
//===----------------------------------------------------------------------===//

Expected<std::optional<FileLock>>
RendezvousDirectory::tryLock(const std::string &job) const {
  return tryLockFile(fileName(job, lockSuffix));
}

Expected<std::optional<FileLock>>
RendezvousDirectory::tryLockFile(const std::string &name) const {
  return FileLock::tryLock(fd_.get(), path_, name);
}

//===----------------------------------------------------------------------===//
// Files of ended jobs
//===----------------------------------------------------------------------===//

void RendezvousDirectory::sweep() const {
  std::vector<std::string> bases;
  for (const std::string &name : listDirectory(fd_.get()))
    if (name.rfind('.') == hashDigits &&
        (name.substr(hashDigits) == lockSuffix ||
         name.substr(hashDigits) == socketSuffix))
      bases.push_back(name.substr(0, hashDigits));
  for (const std::string &base : bases) {
    Expected<std::optional<FileLock>> lock = tryLockFile(base + lockSuffix);
    if (lock.ok() && lock->has_value())
      ::unlinkat(fd_.get(), (base + socketSuffix).c_str(), 0);
  }
}
