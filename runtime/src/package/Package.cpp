// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Package.cpp - Packages of compiled kernels -------------------------===//
#include "iris/rt/Package.h"

#include "core/UniqueFd.h"
#include "package/Container.h"
#include "package/Metadata.h"

#include <cctype>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

using namespace iris::rt;

/// Parses "major.minor": decimal, without sign, leading zeros or suffix.
static bool parseVersion(std::string_view text, uint32_t &major,
                         uint32_t &minor) {
  auto number = [&](uint32_t &out) {
    size_t digits = 0;
    uint64_t value = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' &&
           digits < 6)
      value = value * 10 + (text[digits++] - '0');
    if (digits == 0 || (digits > 1 && text[0] == '0'))
      return false;
    text.remove_prefix(digits);
    out = static_cast<uint32_t>(value);
    return true;
  };
  if (!number(major) || text.empty() || text[0] != '.')
    return false;
  text.remove_prefix(1);
  return number(minor) && text.empty();
}

static Status versionMismatch(const PackageImage &image) {
  return makeStatus(StatusCode::failedPrecondition,
                    "the package was made for ABI version %" PRIu32 ".%" PRIu32
                    ", but this runtime has version %d.%d; compile it again, "
                    "or use a matching runtime",
                    image.abiMajor, image.abiMinor, IRISRT_ABI_VERSION_MAJOR,
                    IRISRT_ABI_VERSION_MINOR);
}

/// Reads the ABI version of an image; fails unless its major version is this
/// runtime's, because other versions may have any format.
static Status readVersion(std::string_view text, PackageImage &image) {
  if (!parseVersion(text, image.abiMajor, image.abiMinor))
    return makeStatus(StatusCode::invalidArgument,
                      "'%.*s' is not an ABI version; expected major.minor",
                      static_cast<int>(text.size()), text.data());
  if (image.abiMajor == IRISRT_ABI_VERSION_MAJOR)
    return Status::success();
  return versionMismatch(image);
}

static bool isElf(const uint8_t *data, size_t size) {
  constexpr uint8_t magic[4] = {0x7f, 'E', 'L', 'F'};
  return size >= sizeof(magic) && std::memcmp(data, magic, sizeof(magic)) == 0;
}

/// Checks that the container's image and offload kinds match the target. The
/// hash does not cover them.
static Status checkKinds(const ContainerEntry &entry, std::string_view arch) {
  bool amd = arch.substr(0, 3) == "gfx";
  bool nvidia = arch.substr(0, 3) == "sm_";
  bool elf = isElf(entry.image, entry.imageSize);
  uint16_t producer = amd ? producerHip : nvidia ? producerCuda : producerNone;
  uint16_t image = !nvidia ? imageObject : elf ? imageCubin : imagePtx;
  if (entry.imageKind == image && entry.offloadKind == producer)
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "package entry at byte %zu: image kind %u of producer %u "
                    "does not match target %s; expected %u and %u",
                    entry.offset, entry.imageKind, entry.offloadKind,
                    std::string(arch).c_str(), image, producer);
}

