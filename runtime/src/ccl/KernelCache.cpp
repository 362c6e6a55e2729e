// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCache.cpp - Compiled kernels in memory and on disk -----------===//
#include "iris/ccl/KernelCache.h"

#include "ccl/DiskCache.h"
#include "ccl/KernelFolder.h"
#include "compile/Compiler.h"
#include "core/Deadline.h"
#include "core/Log.h"
#include "iris/rt/Env.h"

#include <map>
#include <mutex>
#include <unistd.h>
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
  case Origin::folder:
    return "the package of a kernel folder";
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
static std::string diskKey(const KernelRequest &request, bool lineTables,
                           const std::string &buildId) {
  std::string abi =
      formatString("%d.%d", IRISRT_ABI_VERSION_MAJOR, IRISRT_ABI_VERSION_MINOR);
  return DiskCache::keyOf({request.source, request.target, request.translation,
                           lineTables ? "lines" : "no lines", abi, buildId});
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
  std::optional<CompiledKernel> findInFolders(const KernelRequest &request);
  Status explainMissing(const KernelRequest &request, const Status &why);
  std::shared_ptr<Slot> slotOf(const KernelRequest &request);
  Expected<std::optional<DiskCache>> openDisk();
  Expected<CompiledKernel> obtain(const KernelRequest &request);
  std::optional<CompiledKernel> readFrom(DiskCache &disk,
                                         const std::string &key,
                                         const KernelRequest &request);
  Expected<CompiledKernel> fromBytes(const KernelRequest &request,
                                     const std::string &bytes, Origin origin);

  KernelCacheOptions options;
  std::mutex mutex; // guards the members below
  std::vector<Package> registered;
  /// Folders are never removed, so that they are read without the mutex.
  std::vector<std::shared_ptr<const KernelFolder>> folders;
  /// Why others cannot be used.
  std::vector<Status> unusable;
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

Status KernelCache::addFolder(const std::string &path,
                              std::optional<uint32_t> owner) {
  Expected<KernelFolder> folder =
      KernelFolder::open(path, owner.value_or(::geteuid()));
  std::lock_guard<std::mutex> lock(impl_->mutex);
  if (folder.ok())
    impl_->folders.push_back(
        std::make_shared<const KernelFolder>(folder.take()));
  else
    impl_->unusable.push_back(folder.status());
  return folder.status();
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

/// The kernel of that name in the first folder that has it.
std::optional<CompiledKernel>
KernelCache::Impl::findInFolders(const KernelRequest &request) {
  if (request.name.empty())
    return std::nullopt;
  std::vector<std::shared_ptr<const KernelFolder>> all;
  {
    std::lock_guard<std::mutex> lock(mutex);
    all = folders;
  }
  for (const std::shared_ptr<const KernelFolder> &folder : all) {
    std::optional<std::string> bytes = folder->read(request.name);
    if (!bytes)
      continue;
    Expected<CompiledKernel> kernel =
        fromBytes(request, *bytes, Origin::folder);
    Status status = kernel.status();
    if (status.ok() && request.matches) {
      const PackageImage *image =
          *kernel->package.findImage(request.target, request.translation);
      if (!request.matches(image->kernels[0]))
        status = makeStatus(StatusCode::invalidArgument,
                            "it is another kernel, with the config %s",
                            image->kernels[0].config.c_str());
    }
    if (status.ok())
      return *kernel;
    Log().warning("kernel folder: '%s/%s.iris' is not used: %s",
                  folder->path().c_str(), request.name.c_str(),
                  status.message().c_str());
  }
  return std::nullopt;
}

/// Says which folders lack a kernel that cannot be compiled.
Status KernelCache::Impl::explainMissing(const KernelRequest &request,
                                         const Status &why) {
  std::lock_guard<std::mutex> lock(mutex);
  if (request.name.empty() || (folders.empty() && unusable.empty()))
    return why;
  std::string text;
  for (const std::shared_ptr<const KernelFolder> &folder : folders)
    text += "; the kernel folder '" + folder->path() + "' has no usable " +
            request.name + ".iris";
  for (const Status &status : unusable)
    text += "; " + status.message();
  return Status(why.code(), why.message() + text +
                                "; compile kernels ahead of time with "
                                "iris-bench --requests and iris-compile "
                                "--split (docs/guides/nccl.md)");
}

/// A directory with unsafe permissions is an error. A missing or read-only one
/// only disables the disk cache.
Expected<std::optional<DiskCache>> KernelCache::Impl::openDisk() {
  if (*options.maxBytes == 0 || options.directory.empty())
    return std::optional<DiskCache>();
  Expected<DiskCache> opened =
      DiskCache::open(options.directory, *options.maxBytes);
  if (opened.ok())
    return std::optional<DiskCache>(opened.take());
  if (opened.status().code() == StatusCode::failedPrecondition)
    return opened.status();
  Log().warning("%s; kernels are not cached on disk",
                opened.status().message().c_str());
  return std::optional<DiskCache>();
}

Expected<CompiledKernel>
KernelCache::Impl::obtain(const KernelRequest &request) {
  IRISRT_ASSIGN_OR_RETURN(std::string compiler, findCompiler(options.compiler));
  IRISRT_ASSIGN_OR_RETURN(std::optional<DiskCache> disk, openDisk());
  std::string key;
  auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(
      secondsOf(options.compileLimit));
  // Groups of one world, and jobs that start together, compile a kernel once.
  std::optional<FileLock> lock;
  if (disk) {
    IRISRT_ASSIGN_OR_RETURN(std::string buildId, compilerBuildId(compiler));
    key = diskKey(request, options.lineTables, buildId);
    if (auto kernel = readFrom(*disk, key, request))
      return *kernel;
    lock = disk->lock(key, Deadline(limit));
    if (auto kernel = readFrom(*disk, key, request))
      return *kernel;
  }
  Log().info("compiling for %s: %s", request.target.c_str(),
             request.source.c_str());
  CompileOptions compile;
  compile.target = request.target;
  compile.translation = request.translation;
  compile.lineTables = options.lineTables;
  IRISRT_ASSIGN_OR_RETURN(
      std::string bytes, compileText(compiler, request.source, compile, limit));
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

std::shared_ptr<KernelCache::Impl::Slot>
KernelCache::Impl::slotOf(const KernelRequest &request) {
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Slot> &slot = slots[DiskCache::keyOf(
      {request.source, request.target, request.translation})];
  if (!slot)
    slot = std::make_shared<Slot>();
  return slot;
}

Expected<CompiledKernel> KernelCache::find(const KernelRequest &request) {
  if (std::optional<CompiledKernel> kernel =
          impl_->findRegistered(request, request.matches))
    return *kernel;
  std::shared_ptr<Impl::Slot> slot = impl_->slotOf(request);
  std::lock_guard<std::mutex> lock(slot->mutex);
  if (slot->kernel)
    return CompiledKernel{slot->kernel->package, slot->kernel->name,
                          Origin::memory};
  if (std::optional<CompiledKernel> kernel = impl_->findInFolders(request)) {
    slot->kernel = *kernel;
    return *kernel;
  }
  Expected<CompiledKernel> kernel = impl_->obtain(request);
  if (kernel.ok()) {
    slot->kernel = *kernel;
  } else if (kernel.status().code() == StatusCode::unavailable) {
    if (auto other = impl_->findRegistered(request, request.isAcceptable))
      return *other;
    return impl_->explainMissing(request, kernel.status());
  }
  return kernel;
}

std::optional<CompiledKernel>
KernelCache::findCompiled(const KernelRequest &request) {
  if (std::optional<CompiledKernel> kernel =
          impl_->findRegistered(request, request.matches))
    return kernel;
  std::shared_ptr<Impl::Slot> slot = impl_->slotOf(request);
  std::unique_lock<std::mutex> lock(slot->mutex, std::try_to_lock);
  if (!lock.owns_lock())
    return std::nullopt;
  if (!slot->kernel)
    slot->kernel = impl_->findInFolders(request);
  if (slot->kernel)
    return slot->kernel;
  // Files on disk are those of a build of the compiler.
  Expected<std::string> compiler = findCompiler(impl_->options.compiler);
  Expected<std::string> buildId =
      compiler.ok() ? compilerBuildId(*compiler) : compiler.status();
  Expected<std::optional<DiskCache>> disk = impl_->openDisk();
  if (!buildId.ok() || !disk.ok() || !*disk)
    return std::nullopt;
  slot->kernel = impl_->readFrom(
      **disk, diskKey(request, impl_->options.lineTables, *buildId), request);
  return slot->kernel;
}
