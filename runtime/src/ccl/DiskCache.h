// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DiskCache.h - Files that can be made again ---------------*- C++ -*-===//
//
// A directory of files named by a key, with a bound on their total size. Many
// ranks and jobs share it, and read and write it without locks: a file appears
// by rename with its full contents and never changes. Locks only keep several
// of them from making the same file at the same time.
#ifndef IRIS_RT_CCL_DISKCACHE_H
#define IRIS_RT_CCL_DISKCACHE_H

#include "core/Deadline.h"
#include "core/FileLock.h"
#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iris::ccl {

class DiskCache {
public:
  /// What the files of a directory are.
  struct Contents {
    /// For messages: "kernel cache", and how a removed file is replaced:
    /// "compiled again".
    const char *name, *remedy;
    /// The end of the files' names, and the maximum size of one.
    const char *suffix;
    uint64_t maxFileBytes;
  };
  static const Contents kernels;

  /// A hash of the strings as 32 hex digits.
  static std::string keyOf(const std::vector<std::string> &parts);

  /// Opens the directory and creates it if it does not exist. It must belong to
  /// this user, with no access for others.
  static rt::Expected<DiskCache> open(const std::string &directory,
                                      uint64_t maxBytes,
                                      const Contents &contents = kernels);

  /// Returns the bytes of an entry and marks it as the most recently used, or
  /// nothing if there is none. Removes an entry that other users can access.
  std::optional<std::string> read(const std::string &key);

  /// Waits until no other thread or process holds the lock of an entry, and
  /// takes it. Takes none after the deadline, and where files cannot be locked:
  /// then the entry may be made twice. The cache must outlive the lock.
  std::optional<rt::FileLock> lock(const std::string &key,
                                   const rt::Deadline &deadline);

  /// Removes an entry and logs the reason.
  void remove(const std::string &key, const std::string &why);

  /// Stores an entry, then removes the least recently used entries until the
  /// rest fits the bound. Never removes the new entry.
  rt::Status write(const std::string &key, const std::string &bytes);

private:
  DiskCache(rt::UniqueFd fd, std::string directory, uint64_t maxBytes,
            const Contents &contents)
      : fd_(std::move(fd)), directory_(std::move(directory)),
        maxBytes_(maxBytes), contents_(&contents) {}
  void shrink(const std::string &keep);

  rt::UniqueFd fd_;
  std::string directory_;
  uint64_t maxBytes_;
  const Contents *contents_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_DISKCACHE_H
