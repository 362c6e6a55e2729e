// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelFolder.h - Kernels that were compiled ahead of time *- C++ -*-===//
#ifndef IRIS_RT_CCL_KERNELFOLDER_H
#define IRIS_RT_CCL_KERNELFOLDER_H

#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace iris::ccl {

/// A folder of packages, one for each kernel: NAME.iris. Only what is asked for
/// is read, so that the number of kernels costs nothing. Nothing is written.
class KernelFolder {
public:
  /// Opens the folder.
  /// \param owner a user whose files are trusted, beside root and this user
  /// \retval unavailable there is no such folder
  /// \retval failedPrecondition other users can write to it
  static rt::Expected<KernelFolder> open(const std::string &path,
                                         uint32_t owner);

  /// Reads the package of a kernel. A file that other users can write to is
  /// refused, with a line of the log.
  /// \return the bytes; none if the folder has no such kernel
  std::optional<std::string> read(const std::string &name) const;

  const std::string &path() const { return path_; }

private:
  KernelFolder(rt::UniqueFd fd, std::string path, uint32_t owner)
      : fd_(std::move(fd)), path_(std::move(path)), owner_(owner) {}

  rt::UniqueFd fd_;
  std::string path_;
  uint32_t owner_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_KERNELFOLDER_H
