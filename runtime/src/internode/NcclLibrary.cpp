// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NcclLibrary.cpp - A library with NCCL's API ------------------------===//
#include "internode/NcclLibrary.h"

#include <dlfcn.h>

using namespace iris::rt;

namespace {
/// A function, and where its address goes.
struct Slot {
  const char *name;
  void **address;
};
} // namespace

/// Where functions of the same names are visible to all libraries, as under
/// LD_PRELOAD, those of the library itself must come first. Sanitizers refuse
/// the flag.
static void *openLibrary(const std::string &path) {
  const bool isShadowed = ::dlsym(RTLD_DEFAULT, "ncclGetUniqueId") != nullptr;
  return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE |
                                    (isShadowed ? RTLD_DEEPBIND : 0));
}

bool NcclLibrary::isNccl(const std::string &path) {
  void *handle = openLibrary(path);
  return handle && ::dlsym(handle, "ncclGetUniqueId");
}

Expected<NcclLibrary> NcclLibrary::open(const char *what,
                                        const std::string &path) {
  void *handle = openLibrary(path);
  if (!handle) {
    const char *why = ::dlerror();
    return makeStatus(StatusCode::unavailable, "cannot open %s '%s': %s", what,
                      path.c_str(), why ? why : "unknown error");
  }
  NcclLibrary library;
  const Slot slots[] = {
#define IRIS_NCCL_FUNCTION(name, parameters, arguments)                        \
  {#name, reinterpret_cast<void **>(&library.name)},
#include "iris-nccl/functions.inc"
#include "iris-nccl/rccl_functions.inc"
#undef IRIS_NCCL_FUNCTION
#define IRIS_NCCL_DEVICE_FUNCTION(result, name, parameters, arguments)         \
  {#name, reinterpret_cast<void **>(&library.name)},
#include "iris-nccl/device_functions.inc"
#undef IRIS_NCCL_DEVICE_FUNCTION
      {"ncclGetLastError",
       reinterpret_cast<void **>(&library.ncclGetLastError)},
      {"irisNcclGetLocalUniqueId",
       reinterpret_cast<void **>(&library.irisNcclGetLocalUniqueId)},
  };
  for (const Slot &slot : slots)
    *slot.address = ::dlsym(handle, slot.name);
  if (!library.ncclGetVersion || !library.ncclGetUniqueId ||
      !library.ncclCommInitRankConfig || !library.ncclCommInitAll ||
      !library.ncclGetLastError || !library.ncclGroupStart ||
      !library.ncclGroupEnd)
    return makeStatus(StatusCode::unavailable,
                      "%s '%s' lacks functions of NCCL 2.14; expected a newer "
                      "NCCL or RCCL",
                      what, path.c_str());
  return library;
}
