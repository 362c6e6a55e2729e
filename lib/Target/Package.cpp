// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Target/Package.h"

#include "iris-c/RuntimeABI.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include <map>

using namespace mlir::iris;
namespace object = llvm::object;

/// Hash over all data that the runtime reads: every string, in byte order of
/// the keys, then the image.
static std::string
computeHash(const std::map<std::string, std::string> &strings,
            llvm::ArrayRef<char> image) {
  llvm::SmallVector<uint8_t, 0> bytes;
  auto append = [&](const std::string &text) {
    bytes.append(text.begin(), text.end());
    bytes.push_back(0);
  };
  for (const auto &[key, value] : strings) {
    append(key);
    append(value);
  }
  bytes.append(image.begin(), image.end());
  return llvm::formatv("{0:x-16}", llvm::xxh3_64bits(bytes));
}

static object::OffloadKind getOffloadKind(TargetKind kind) {
  switch (kind) {
  case TargetKind::AMDGPU:
    return object::OFK_HIP;
  case TargetKind::NVPTX:
    return object::OFK_Cuda;
  case TargetKind::Host:
    return object::OFK_None;
  }
  llvm_unreachable("unknown kind of target");
}

llvm::SmallString<0> mlir::iris::serializeEntry(const PackageEntry &entry) {
  std::map<std::string, std::string> strings = {
      {"triple", entry.triple.str()},
      {"arch", entry.arch.str()},
      {IRISRT_KEY_ABI, llvm::formatv("{0}.{1}", IRISRT_ABI_VERSION_MAJOR,
                                     IRISRT_ABI_VERSION_MINOR)}};
  if (!entry.translation.empty())
    strings[IRISRT_KEY_TRANSLATION] = entry.translation;
  if (!entry.meta.empty())
    strings[IRISRT_KEY_META] = entry.meta;
  strings[IRISRT_KEY_HASH] = computeHash(strings, entry.image.bytes);

  object::OffloadBinary::OffloadingImage image;
  image.TheImageKind = entry.image.kind;
  image.TheOffloadKind = getOffloadKind(entry.kind);
  for (const auto &[key, value] : strings)
    image.StringData[key] = value;
  image.Image = llvm::MemoryBuffer::getMemBuffer(
      llvm::StringRef(entry.image.bytes.data(), entry.image.bytes.size()),
      /*BufferName=*/"", /*RequiresNullTerminator=*/false);
  return object::OffloadBinary::write(image);
}