/// Checks the strings of one entry and reads its metadata.
static Expected<PackageImage> readImage(const ContainerEntry &entry) {
  PackageImage image;
  image.data = entry.image;
  image.size = entry.imageSize;

  IRISRT_ASSIGN_OR_RETURN(std::string_view abi, entry.string(IRISRT_KEY_ABI));
  IRISRT_RETURN_IF_ERROR(readVersion(abi, image));

  // Check the hash before all other fields, so that a damaged package is
  // reported as such.
  IRISRT_ASSIGN_OR_RETURN(std::string_view hash, entry.string(IRISRT_KEY_HASH));
  std::string computed = computeEntryHash(entry);
  if (hash != computed)
    return makeStatus(StatusCode::invalidArgument,
                      "package entry at byte %zu is damaged: its hash is %s, "
                      "but it should be '%.*s'",
                      entry.offset, computed.c_str(),
                      static_cast<int>(hash.size()), hash.data());
  if (image.abiMinor > IRISRT_ABI_VERSION_MINOR)
    return versionMismatch(image);

  IRISRT_ASSIGN_OR_RETURN(image.triple, entry.string("triple"));
  IRISRT_ASSIGN_OR_RETURN(image.arch, entry.string("arch"));
  if (image.arch.empty())
    return Status(StatusCode::invalidArgument, "an image has no target");
  if (image.size == 0)
    return makeStatus(StatusCode::invalidArgument, "the image for %s is empty",
                      std::string(image.arch).c_str());
  IRISRT_RETURN_IF_ERROR(checkKinds(entry, image.arch));
  if (image.isMain())
    return image;

  IRISRT_ASSIGN_OR_RETURN(image.translation,
                          entry.string(IRISRT_KEY_TRANSLATION));
  if (image.translation != "stride" && image.translation != "table")
    return makeStatus(StatusCode::invalidArgument,
                      "unknown translation '%.*s'; expected stride or table",
                      static_cast<int>(image.translation.size()),
                      image.translation.data());
  IRISRT_ASSIGN_OR_RETURN(std::string_view meta, entry.string(IRISRT_KEY_META));
  Expected<std::vector<KernelInfo>> kernels = parseMetadata(meta);
  if (!kernels.ok())
    return kernels.status().withContext("the image for " +
                                        std::string(image.arch));
  image.kernels = kernels.take();
  // Kernels of earlier versions find at most 8 members in the context.
  constexpr uint32_t largeGroupsSince = 6;
  if (image.abiMinor >= largeGroupsSince)
    for (KernelInfo &kernel : image.kernels)
      if (kernel.groupSize != 0u)
        kernel.maxGroup = IRISRT_MAX_GROUP;
  return image;
}

Expected<const KernelInfo *>
PackageImage::findKernel(std::string_view name) const {
  const KernelInfo *found = nullptr;
  for (const KernelInfo &kernel : kernels) {
    if (kernel.fullName() == name)
      return &kernel;
    if (kernel.name != name)
      continue;
    if (found)
      return makeStatus(StatusCode::invalidArgument,
                        "kernel '%s' is in several modules; use %s or %s",
                        kernel.name.c_str(), found->fullName().c_str(),
                        kernel.fullName().c_str());
    found = &kernel;
  }
  if (found)
    return found;
  std::string list;
  for (const KernelInfo &kernel : kernels)
    list += (list.empty() ? "" : ", ") + kernel.fullName();
  return makeStatus(StatusCode::invalidArgument,
                    "the package has no kernel '%.*s'; it has %s",
                    static_cast<int>(name.size()), name.data(),
                    list.empty() ? "none" : list.c_str());
}

Expected<Package> Package::parse(std::shared_ptr<const uint64_t[]> words,
                                 size_t size) {
  auto *bytes = reinterpret_cast<const uint8_t *>(words.get());
  IRISRT_ASSIGN_OR_RETURN(std::vector<ContainerEntry> entries,
                          parseContainer(bytes, size));
  auto images = std::make_shared<std::vector<PackageImage>>();
  for (const ContainerEntry &entry : entries) {
    IRISRT_ASSIGN_OR_RETURN(PackageImage image, readImage(entry));
    for (const PackageImage &other : *images)
      if (other.arch == image.arch && other.translation == image.translation)
        return makeStatus(StatusCode::invalidArgument,
                          "the package has two images for %s",
                          std::string(image.arch).c_str());
    images->push_back(std::move(image));
  }
  Package package;
  package.words_ = std::move(words);
  package.size_ = size;
  package.images_ = std::move(images);
  return package;
}

/// Allocates `size` bytes as 64-bit words; nullptr on failure.
static std::shared_ptr<uint64_t[]> allocateWords(uint64_t size) {
  return std::shared_ptr<uint64_t[]>(new (std::nothrow) uint64_t[size / 8 + 1]);
}

static Status checkSize(uint64_t size) {
  if (size <= Package::maxBytes)
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "the package has %" PRIu64 " bytes; at most %" PRIu64
                    " are allowed",
                    size, Package::maxBytes);
}

