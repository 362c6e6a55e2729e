// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelFolder.cpp - Kernels that were compiled ahead of time --------===//
#include "ccl/KernelFolder.h"

#include "core/Files.h"
#include "core/Log.h"
#include "iris/rt/Package.h"

#include <cerrno>
#include <fcntl.h>
#include <string_view>

using namespace iris::ccl;
using namespace iris::rt;

/// Names are symbols of MLIR, which become names of files.
static bool isPlain(const std::string &name) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !name.empty() && name.find_first_not_of(plain) == std::string::npos;
}

Expected<KernelFolder> KernelFolder::open(const std::string &path,
                                          uint32_t owner) {
  // Check and use the same descriptor, because the name may be replaced.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot open the kernel folder '%s'", path.c_str());
  IRISRT_RETURN_IF_ERROR(checkTrusted(fd.get(), path, owner));
  return KernelFolder(std::move(fd), path, owner);
}

std::optional<std::string> KernelFolder::read(const std::string &name) const {
  if (!isPlain(name))
    return std::nullopt;
  const std::string file = name + ".iris", shown = path_ + "/" + file;
  UniqueFd fd(
      ::openat(fd_.get(), file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno != ENOENT)
      Log().warning("kernel folder: %s",
                    makeErrnoStatus(StatusCode::unavailable, errno,
                                    "cannot open '%s'", shown.c_str())
                        .message()
                        .c_str());
    return std::nullopt;
  }
  Status trusted = checkTrusted(fd.get(), shown, owner_);
  Expected<std::string> bytes =
      trusted.ok() ? readRegularFile(fd.get(), shown, Package::maxBytes)
                   : Expected<std::string>(trusted);
  if (bytes.ok())
    return bytes.take();
  Log().warning("kernel folder: the kernel is refused: %s",
                bytes.status().message().c_str());
  return std::nullopt;
}
