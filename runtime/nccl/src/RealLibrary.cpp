// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RealLibrary.cpp - NCCL or RCCL behind this library -----------------===//
#include "RealLibrary.h"

#include "Comm.h"
#include "Result.h"
#include "core/Log.h"

#include <atomic>

using namespace iris::nccl;
using namespace iris::rt;

Expected<RealLibrary> RealLibrary::open(const std::string &path) {
  RealLibrary library;
  IRISRT_ASSIGN_OR_RETURN(static_cast<NcclLibrary &>(library),
                          NcclLibrary::open("IRIS_NCCL_LIBRARY", path));
  if (library.isIris())
    return makeStatus(StatusCode::invalidArgument,
                      "IRIS_NCCL_LIBRARY '%s' is this library; expected NCCL "
                      "or RCCL",
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
