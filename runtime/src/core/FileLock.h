// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FileLock.h - Locks with a name in a directory ------------*- C++ -*-===//
#ifndef IRIS_RT_CORE_FILELOCK_H
#define IRIS_RT_CORE_FILELOCK_H

#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <optional>
#include <string>

namespace iris::rt {

/// The lock of a name, among the threads and processes that use a directory.
/// Ends with its process at the latest. Removes its file when it is released.
class FileLock {
public:
  /// Locks a name; none if another thread or process holds the lock, or has
  /// just released it.
  /// \param directory the descriptor of the directory, which outlives the lock
  /// \param path the path of the directory, for messages
  /// \param name the name of the file, which is created
  static Expected<std::optional<FileLock>>
  tryLock(int directory, const std::string &path, const std::string &name);

  FileLock() = default;
  FileLock(FileLock &&) = default;
  FileLock &operator=(FileLock &&) = default;
  ~FileLock();

private:
  UniqueFd fd_;
  int directory_ = -1;
  std::string name_;
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_FILELOCK_H
