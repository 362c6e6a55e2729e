// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RendezvousDirectory.h - Directory of the rendezvous ------*- C++ -*-===//
//
// The directory in which the ranks of a node find each other. Only its user may
// access it. It is used through a descriptor, so that renaming its parents has
// no effect after the check.
#ifndef IRIS_RT_BOOTSTRAP_RENDEZVOUSDIRECTORY_H
#define IRIS_RT_BOOTSTRAP_RENDEZVOUSDIRECTORY_H

#include "core/FileLock.h"
#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace iris::rt {

class RendezvousDirectory {
public:
  /// Opens the first of `paths` that is, or can be created as, a directory of
  /// this user with mode 0700; `skipped` gets the reasons why earlier ones were
  /// rejected. For one process of a job only: two may choose differently,
  /// because another user may create and remove a name in /tmp at any time.
  /// Tries for `contestLimit` before it fails.
  static Expected<RendezvousDirectory>
  open(const std::vector<std::string> &paths, std::string &skipped);
  /// Opens `path` without creating it; none if there is no such directory.
  static Expected<std::optional<RendezvousDirectory>>
  find(const std::string &path);
  /// The error if all paths are rejected, for these reasons.
  static Status noneIsUsable(const std::string &reasons);
  /// How long every path must be rejected before that is an error: a name that
  /// another user creates and removes becomes free in between.
  static constexpr auto contestLimit = std::chrono::milliseconds(500);

  const std::string &path() const { return path_; }
  /// The path for bind and connect of the job's socket; short, whatever the
  /// length of the directory's path.
  std::string socketPath(const std::string &job) const;
  void removeSocket(const std::string &job) const;
  /// Locks a job's name; none if another process holds the lock. Its holder
  /// owns the socket of that name.
  Expected<std::optional<FileLock>> tryLock(const std::string &job) const;

  /// Removes the files of jobs that have no process left.
  void sweep() const;

private:
  RendezvousDirectory(UniqueFd fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)) {}
  Expected<std::optional<FileLock>> tryLockFile(const std::string &name) const;

  UniqueFd fd_;
  std::string path_;
};

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_RENDEZVOUSDIRECTORY_H
