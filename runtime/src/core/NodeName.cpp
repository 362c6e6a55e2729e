// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NodeName.cpp - Which ranks share memory ----------------------------===//
#include "core/NodeName.h"

#include "core/UniqueFd.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace iris::rt;

static Expected<std::string> bootId() {
  constexpr char path[] = "/proc/sys/kernel/random/boot_id";
  char text[64] = {};
  UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  ssize_t got = fd.valid() ? ::read(fd.get(), text, sizeof(text)) : -1;
  if (got <= 0)
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot read '%s'; name the node by IRIS_NODE",
                           path);
  std::string id(text, static_cast<size_t>(got));
  return id.substr(0, id.find('\n'));
}

Expected<std::string> iris::rt::nodeName() {
  IRISRT_ASSIGN_OR_RETURN(std::string boot, bootId());
  constexpr char path[] = "/proc/self/ns/mnt";
  char text[64] = {};
  ssize_t got = ::readlink(path, text, sizeof(text) - 1);
  if (got <= 0)
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot read '%s'; name the node by IRIS_NODE",
                           path);
  return "boot " + boot + ", " + text + ", user " + std::to_string(::geteuid());
}
