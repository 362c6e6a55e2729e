// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RealLibrary.cpp - NCCL or RCCL behind this library -----------------===//
#include "RealLibrary.h"

#include "Comm.h"
#include "Result.h"
#include "core/Log.h"

#include <atomic>
#include <link.h>

using namespace iris::nccl;
using namespace iris::rt;

namespace {
/// The machine code of the other library.
struct LibraryCode {
  uintptr_t begin = 0, size = 0;

  bool contains(const void *address) const {
    return reinterpret_cast<uintptr_t>(address) - begin < size;
  }
};
} // namespace

/// Set once, and never freed; null without such a library. Read in every call.
static std::atomic<const LibraryCode *> otherCode{nullptr};

/// Finds the segment of machine code that has a function.
static int findCode(dl_phdr_info *object, size_t, void *function) {
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    const LibraryCode code = {object->dlpi_addr + segment.p_vaddr,
                              segment.p_memsz};
    if (segment.p_type != PT_LOAD || !code.contains(function))
      continue;
    otherCode.store(new LibraryCode(code));
    return 1;
  }
  return 0;
}

static void rememberCode(const NcclLibrary &library) {
  if (!otherCode.load())
    (void)::dl_iterate_phdr(findCode,
                            reinterpret_cast<void *>(library.ncclGetUniqueId));
}

Expected<RealLibrary> RealLibrary::open(const std::string &path) {
  RealLibrary library;
  IRISRT_ASSIGN_OR_RETURN(static_cast<NcclLibrary &>(library),
                          NcclLibrary::open("IRIS_NCCL_LIBRARY", path));
  if (library.isIris())
    return makeStatus(StatusCode::invalidArgument,
                      "IRIS_NCCL_LIBRARY '%s' is this library; expected NCCL "
                      "or RCCL",
                      path.c_str());
  rememberCode(library);
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
static std::atomic<const NcclLibrary *> betweenNodes{nullptr};

Status RealLibrary::openBetweenNodes(const std::string &path) {
  if (path.empty() || betweenNodes.load())
    return Status::success();
  Expected<NcclLibrary> library = NcclLibrary::open("the engine", path);
  if (!library.ok() || library->isIris())
    return Status::success();
  IRISRT_ASSIGN_OR_RETURN(const RealLibrary *real, find());
  if (real && real->ncclSend != library->ncclSend)
    return makeStatus(StatusCode::failedPrecondition,
                      "IRIS_INTERNODE_LIBRARY '%s' and IRIS_NCCL_LIBRARY '%s' "
                      "are two libraries; expected one",
                      path.c_str(), Env::get().ncclLibrary().c_str());
  // Never freed: the library has threads.
  betweenNodes.store(new NcclLibrary(*library));
  rememberCode(*library);
  return Status::success();
}

Expected<const NcclLibrary *> RealLibrary::findForOthers() {
  IRISRT_ASSIGN_OR_RETURN(const RealLibrary *real, find());
  return real ? static_cast<const NcclLibrary *>(real) : betweenNodes.load();
}

bool RealLibrary::serves(ncclComm_t comm, const void *caller) {
  const LibraryCode *code = otherCode.load();
  return (code && code->contains(caller)) ||
         (comm && hasComms.load() && !ncclComm::find(comm).ok());
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
