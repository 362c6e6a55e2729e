// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DiskCache.cpp - Files that can be made again -----------------------===//
#include "ccl/DiskCache.h"

#include "core/Files.h"
#include "core/Log.h"
#include "iris/rt/Package.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace iris::ccl;
using namespace iris::rt;

const DiskCache::Contents DiskCache::kernels = {
    "kernel cache", "compiled again", ".iris", Package::maxBytes};

static const char temporarySuffix[] = ".part";
static const char entryLockSuffix[] = ".lock";
/// Older temporary files and locks were left by a killed process.
static constexpr time_t abandonedSeconds = 3600;
/// The time between two attempts to take a lock.
static constexpr auto lockInterval = std::chrono::milliseconds(10);

static bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

/// XXH3-128 over each string and its length.
std::string DiskCache::keyOf(const std::vector<std::string> &parts) {
  std::string bytes;
  for (const std::string &part : parts) {
    uint64_t size = part.size();
    bytes.append(reinterpret_cast<const char *>(&size), sizeof(size));
    bytes += part;
  }
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return formatString("%016llx%016llx",
                      static_cast<unsigned long long>(hash.high64),
                      static_cast<unsigned long long>(hash.low64));
}

Expected<DiskCache> DiskCache::open(const std::string &directory,
                                    uint64_t maxBytes,
                                    const Contents &contents) {
  IRISRT_ASSIGN_OR_RETURN(UniqueFd fd,
                          openPrivateDirectory(directory, contents.name));
  return DiskCache(std::move(fd), directory, maxBytes, contents);
}

std::optional<FileLock> DiskCache::lock(const std::string &key,
                                        const Deadline &deadline) {
  for (;;) {
    auto lock = FileLock::tryLock(fd_.get(), directory_, key + entryLockSuffix);
    if (!lock.ok()) {
      Log().info("%s: %s", contents_->name, lock.status().message().c_str());
      return std::nullopt;
    }
    if (lock->has_value() || deadline.passed())
      return lock.take();
    std::this_thread::sleep_for(lockInterval);
  }
}

void DiskCache::remove(const std::string &key, const std::string &why) {
  Log().warning("%s: %s/%s%s is removed and will be %s: %s", contents_->name,
                directory_.c_str(), key.c_str(), contents_->suffix,
                contents_->remedy, why.c_str());
  ::unlinkat(fd_.get(), (key + contents_->suffix).c_str(), 0);
}

std::optional<std::string> DiskCache::read(const std::string &key) {
  std::string name = key + contents_->suffix;
  UniqueFd fd(::openat(fd_.get(), name.c_str(),
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno != ENOENT)
      remove(key, "it cannot be opened");
    return std::nullopt;
  }
  struct stat info;
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_uid != ::geteuid() || (info.st_mode & 077) != 0) {
    remove(key, formatString("it should be a file of user %u with mode 0600, "
                             "but is one of user %u with mode %04o",
                             ::geteuid(), info.st_uid, info.st_mode & 07777));
    return std::nullopt;
  }
  Expected<std::string> bytes =
      readRegularFile(fd.get(), name, contents_->maxFileBytes);
  if (!bytes.ok()) {
    remove(key, bytes.status().message());
    return std::nullopt;
  }
  ::futimens(fd.get(),
             nullptr); // marks the entry as recently used; see shrink()
  return bytes.take();
}

Status DiskCache::write(const std::string &key, const std::string &bytes) {
  static std::atomic<unsigned> counter{0};
  std::string name = key + contents_->suffix;
  std::string temporary = formatString("%s-%d-%u%s", key.c_str(), ::getpid(),
                                       counter++, temporarySuffix);
  // A process in another container may have the same process id and so the same
  // file name. The second one then keeps its kernel in memory only.
  UniqueFd fd(::openat(fd_.get(), temporary.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       0600));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot create a file in '%s'", directory_.c_str());
  // No fsync: a file that a system crash truncates fails the hash check and is
  // compiled again.
  Status status = writeAll(fd.get(), bytes, directory_ + "/" + temporary);
  if (status.ok() &&
      ::renameat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str()) != 0)
    status = makeErrnoStatus(StatusCode::unavailable, errno,
                             "cannot rename '%s' in '%s'", temporary.c_str(),
                             directory_.c_str());
  if (!status.ok()) {
    ::unlinkat(fd_.get(), temporary.c_str(), 0);
    return status;
  }
  shrink(name);
  return Status::success();
}

void DiskCache::shrink(const std::string &keep) {
  struct Entry {
    std::string name;
    uint64_t bytes;
    timespec used;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  time_t now = ::time(nullptr);
  for (const std::string &name : listDirectory(fd_.get())) {
    bool temporary =
        endsWith(name, temporarySuffix) || endsWith(name, entryLockSuffix);
    struct stat info;
    if ((!temporary && !endsWith(name, contents_->suffix)) ||
        ::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (temporary) {
      if (info.st_mtim.tv_sec + abandonedSeconds < now)
        ::unlinkat(fd_.get(), name.c_str(), 0);
      continue;
    }
    total += static_cast<uint64_t>(info.st_size);
    if (name != keep)
      entries.push_back(
          {name, static_cast<uint64_t>(info.st_size), info.st_mtim});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec
                                          : a.used.tv_nsec < b.used.tv_nsec;
  });
  // A process that is reading a removed file keeps it: its descriptor is open.
  for (const Entry &entry : entries) {
    if (total <= maxBytes_)
      break;
    ::unlinkat(fd_.get(), entry.name.c_str(), 0);
    total -= entry.bytes;
  }
}
