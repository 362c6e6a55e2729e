// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedImage.h - Shared objects in memory -----------------*- C++ -*-===//
//
// Loads a shared object from memory: host kernels and `@main`.
#ifndef IRIS_RT_CORE_SHAREDIMAGE_H
#define IRIS_RT_CORE_SHAREDIMAGE_H

#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <cstddef>

namespace iris::rt {

class SharedImage {
public:
  SharedImage() = default;
  SharedImage(SharedImage &&other) noexcept
      : fd_(std::move(other.fd_)),
        library_(std::exchange(other.library_, nullptr)) {}
  SharedImage &operator=(SharedImage &&other) noexcept {
    unload();
    fd_ = std::move(other.fd_);
    library_ = std::exchange(other.library_, nullptr);
    return *this;
  }
  ~SharedImage() { unload(); }

  /// Loads the ELF shared object in `bytes`; its symbols stay private.
  static Expected<SharedImage> load(const void *bytes, size_t size);

  /// The address of an exported symbol.
  Expected<void *> find(const char *symbol) const;

  /// Keeps the image loaded forever, for code that still runs.
  void leak();

private:
  void unload();

  UniqueFd fd_;
  void *library_ = nullptr;
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_SHAREDIMAGE_H
