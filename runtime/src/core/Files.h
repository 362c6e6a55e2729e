// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files, and directories that only we may enter.
#ifndef IRIS_RT_CORE_FILES_H
#define IRIS_RT_CORE_FILES_H

#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace iris::rt {

/// The bytes of a regular file of at most `most` bytes.
Expected<std::string> readRegularFile(const std::string &path, uint64_t most);

/// The same for a file that is open; `name` is for messages.
Expected<std::string> readRegularFile(int fd, const std::string &name,
                                      uint64_t most);

/// Writes all bytes to a descriptor.
Status writeAll(int fd, std::string_view bytes, const std::string &name);

/// Creates `path`, and what is missing above it, with mode 0700, and opens it.
/// Fails unless it then is a directory of ours that nobody else may enter:
/// whoever can write there could hand us code to run.  `what` says whose
/// directory it is ("kernel cache").
Expected<UniqueFd> openPrivateDirectory(const std::string &path,
                                        const char *what);

/// A new directory that only we may enter, removed with the files in it.
class TempDirectory {
public:
  TempDirectory() = default;
  TempDirectory(const TempDirectory &) = delete;
  TempDirectory &operator=(const TempDirectory &) = delete;
  ~TempDirectory();

  /// Creates it as `<Env::tempDir()>/<prefix>-XXXXXX`.
  Status create(const char *prefix);
  /// The path of a file in it, which is removed with the directory.
  std::string file(const char *name);

private:
  std::string path_;
  std::vector<std::string> files_;
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_FILES_H
