// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Files.h - Files and private directories ------------------*- C++ -*-===//
#ifndef IRIS_RT_CORE_FILES_H
#define IRIS_RT_CORE_FILES_H

#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iris::rt {

/// Reads a regular file of at most `most` bytes.
Expected<std::string> readRegularFile(const std::string &path, uint64_t most);

/// The same for an open file, from its start; `name` is for messages.
Expected<std::string> readRegularFile(int fd, const std::string &name,
                                      uint64_t most);

/// Reads a file of this user that grants no access to others (mode 0600), such
/// as configuration that others must not change. `what` is the purpose of the
/// file ("the table"), for messages.
Expected<std::string> readOwnFile(const std::string &path, const char *what,
                                  uint64_t most);

/// Replaces a file, or creates it, with mode 0600: the new contents appear by
/// rename.
Status replaceOwnFile(const std::string &path, const std::string &bytes);

/// Writes all bytes to a descriptor; `name` is for messages.
Status writeAll(int fd, std::string_view bytes, const std::string &name);

/// Creates an anonymous in-memory file with contents `bytes`, positioned at its
/// start. It exists until the last process closes it; `name` is for messages.
Expected<UniqueFd> makeMemoryFile(const char *name, std::string_view bytes);

/// Creates `path` and its missing parents with mode 0700, and opens it. Fails
/// unless the directory belongs to this user and grants no access to others,
/// who could otherwise plant code in it. `what` is the purpose of the directory
/// ("kernel cache"), for messages.
Expected<UniqueFd> openPrivateDirectory(const std::string &path,
                                        const char *what);

/// The same without creating it; none if there is nothing of that name.
Expected<std::optional<UniqueFd>> findPrivateDirectory(const std::string &path,
                                                       const char *what);

/// Checks that no other user can write to an open file or directory: it belongs
/// to root, to this user or to `owner`, and neither its group nor others may
/// write. For code that an administrator installs, which this user executes.
/// `name` is for messages.
Status checkTrusted(int fd, const std::string &name, uint32_t owner);

/// The names in an open directory; empty if it cannot be read.
std::vector<std::string> listDirectory(int fd);

} // namespace iris::rt

#endif // IRIS_RT_CORE_FILES_H
