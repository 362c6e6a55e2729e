// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelFolders.cpp - Kernels that come with the library -------------===//
#include "KernelFolders.h"

#include "core/Log.h"
#include "iris/rt/Env.h"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <sys/stat.h>

using namespace iris::ccl;
using namespace iris::nccl;
using namespace iris::rt;

/// The path of this library, without links; empty: not known.
static std::string libraryPath() {
  Dl_info info;
  char resolved[PATH_MAX];
  if (!::dladdr(reinterpret_cast<void *>(&libraryPath), &info) ||
      !info.dli_fname || !::realpath(info.dli_fname, resolved))
    return "";
  return resolved;
}

static void addFolder(KernelCache &cache, const std::string &path,
                      std::optional<uint32_t> owner) {
  Status status = cache.addFolder(path, owner);
  if (status.ok())
    Log().info("kernels of '%s' need no compiler", path.c_str());
  else if (status.code() == StatusCode::failedPrecondition)
    Log().warning("kernels: %s", status.message().c_str());
  else
    Log().info("kernels: %s", status.message().c_str());
}

static std::shared_ptr<KernelCache> makeCache(const std::string &target) {
  auto cache = std::make_shared<KernelCache>();
  const std::string folder = "/kernels." + target;
  if (const std::string &named = Env::get().ncclKernelDir(); !named.empty())
    addFolder(*cache, named + folder, std::nullopt);
  // This process executes the library, so it trusts the owner of its file.
  const std::string library = libraryPath();
  struct stat info;
  if (!library.empty() && ::stat(library.c_str(), &info) == 0)
    addFolder(*cache, library.substr(0, library.rfind('/')) + folder,
              info.st_uid);
  return cache;
}

std::shared_ptr<KernelCache>
iris::nccl::kernelCacheFor(const std::string &target) {
  static std::mutex mutex;
  static auto *caches = new std::map<std::string, std::shared_ptr<KernelCache>>;
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<KernelCache> &cache = (*caches)[target];
  if (!cache)
    cache = makeCache(target);
  return cache;
}
