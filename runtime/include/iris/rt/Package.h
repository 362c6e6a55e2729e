// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Package.h - Packages of compiled kernels -----------------*- C++ -*-===//
//
// Reads packages: images of the same kernels for several targets, with their
// metadata.  A package is untrusted input: reading any bytes returns a package
// or an error, without access outside the buffer.
//
// Using a package requires trust: a host image and `@main` are machine code
// that runs in this process with all its privileges as soon as World::load or
// runProgram loads them (a shared object has constructors).  The hash in a
// package detects damage, not forgery.  Load only packages that you would run
// as a program; WorldOptions::refuseHostCode or IRIS_REFUSE_HOST_CODE=1
// restricts packages to GPU images, which run on the GPU only.
//
// Errors: invalidArgument for bytes or files that are no valid package, and for
// names and targets that it does not have; failedPrecondition for a package of
// another version of the ABI.
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

/// One image of a package. The views point into the package.
struct PackageImage {
  /// The target triple of LLVM.
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
  /// Bytes of the machine code.
  size_t size = 0;
  /// Empty for the `@main` program.
  std::vector<KernelInfo> kernels;

  /// \return whether this is the `@main` program
  bool isMain() const { return arch == IRISRT_ARCH_MAIN; }

  /// Finds a kernel.
  /// \param name "module::name" or, if only one module has it, just "name"
  /// \return the metadata of the kernel, valid as long as the package
  /// \retval invalidArgument there is no such kernel; the message lists those
  ///   that there are
  Expected<const KernelInfo *> findKernel(std::string_view name) const;
};

/// A package in memory. Copies share the bytes.
class Package {
public:
  /// The maximum file size; larger files are rejected before they are read.
  static constexpr uint64_t maxBytes = uint64_t(1) << 30;

  /// Reads and checks a file.
  /// \param path the path of a regular file of at most maxBytes
  /// \return the package
  /// \retval invalidArgument the file cannot be read, is no package, or is
  ///   damaged
  /// \retval failedPrecondition it was compiled for another ABI version
  static Expected<Package> fromFile(const std::string &path);

  /// Checks and copies a package in memory.
  /// \param bytes the contents of a package's file
  /// \param size their number
  /// \return the package
  /// \retval invalidArgument the bytes are no package, or are damaged
  /// \retval failedPrecondition they were compiled for another ABI version
  static Expected<Package> fromBytes(const void *bytes, size_t size);

  /// \return all images, in file order
  const std::vector<PackageImage> &images() const { return *images_; }

  /// Finds the image for a device. On NVIDIA, falls back to an image for an
  /// older
  /// architecture.
  /// \param target the target of the device: "gfx942", "sm_90a", "host"
  /// \param translation how kernels compute addresses on peers: "stride",
  ///   "table"
  /// \return the image, valid as long as the package
  /// \retval failedPrecondition there is none; the message lists the package's
  ///   images and the device's target
  Expected<const PackageImage *> findImage(std::string_view target,
                                           std::string_view translation) const;

  /// \return the `@main` program, or nullptr
  const PackageImage *findMain() const;

  /// Whether both have the same bytes.
  bool operator==(const Package &other) const;
  bool operator!=(const Package &other) const { return !(*this == other); }

private:
  Package() = default;
  static Expected<Package> parse(std::shared_ptr<const uint64_t[]> words,
                                 size_t size);

  /// 64-bit words, which preserve the alignment of the file's contents.
  std::shared_ptr<const uint64_t[]> words_;
  size_t size_ = 0;
  std::shared_ptr<const std::vector<PackageImage>> images_;
};

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_PACKAGE_H
