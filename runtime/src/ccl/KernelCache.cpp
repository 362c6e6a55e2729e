// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCache.cpp - Compiled kernels in memory and on disk -----------===//
#include "iris/ccl/KernelCache.h"

#include "ccl/DiskCache.h"
#include "compile/Compiler.h"
#include "core/Deadline.h"
#include "core/Log.h"
#include "iris/rt/Env.h"

#include <map>
#include <mutex>
#include <vector>

using namespace iris::ccl;
using namespace iris::rt;

static constexpr uint64_t defaultMaxBytes = uint64_t(256) << 20;

const char *iris::ccl::originName(Origin origin) {
  switch (origin) {
  case Origin::memory:
    return "memory";
  case Origin::registered:
    return "a registered package";
  case Origin::disk:
    return "disk";
  case Origin::compiled:
    return "the compiler";
  }
  return "unknown";
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// The file name of a request on disk; covers every input of the compilation.
static std::string diskKey(const KernelRequest &request,
                           const std::string &buildId) {
  std::string abi =
      formatString("%d.%d", IRISRT_ABI_VERSION_MAJOR, IRISRT_ABI_VERSION_MINOR);
  return DiskCache::keyOf(
      {request.source, request.target, request.translation, abi, buildId});
}

//===----------------------------------------------------------------------===//
// KernelCache
//===----------------------------------------------------------------------===//

struct KernelCache::Impl {
  explicit Impl(KernelCacheOptions given) : options(std::move(given)) {
    if (options.directory.empty())
      options.directory = Env::get().cacheDir();
    if (!options.maxBytes)
      options.maxBytes = Env::get().cacheBytes().value_or(defaultMaxBytes);
  }

  /// The kernel of one request. Its lock is held during the compilation, so
  /// that concurrent threads compile it once.
  struct Slot {
    std::mutex mutex;
    std::optional<CompiledKernel> kernel;
  };

  std::optional<CompiledKernel>
  findRegistered(const KernelRequest &request,
                 const std::function<bool(const KernelInfo &)> &matches);
  Expected<CompiledKernel> obtain(const KernelRequest &request);
  std::optional<CompiledKernel> readFrom(DiskCache &disk,
                                         const std::string &key,
                                         const KernelRequest &request);
  Expected<CompiledKernel> fromBytes(const KernelRequest &request,
                                     const std::string &bytes, Origin origin);

  KernelCacheOptions options;
  std::mutex mutex; // guards the members below
  std::vector<Package> registered;
  std::map<std::string, std::shared_ptr<Slot>> slots;
};

KernelCache::KernelCache(KernelCacheOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
KernelCache::~KernelCache() = default;

const KernelCacheOptions &KernelCache::options() const {
  return impl_->options;
}

std::shared_ptr<KernelCache> KernelCache::shared() {
  static const auto cache = std::make_shared<KernelCache>();
  return cache;
}

void KernelCache::add(const Package &package) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->registered.push_back(package);
}

std::optional<CompiledKernel> KernelCache::Impl::findRegistered(
    const KernelRequest &request,
    const std::function<bool(const KernelInfo &)> &matches) {
  if (!matches)
    return std::nullopt;
  std::lock_guard<std::mutex> lock(mutex);
  for (const Package &package : registered) {
    Expected<const PackageImage *> image =
        package.findImage(request.target, request.translation);
    if (!image.ok())
      continue; // compiled for other devices
    for (const KernelInfo &kernel : (*image)->kernels)
      if (matches(kernel))
        return CompiledKernel{package, kernel.fullName(), Origin::registered};
  }
  return std::nullopt;
}

/// The only kernel of a package that was compiled for the request.
Expected<CompiledKernel>
KernelCache::Impl::fromBytes(const KernelRequest &request,
                             const std::string &bytes, Origin origin) {
  IRISRT_ASSIGN_OR_RETURN(Package package,
                          Package::fromBytes(bytes.data(), bytes.size()));
  IRISRT_ASSIGN_OR_RETURN(
      const PackageImage *image,
      package.findImage(request.target, request.translation));
  if (image->kernels.size() != 1)
    return makeStatus(StatusCode::invalidArgument,
                      "a package of %zu kernels; expected one",
                      image->kernels.size());
  return CompiledKernel{package, image->kernels[0].fullName(), origin};
}

/// The kernel of a file on disk, if it is there and not damaged.
std::optional<CompiledKernel>
KernelCache::Impl::readFrom(DiskCache &disk, const std::string &key,
                            const KernelRequest &request) {
  std::optional<std::string> bytes = disk.read(key);
  if (!bytes)
    return std::nullopt;
  Expected<CompiledKernel> kernel = fromBytes(request, *bytes, Origin::disk);
  if (kernel.ok())
    return *kernel;
  disk.remove(key, kernel.status().message());
  return std::nullopt;
}

Expected<CompiledKernel>
KernelCache::Impl::obtain(const KernelRequest &request) {
  IRISRT_ASSIGN_OR_RETURN(std::string compiler, findCompiler(options.compiler));
  // A directory with unsafe permissions is an error. A missing or read-only one
  // only disables the disk cache.
  std::optional<DiskCache> disk;
  std::string key;
  if (*options.maxBytes != 0 && !options.directory.empty()) {
    Expected<DiskCache> opened =
        DiskCache::open(options.directory, *options.maxBytes);
    if (opened.ok())
      disk.emplace(opened.take());
    else if (opened.status().code() == StatusCode::failedPrecondition)
      return opened.status();
    else
      Log().warning("%s; kernels are not cached on disk",
                    opened.status().message().c_str());
  }
  auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(
      secondsOf(options.compileLimit));
  // Groups of one world, and jobs that start together, compile a kernel once.
  std::optional<FileLock> lock;
  if (disk) {
    IRISRT_ASSIGN_OR_RETURN(std::string buildId, compilerBuildId(compiler));
    key = diskKey(request, buildId);
    if (auto kernel = readFrom(*disk, key, request))
      return *kernel;
    lock = disk->lock(key, Deadline(limit));
    if (auto kernel = readFrom(*disk, key, request))
      return *kernel;
  }
  Log().info("compiling for %s: %s", request.target.c_str(),
             request.source.c_str());
  IRISRT_ASSIGN_OR_RETURN(std::string bytes,
                          compileText(compiler, request.source,
                                      {request.target, request.translation},
                                      limit));
  // Validate before storing, so that the cache holds only loadable packages.
  Expected<CompiledKernel> kernel = fromBytes(request, bytes, Origin::compiled);
  if (!kernel.ok())
    return kernel.status().withContext("the output of '" + compiler + "'");
  if (disk) {
    Status stored = disk->write(key, bytes);
    if (!stored.ok())
      Log().warning("kernel cache: %s", stored.message().c_str());
  }
  return kernel;
}

Expected<CompiledKernel> KernelCache::find(const KernelRequest &request) {
  if (std::optional<CompiledKernel> kernel =
          impl_->findRegistered(request, request.matches))
    return *kernel;
  std::shared_ptr<Impl::Slot> slot;
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    std::shared_ptr<Impl::Slot> &entry = impl_->slots[DiskCache::keyOf(
        {request.source, request.target, request.translation})];
    if (!entry)
      entry = std::make_shared<Impl::Slot>();
    slot = entry;
  }
  std::lock_guard<std::mutex> lock(slot->mutex);
  if (slot->kernel)
    return CompiledKernel{slot->kernel->package, slot->kernel->name,
                          Origin::memory};
  Expected<CompiledKernel> kernel = impl_->obtain(request);
  if (kernel.ok())
    slot->kernel = *kernel;
  else if (kernel.status().code() == StatusCode::unavailable)
    if (auto other = impl_->findRegistered(request, request.isAcceptable))
      return *other;
  return kernel;
}
