// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RendezvousDirectory.h - Directory of the rendezvous ------*- C++ -*-===//
//
// The directory in which the ranks of a node find each other. Only its user may
// access it. It is used through a descriptor, so that renaming its parents has
// no effect after the check.
#ifndef IRIS_RT_BOOTSTRAP_RENDEZVOUSDIRECTORY_H
#define IRIS_RT_BOOTSTRAP_RENDEZVOUSDIRECTORY_H

#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <optional>
#include <string>
#include <vector>

namespace iris::rt {

/// The lock of a job's name; its holder owns the socket of that name. Removes
/// its file when it is released.
class NameLock {
public:
  NameLock() = default;
  NameLock(NameLock &&) = default;
  NameLock &operator=(NameLock &&) = default;
  ~NameLock();

private:
  friend class RendezvousDirectory;
  UniqueFd fd_;
  /// The directory's descriptor, which outlives the lock.
  int directory_ = -1;
  std::string name_;
};

class RendezvousDirectory {
public:
  /// Opens the first of `paths` that is, or can be created as, a directory of
  /// this user with mode 0700. Ranks find each other if they choose the same
  /// one; `skipped` gets the reasons why earlier ones were rejected.
  static Expected<RendezvousDirectory>
  open(const std::vector<std::string> &paths, std::string &skipped);

  const std::string &path() const { return path_; }
  /// The path for bind and connect of the job's socket; short, whatever the
  /// length of the directory's path.
  std::string socketPath(const std::string &job) const;
  void removeSocket(const std::string &job) const;
  /// Locks a job's name; none if another process holds the lock.
  Expected<std::optional<NameLock>> tryLock(const std::string &job) const;

  /// Removes the files of jobs that have no process left.
  void sweep() const;

private:
  Expected<std::optional<NameLock>> tryLockFile(const std::string &name) const;

  UniqueFd fd_;
  std::string path_;
};

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_RENDEZVOUSDIRECTORY_H