Expected<Package> Package::fromBytes(const void *bytes, size_t size) {
  IRISRT_RETURN_IF_ERROR(checkSize(size));
  std::shared_ptr<uint64_t[]> words = allocateWords(size);
  if (!words)
    return Status(StatusCode::outOfMemory, "no memory for the package");
  if (size)
    std::memcpy(words.get(), bytes, size);
  return parse(std::move(words), size);
}

Expected<Package> Package::fromFile(const std::string &path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::invalidArgument, errno,
                           "cannot open package '%s'", path.c_str());
  struct stat info;
  if (::fstat(fd.get(), &info) != 0)
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot examine package '%s'", path.c_str());
  if (!S_ISREG(info.st_mode))
    return makeStatus(StatusCode::invalidArgument,
                      "package '%s' is not a regular file", path.c_str());
  uint64_t size = static_cast<uint64_t>(info.st_size);
  IRISRT_RETURN_IF_ERROR(checkSize(size).withContext(path));
  std::shared_ptr<uint64_t[]> words = allocateWords(size);
  if (!words)
    return makeStatus(StatusCode::outOfMemory, "no memory for package '%s'",
                      path.c_str());
  auto *bytes = reinterpret_cast<char *>(words.get());
  for (uint64_t done = 0; done < size;) {
    ssize_t got = ::read(fd.get(), bytes + done, size - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return makeErrnoStatus(StatusCode::internal, errno,
                             "cannot read package '%s'", path.c_str());
    if (got == 0)
      return makeStatus(StatusCode::invalidArgument,
                        "package '%s' shrank while it was read", path.c_str());
    done += static_cast<uint64_t>(got);
  }
  Expected<Package> package = parse(std::move(words), size);
  if (!package.ok())
    return package.status().withContext("package '" + path + "'");
  return package;
}

/// The number of "sm_90" or "sm_90a"; 0 for other targets. Sets `oneOnly` if
/// there is a suffix, which restricts code to one architecture.
static unsigned parseSm(std::string_view target, bool &oneOnly) {
  if (target.substr(0, 3) != "sm_")
    return 0;
  unsigned number = 0;
  size_t at = 3;
  for (; at < target.size() && at < 7 && isdigit(target[at]); ++at)
    number = number * 10 + (target[at] - '0');
  oneOnly = at < target.size();
  return number;
}

/// Ranks how well code for another NVIDIA target serves a device; 0: not at
/// all. PTX runs on all later devices, and machine code on later ones of the
/// same major version, except for targets with a suffix.
static unsigned rankSm(const PackageImage &image, std::string_view target) {
  bool imageOneOnly = false, targetOneOnly = false;
  unsigned have = parseSm(image.arch, imageOneOnly);
  unsigned device = parseSm(target, targetOneOnly);
  if (have == 0 || device == 0 || imageOneOnly || have > device)
    return 0;
  return isElf(image.data, image.size) && have / 10 != device / 10 ? 0 : have;
}

Expected<const PackageImage *>
Package::findImage(std::string_view target,
                   std::string_view translation) const {
  const PackageImage *best = nullptr;
  std::string list;
  for (const PackageImage &image : *images_) {
    if (image.isMain())
      continue;
    list += list.empty() ? "" : ", ";
    list +=
        std::string(image.arch) + " (" + std::string(image.translation) + ")";
    if (image.translation != translation)
      continue;
    if (image.arch == target)
      return &image;
    if (rankSm(image, target) > (best ? rankSm(*best, target) : 0))
      best = &image;
  }
  if (best)
    return best;
  return makeStatus(StatusCode::failedPrecondition,
                    "the package has no image for this device: it has %s; this "
                    "device is %.*s and needs translation by %.*s",
                    list.empty() ? "no kernels" : list.c_str(),
                    static_cast<int>(target.size()), target.data(),
                    static_cast<int>(translation.size()), translation.data());
}

const PackageImage *Package::findMain() const {
  for (const PackageImage &image : *images_)
    if (image.isMain())
      return &image;
  return nullptr;
}

bool Package::operator==(const Package &other) const {
  if (size_ != other.size_)
    return false;
  return words_ == other.words_ ||
         std::memcmp(words_.get(), other.words_.get(), size_) == 0;
}
