// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Secret.cpp - What the ranks of a communicator share ----------------===//
#include "Secret.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

using namespace iris::nccl;
using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Secrets
//===----------------------------------------------------------------------===//

/// A bijection that mixes all bits (the finalizer of SplitMix64).
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static uint64_t hash(uint64_t seed, std::string_view text) {
  uint64_t state = mix(seed + text.size());
  for (char c : text)
    state = mix(state + 0x9e3779b97f4a7c15u + static_cast<unsigned char>(c));
  return state;
}

Expected<Secret> Secret::make() {
  Secret secret;
  for (uint64_t &word : secret.words)
    while (word == 0) // 0 is no token
      if (::getrandom(&word, sizeof(word), 0) !=
              static_cast<ssize_t>(sizeof(word)) &&
          errno != EINTR)
        return makeErrnoStatus(StatusCode::internal, errno,
                               "cannot get random numbers");
  return secret;
}

Secret Secret::derive(std::string_view purpose) const {
  Secret derived;
  uint64_t all = words[0];
  for (uint64_t word : words)
    all = mix(all + word);
  for (size_t i = 0; i < 3; ++i)
    derived.words[i] = hash(all + words[i] + i, purpose) | 1;
  return derived;
}

std::string Secret::job() const {
  return formatString("nccl-%016" PRIx64 "%016" PRIx64, words[0], words[1]);
}

//===----------------------------------------------------------------------===//
// Ids
//===----------------------------------------------------------------------===//

namespace {
/// The contents of an ncclUniqueId.
struct IdLayout {
  char magic[12];
  uint32_t user;
  uint64_t machine;
  Secret secret;
  uint64_t check;   ///< of all of the above, and the address
  char address[72]; ///< with a final 0
};
static_assert(sizeof(IdLayout) == sizeof(ncclUniqueId));
} // namespace

static constexpr char idMagic[12] = "iris-nccl-2";

/// A number of this machine since it was started; the same in its containers.
static Expected<uint64_t> machineNumber() {
  constexpr char path[] = "/proc/sys/kernel/random/boot_id";
  char text[64] = {};
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : ::read(fd, text, sizeof(text));
  int error = errno;
  if (fd >= 0)
    ::close(fd);
  if (got <= 0)
    return makeErrnoStatus(StatusCode::unavailable, error, "cannot read '%s'",
                           path);
  return hash(0, std::string_view(text, static_cast<size_t>(got)));
}

static uint64_t checkOf(const IdLayout &layout) {
  const uint64_t above =
      hash(1, std::string_view(reinterpret_cast<const char *>(&layout),
                               offsetof(IdLayout, check)));
  return hash(above, std::string_view(layout.address, sizeof(layout.address)));
}

Expected<ncclUniqueId> iris::nccl::makeId(const IdContents &contents) {
  IdLayout layout = {};
  if (contents.address.size() >= sizeof(layout.address))
    return makeStatus(StatusCode::invalidArgument,
                      "'%s' is longer than the %zu characters of an address "
                      "in a unique id; set IRIS_NODE_ADDRESS to an IP address",
                      contents.address.c_str(), sizeof(layout.address) - 1);
  std::memcpy(layout.address, contents.address.data(), contents.address.size());
  std::memcpy(layout.magic, idMagic, sizeof(idMagic));
  layout.user = ::getuid();
  IRISRT_ASSIGN_OR_RETURN(layout.machine, machineNumber());
  layout.secret = contents.secret;
  layout.check = checkOf(layout);
  ncclUniqueId id;
  std::memcpy(&id, &layout, sizeof(id));
  return id;
}

Secret iris::nccl::hashId(const ncclUniqueId &id) {
  return Secret().derive(std::string_view(id.internal, sizeof(id.internal)));
}

Expected<IdContents> iris::nccl::readId(const ncclUniqueId &id) {
  IdLayout layout;
  std::memcpy(static_cast<void *>(&layout), &id, sizeof(layout));
  if (std::memcmp(layout.magic, idMagic, sizeof(idMagic)) != 0 ||
      layout.check != checkOf(layout))
    return Status(StatusCode::invalidArgument,
                  "the unique id is damaged or another library's; expected one "
                  "of this library's ncclGetUniqueId, unchanged");
  IdContents contents;
  contents.secret = layout.secret;
  layout.address[sizeof(layout.address) - 1] = 0;
  contents.address = layout.address;
  if (!contents.address.empty())
    return contents; // the ranks find out which of them share memory
  IRISRT_ASSIGN_OR_RETURN(uint64_t machine, machineNumber());
  if (layout.machine != machine)
    return Status(StatusCode::failedPrecondition,
                  "the unique id was made on another machine, for ranks on "
                  "that one; set IRIS_NODE_ADDRESS where ncclGetUniqueId is "
                  "called to make ids for several machines");
  if (layout.user != ::getuid())
    return makeStatus(StatusCode::failedPrecondition,
                      "the unique id was made by user %u, this process belongs "
                      "to user %u; expected one user",
                      layout.user, ::getuid());
  return contents;
}
