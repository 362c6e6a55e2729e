// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedImage.cpp - Shared objects in memory -------------------------===//
#include "core/SharedImage.h"

#include "iris/rt/Env.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace iris::rt;

/// With the process' id: a debugger opens the path of the library, and its own
/// /proc/self has other files.
static std::string pathOf(int fd) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd);
}

/// dlerror() without the artificial file name.
static std::string loaderMessage() {
  const char *text = ::dlerror();
  return text ? text : "unknown error of the dynamic linker";
}

/// Memory for an image, or a new file where profilers are to find it after the
/// process has ended.
static Expected<UniqueFd> createImage() {
  const std::string &folder = Env::get().imageDir();
  if (folder.empty()) {
    UniqueFd memory(::memfd_create("iris-image", MFD_CLOEXEC));
    if (!memory.valid())
      return makeErrnoStatus(StatusCode::internal, errno,
                             "cannot create memory for a host image");
    return memory;
  }
  static std::atomic<unsigned> count{0};
  while (true) {
    std::string path = folder + "/iris-image-" + std::to_string(::getpid()) +
                       "-" + std::to_string(count++) + ".so";
    UniqueFd file(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.valid())
      return file;
    // Of an earlier process with this id.
    if (errno != EEXIST)
      return makeErrnoStatus(StatusCode::unavailable, errno,
                             "cannot create '%s' (set by IRIS_IMAGE_DIR)",
                             path.c_str());
  }
}

Expected<SharedImage> SharedImage::load(const void *bytes, size_t size) {
  static const unsigned char elfMagic[4] = {0x7f, 'E', 'L', 'F'};
  if (size < 64 || std::memcmp(bytes, elfMagic, sizeof(elfMagic)) != 0)
    return makeStatus(StatusCode::invalidArgument,
                      "the host image (%zu bytes) is not an ELF file", size);
  SharedImage image;
  IRISRT_ASSIGN_OR_RETURN(image.fd_, createImage());
  size_t written = 0;
  while (written < size) {
    ssize_t step =
        ::write(image.fd_.get(), static_cast<const uint8_t *>(bytes) + written,
                size - written);
    if (step < 0 && errno == EINTR)
      continue;
    if (step <= 0)
      return makeErrnoStatus(StatusCode::outOfMemory, errno,
                             "cannot write a host image of %zu bytes", size);
    written += static_cast<size_t>(step);
  }
  image.library_ =
      ::dlopen(pathOf(image.fd_.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!image.library_)
    return makeStatus(StatusCode::invalidArgument,
                      "cannot load the host image: %s",
                      loaderMessage().c_str());
  return image;
}

Expected<void *> SharedImage::find(const char *symbol) const {
  void *address = library_ ? ::dlsym(library_, symbol) : nullptr;
  if (!address)
    return makeStatus(StatusCode::invalidArgument,
                      "the image does not export '%s'", symbol);
  return address;
}

void SharedImage::leak() {
  (void)fd_.release();
  library_ = nullptr;
}

void SharedImage::unload() {
  if (!library_)
    return;
  ::dlclose(std::exchange(library_, nullptr));
  // The dynamic linker identifies libraries by name. If this one stays loaded
  // (for instance for its thread-local variables), its name must not be reused,
  // so its descriptor must stay open.
  void *still = ::dlopen(pathOf(fd_.get()).c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (still) {
    ::dlclose(still);
    (void)fd_.release();
  }
  fd_.reset();
}
