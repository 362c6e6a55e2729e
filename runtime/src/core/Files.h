// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files, files in memory, and directories that only we may enter.
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

/// The same for a file that is open, from its start; `name` is for messages.
Expected<std::string> readRegularFile(int fd, const std::string &name,
                                      uint64_t most);

/// The same for a file of this user that nobody else may read or write (mode
/// 0600): for configuration, which others must not change. `what` says in
/// messages what it is ("the table").
Expected<std::string> readOwnFile(const std::string &path, const char *what,
                                  uint64_t most);

/// Writes all bytes to a descriptor.
Status writeAll(int fd, std::string_view bytes, const std::string &name);

/// A file in memory that holds `bytes`, to be read from its start.  No name
/// leads to it, and it goes with the last process that has it open; `name` is
/// for messages.
Expected<UniqueFd> makeMemoryFile(const char *name, std::string_view bytes);

/// Creates `path`, and what is missing above it, with mode 0700, and opens it.
/// Fails unless it then is a directory of ours that nobody else may enter:
/// whoever can write there could hand us code to run.  `what` says whose
/// directory it is ("kernel cache").
Expected<UniqueFd> openPrivateDirectory(const std::string &path,
                                        const char *what);

/// The names in an open directory; none where it cannot be read.
std::vector<std::string> listDirectory(int fd);

} // namespace iris::rt

#endif // IRIS_RT_CORE_FILES_H
