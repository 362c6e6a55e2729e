// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCache.h - Compiled kernels and their sources -------*- C++ -*-===//
//
// Finds compiled kernels in memory, in packages and folders that were compiled
// ahead of time, in a directory on disk, or compiles them.
#ifndef IRIS_CCL_KERNELCACHE_H
#define IRIS_CCL_KERNELCACHE_H

#include "iris/ccl/Types.h"
#include "iris/rt/Package.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#pragma GCC visibility push(default)
namespace iris::ccl {

/// Writes the .mlir module from which iris-compile generates the kernel of a
/// call, for communicators with the default workspace. Compile it to a package
/// for machines without a compiler (Communicator::addPackage).
/// \param op the operation
/// \param dtype the type of the elements, for operations that reduce
/// \param reduce how the elements are combined, for operations that reduce
/// \param groupSize the number of ranks of the group
/// \param config the config, with a variant
/// \return the module's text
std::string kernelSource(Op op, DType dtype, ReduceOp reduce,
                         uint32_t groupSize, const Config &config);

/// The source of a kernel.
enum class Origin { memory, registered, folder, disk, compiled };

/// Names an origin.
/// \param origin the origin
/// \return "memory", "a registered package", "the package of a kernel folder",
///   "disk", "the compiler"
const char *originName(Origin origin);

/// Options of a KernelCache.
struct KernelCacheOptions {
  /// The directory of compiled kernels; empty: IRIS_CACHE_DIR, else
  /// $XDG_CACHE_HOME/iris, else ~/.cache/iris. It must belong to this user with
  /// mode 0700 and is created if missing. Its files may be removed at any time.
  std::string directory;
  /// The maximum total size of the directory's files in bytes; the least
  /// recently used ones are removed. Default: IRIS_CACHE_BYTES, else 256 MiB.
  /// 0: no disk cache.
  std::optional<uint64_t> maxBytes;
  /// The path of iris-compile; empty: IRIS_COMPILE, else next to this
  /// executable, next to this library, or on PATH.
  std::string compiler;
  /// The time limit of one compilation in seconds.
  double compileLimit = 240;
  /// Whether kernels that are compiled have line tables, for debuggers and
  /// profilers. Not by default: the source of a communicator's kernel is one
  /// line, which no file has.
  bool lineTables = false;
};

/// A request for a kernel.
struct KernelRequest {
  /// An .mlir module.
  std::string source;
  /// What the kernel is called in folders (KernelCache::addFolder), a symbol
  /// that no other source has; empty: it is in none.
  std::string name;
  /// The target of the device: "host", "gfx942", "sm_90a".
  std::string target;
  /// "stride" or "table".
  std::string translation;
  /// Whether a kernel of a registered package, whose source is unknown, is the
  /// one that `source` generates; empty: never. In a folder the name tells;
  /// this only checks it.
  std::function<bool(const rt::KernelInfo &kernel)> matches;
  /// Whether such a kernel is an acceptable substitute if the compiler cannot
  /// run; empty: never.
  std::function<bool(const rt::KernelInfo &kernel)> isAcceptable;
};

/// A compiled kernel, not loaded on a device.
struct CompiledKernel {
  /// The package that holds the kernel.
  rt::Package package;
  /// "module::name" in the package.
  std::string name;
  /// Where the kernel was found.
  Origin origin = Origin::compiled;
};

/// Finds and compiles kernels. Threads of one process may share a cache, and
/// processes its directory.
class KernelCache {
public:
  /// Creates a cache; files are read when they are needed.
  /// \param options the directory, its size, and the compiler
  explicit KernelCache(KernelCacheOptions options = {});
  /// Leaves the files on disk.
  ~KernelCache();
  KernelCache(const KernelCache &) = delete;
  KernelCache &operator=(const KernelCache &) = delete;

  /// \return the cache with default options that this process shares
  static std::shared_ptr<KernelCache> shared();

  /// \return the options, with what they leave open
  const KernelCacheOptions &options() const;

  /// Registers a package's kernels; they take precedence over those on disk.
  /// \param package the package, of which the cache keeps a copy
  void add(const rt::Package &package);

  /// Adds a folder of kernels, as `iris-compile --split` writes it. A package
  /// is read when it is asked for, so that large folders cost no time; files
  /// that other users can write to are refused. Folders come before the
  /// directory on disk, in the order in which they are added. A folder that
  /// cannot be used is named by later errors of find().
  /// \param path of the folder
  /// \param owner a user whose files are trusted, beside root and this user;
  ///   default: none
  /// \retval unavailable there is no such folder
  /// \retval failedPrecondition other users can write to it
  rt::Status addFolder(const std::string &path,
                       std::optional<uint32_t> owner = std::nullopt);

  /// Finds the kernel or compiles it. Replaces a file that is damaged or
  /// belongs to another user.
  /// \param request the source of the kernel, and the device's target
  /// \return the kernel in a package, not loaded
  /// \retval failedPrecondition other users can access the directory
  /// \retval unavailable the compiler cannot run
  /// \retval invalidArgument the compiler rejects the source; with its message
  /// \retval timeout the compiler takes longer than compileLimit
  rt::Expected<CompiledKernel> find(const KernelRequest &request);

  /// Finds the kernel where it is compiled already, without waiting for a
  /// compilation that is under way.
  /// \param request the source of the kernel, and the device's target
  /// \return the kernel; none if it would have to be compiled
  std::optional<CompiledKernel> findCompiled(const KernelRequest &request);

private:
  struct __attribute__((visibility("hidden"))) Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_KERNELCACHE_H
