// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The directory in which the ranks of a node meet.  Only its user may enter it,
// and it is used through a descriptor: what was checked is what is used, also
// when somebody renames what lies above it.
#ifndef IRIS_RT_BOOTSTRAP_RENDEZVOUSDIRECTORY_H
#define IRIS_RT_BOOTSTRAP_RENDEZVOUSDIRECTORY_H

#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <optional>
#include <string>
#include <vector>

namespace iris::rt {

/// The lock of one job's name; whoever holds it owns the socket of that name.
/// Its file is removed with it.
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
  /// this user with mode 0700.  Who comes to the same conclusion on every rank
  /// meets; `skipped` says why earlier ones were not taken.
  static Expected<RendezvousDirectory>
  open(const std::vector<std::string> &paths, std::string &skipped);

  const std::string &path() const { return path_; }
  /// What bind and connect take for the job's socket: short, however long the
  /// directory's path is.
  std::string socketPath(const std::string &job) const;
  void removeSocket(const std::string &job) const;
  /// The lock of a job's name, or nothing when somebody else has it.
  Expected<std::optional<NameLock>> tryLock(const std::string &job) const;

  /// Removes what jobs left behind of which no process waits here any more.
  void sweep() const;

private:
  Expected<std::optional<NameLock>> tryLockFile(const std::string &name) const;

  UniqueFd fd_;
  std::string path_;
};

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_RENDEZVOUSDIRECTORY_H
