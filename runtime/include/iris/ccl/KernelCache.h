// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where compiled kernels come from: memory, packages that were compiled ahead,
// a folder on disk, or the compiler.
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

/// The .mlir module that makes iris-compile generate the kernel of a call, for
/// communicators with the default workspace: what a package is compiled of on
/// one machine for another that has no compiler (Communicator::addPackage).
std::string kernelSource(Op op, DType dtype, ReduceOp reduce,
                         uint32_t groupSize, const Config &config);

/// Where a kernel came from.
enum class Origin { memory, registered, disk, compiled };

/// "memory", "a registered package", "disk", "the compiler".
const char *originName(Origin origin);

struct KernelCacheOptions {
  /// The folder of compiled kernels; empty: IRIS_CACHE_DIR, else
  /// $XDG_CACHE_HOME/iris, else ~/.cache/iris.  It must be ours alone (0700);
  /// it is created where it is missing.  The files in it are a cache: any of
  /// them may be removed at any time.
  std::string directory;
  /// Most bytes of the folder's files; the least recently used ones go.  By
  /// default IRIS_CACHE_BYTES, else 256 MiB; 0: nothing is kept on disk.
  std::optional<uint64_t> maxBytes;
  /// The iris-compile to run; empty: IRIS_COMPILE, else the one beside this
  /// program, beside this library, or on PATH.
  std::string compiler;
  /// Seconds that one compilation may take.
  double compileLimit = 240;
};

/// A kernel to be had.
struct KernelRequest {
  /// An .mlir module.
  std::string source;
  /// Target of the device: "host", "gfx942", "sm_90a".
  std::string target;
  /// "stride" or "table".
  std::string translation;
  /// Whether a kernel of a registered package, whose source nobody knows, is
  /// the one that `source` asks for; empty: none is.
  std::function<bool(const rt::KernelInfo &kernel)> matches;
  /// Whether such a kernel will do where the compiler cannot be run; empty:
  /// none does.
  std::function<bool(const rt::KernelInfo &kernel)> willDo;
};

/// A compiled kernel, on no device yet.
struct CompiledKernel {
  rt::Package package;
  /// "module::name" in the package.
  std::string name;
  Origin origin = Origin::compiled;
};

/// Threads of one process may share a cache, and processes its folder.
class KernelCache {
public:
  explicit KernelCache(KernelCacheOptions options = {});
  ~KernelCache();
  KernelCache(const KernelCache &) = delete;
  KernelCache &operator=(const KernelCache &) = delete;

  /// The one with default options that this process shares.
  static std::shared_ptr<KernelCache> shared();

  /// Makes a package's kernels known; they come before those on disk.
  void add(const rt::Package &package);

  /// The kernel, from wherever it can be had soonest.  An entry on disk that is
  /// damaged or belongs to somebody else is replaced.  Fails when the folder is
  /// not ours alone (failedPrecondition), when the compiler cannot be run
  /// (unavailable), or when it refuses the source (invalidArgument, with its
  /// message).
  rt::Expected<CompiledKernel> find(const KernelRequest &request);

private:
  struct __attribute__((visibility("hidden"))) Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_KERNELCACHE_H
