// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads packages: images of the same kernels for several targets, with their
// metadata.  A package is untrusted input: whatever its bytes are, reading it
// gives a package or a status, and nothing outside the buffer is touched.
//
// Using it is another matter: a host image and `@main` are machine code that
// runs in this process with all its rights, from the moment that World::load or
// runProgram loads them (a shared object has constructors).  The hash in a
// package finds damage, not forgery.  Load packages only from whom you would
// run a program from; WorldOptions::refuseHostCode or IRIS_REFUSE_HOST_CODE=1
// leaves images for GPUs, which run on the GPU only.
#ifndef IRIS_RT_PACKAGE_H
#define IRIS_RT_PACKAGE_H

#include "iris/rt/Kernel.h"
#include "iris/rt/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::rt {

/// One image of a package.  The views point into the package.
struct PackageImage {
  std::string_view triple;
  /// "gfx942", "sm_90a", "host", or "main" (the `@main` program).
  std::string_view arch;
  /// "stride" or "table"; empty for the `@main` program.
  std::string_view translation;
  /// The ABI that the image was compiled for.
  uint32_t abiMajor = 0;
  uint32_t abiMinor = 0;
  /// The machine code, aligned to 8 bytes.
  const uint8_t *data = nullptr;
  size_t size = 0;
  /// Empty for the `@main` program.
  std::vector<KernelInfo> kernels;

  bool isMain() const { return arch == IRISRT_ARCH_MAIN; }

  /// The kernel called `name`, either "module::name" or, where only one module
  /// has it, just "name".  The error lists what there is.
  Expected<const KernelInfo *> findKernel(std::string_view name) const;
};

/// A package in memory.  Copies share the bytes.
class Package {
public:
  /// Larger files are refused before they are read.
  static constexpr uint64_t maxBytes = uint64_t(1) << 30;

  /// Reads and checks a file.  It must be a regular file.
  static Expected<Package> fromFile(const std::string &path);

  /// Checks and copies the package in `bytes`.
  static Expected<Package> fromBytes(const void *bytes, size_t size);

  /// Every image, in the order of the file.
  const std::vector<PackageImage> &images() const { return *images_; }

  /// The image for a device of `target` ("gfx942", "sm_90a", "host") that
  /// translates addresses by `translation`.  On NVIDIA an image for an older
  /// architecture serves where there is no exact one.  The error says what the
  /// package has and what this device is.
  Expected<const PackageImage *> findImage(std::string_view target,
                                           std::string_view translation) const;

  /// The `@main` program, or nullptr.
  const PackageImage *findMain() const;

  /// Whether both have the same bytes.
  bool operator==(const Package &other) const;
  bool operator!=(const Package &other) const { return !(*this == other); }

private:
  Package() = default;
  static Expected<Package> parse(std::shared_ptr<const uint64_t[]> words,
                                 size_t size);

  /// 64-bit words, so that what is aligned in the file is so in memory.
  std::shared_ptr<const uint64_t[]> words_;
  size_t size_ = 0;
  std::shared_ptr<const std::vector<PackageImage>> images_;
};

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_PACKAGE_H
