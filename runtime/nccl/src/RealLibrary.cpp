// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RealLibrary.cpp - NCCL or RCCL behind this library -----------------===//
#include "RealLibrary.h"

#include "Comm.h"
#include "Result.h"
#include "core/Log.h"

#include <atomic>
#include <dlfcn.h>

using namespace iris::nccl;
using namespace iris::rt;

namespace {
/// A function, and where its address goes.
struct Slot {
  const char *name;
  void **address;
};
} // namespace

Expected<RealLibrary> RealLibrary::open(const std::string &path) {
  // Its own functions come before those of this library, which have the same
  // names. It is never closed: it may have threads.
  void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!handle) {
    const char *why = ::dlerror();
    return makeStatus(StatusCode::unavailable,
                      "cannot open IRIS_NCCL_LIBRARY '%s': %s", path.c_str(),
                      why ? why : "unknown error");
  }
  RealLibrary library;
  const Slot slots[] = {
#define IRIS_NCCL_FUNCTION(name, parameters, arguments)                        \
  {#name, reinterpret_cast<void **>(&library.name)},
#include "iris-nccl/functions.inc"
#undef IRIS_NCCL_FUNCTION
#define IRIS_NCCL_DEVICE_FUNCTION(result, name, parameters, arguments)         \
  {#name, reinterpret_cast<void **>(&library.name)},
#include "iris-nccl/device_functions.inc"
#undef IRIS_NCCL_DEVICE_FUNCTION
      {"ncclGetLastError",
       reinterpret_cast<void **>(&library.ncclGetLastError)},
  };
  for (const Slot &slot : slots)
    *slot.address = ::dlsym(handle, slot.name);
  if (library.ncclGetUniqueId == &::ncclGetUniqueId)
    return makeStatus(StatusCode::invalidArgument,
                      "IRIS_NCCL_LIBRARY '%s' is this library; expected NCCL "
                      "or RCCL",
                      path.c_str());
  if (!library.ncclGetVersion || !library.ncclGetUniqueId ||
      !library.ncclCommInitRankConfig || !library.ncclCommInitAll ||
      !library.ncclGetLastError || !library.ncclGroupStart ||
      !library.ncclGroupEnd)
    return makeStatus(StatusCode::unavailable,
                      "IRIS_NCCL_LIBRARY '%s' lacks functions of NCCL 2.14; "
                      "expected a newer NCCL or RCCL",
                      path.c_str());
  return library;
}

Expected<const RealLibrary *> RealLibrary::find() {
  static const Expected<RealLibrary> *library =
      [&]() -> const Expected<RealLibrary> * {
    const std::string &path = Env::get().ncclLibrary();
    if (path.empty())
      return nullptr;
    auto *opened = new Expected<RealLibrary>(open(path));
    int version = 0;
    if (opened->ok())
      (void)(*opened)->ncclGetVersion(&version);
    if (opened->ok())
      Log().info("'%s' (version %d) serves %s of NCCL's API", path.c_str(),
                 version, servesAll() ? "all" : "what Iris does not serve");
    else
      Log().error("%s", opened->status().message().c_str());
    return opened;
  }();
  if (!library)
    return nullptr;
  if (!library->ok())
    return library->status();
  return &**library;
}

/// Whether the real library has created a communicator.
static std::atomic<bool> hasComms{false};

bool RealLibrary::serves(ncclComm_t comm) {
  return comm && hasComms.load() && !ncclComm::find(comm).ok();
}

ncclResult_t RealLibrary::create(ncclComm_t *comm, int numRanks, int rank,
                                 int numIds, ncclUniqueId *ids,
                                 ncclConfig_t *config, const char *why) const {
  Log().info("IRIS_NCCL_LIBRARY serves a communicator: %s", why);
  hasComms.store(true);
  if (numIds == 1)
    return ncclCommInitRankConfig(comm, numRanks, ids[0], rank, config);
  if (ncclCommInitRankScalable)
    return ncclCommInitRankScalable(comm, numRanks, rank, numIds, ids, config);
  return finish("ncclCommInitRankScalable",
                Status(StatusCode::failedPrecondition,
                       "the library of IRIS_NCCL_LIBRARY has no "
                       "ncclCommInitRankScalable"));
}

ncclResult_t RealLibrary::createAll(ncclComm_t *comms, int ndev,
                                    const int *devices, const char *why) const {
  Log().info("IRIS_NCCL_LIBRARY serves %d communicators: %s", ndev, why);
  hasComms.store(true);
  return ncclCommInitAll(comms, ndev, devices);
}

bool RealLibrary::servesAll() { return Env::get().ncclIsOff(); }
