// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes packages for tests: OffloadBinary (version 1) entries with the strings
// of RuntimeABI.h. The compiler has the real writer; with this one the
// runtime's tests need no LLVM, and can also write invalid packages.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_PACKAGEWRITER_H
#define IRIS_TEST_RUNTIME_SUPPORT_PACKAGEWRITER_H

#include "iris-c/RuntimeABI.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

namespace iris::rt::test {

/// Image and producer kinds of OffloadBinary that Iris' packages use.
enum : uint16_t { imageObject = 1, imageCubin = 3, imagePtx = 5 };
enum : uint16_t { offloadNone = 0, offloadCuda = 2, offloadHip = 4 };

/// One entry of a package, before it is written.
struct EntrySpec {
  uint16_t imageKind = imageObject;
  uint16_t offloadKind = offloadNone;
  uint32_t flags = 0;
  /// Everything but `iris.hash`, which `writeEntry` adds.
  std::map<std::string, std::string> strings;
  std::string image;
  bool addHash = true;
};

/// The `iris.hash` string of an entry: 16 lower-case hex digits.
inline std::string hashOf(const EntrySpec &spec) {
  std::string bytes;
  for (const auto &[key, value] : spec.strings) { // std::map: byte order
    if (key == IRISRT_KEY_HASH)
      continue;
    bytes.append(key).push_back('\0');
    bytes.append(value).push_back('\0');
  }
  bytes += spec.image;
  char text[17];
  std::snprintf(
      text, sizeof(text), "%016llx",
      static_cast<unsigned long long>(XXH3_64bits(bytes.data(), bytes.size())));
  return text;
}

/// The bytes of one entry. A package is a concatenation of entries.
inline std::string writeEntry(EntrySpec spec) {
  if (spec.addHash)
    spec.strings[IRISRT_KEY_HASH] = hashOf(spec);

  constexpr uint64_t headerSize = 32, entrySize = 40, stringSize = 16;
  const uint64_t tableAt = headerSize + entrySize;
  const uint64_t textAt = tableAt + stringSize * spec.strings.size();
  std::string text(1, '\0'); // LLVM's string tables start with a null byte
  std::string table;
  auto put = [](std::string &out, auto value) {
    out.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  for (const auto &[key, value] : spec.strings) {
    put(table, uint64_t(textAt + text.size()));
    text.append(key).push_back('\0');
    put(table, uint64_t(textAt + text.size()));
    text.append(value).push_back('\0');
  }
  auto align8 = [](uint64_t n) { return (n + 7) / 8 * 8; };
  const uint64_t imageAt = align8(textAt + text.size());
  const uint64_t size = align8(imageAt + spec.image.size());

  std::string out("\x10\xff\x10\xad", 4);
  put(out, uint32_t(1)); // version
  put(out, size);
  put(out, headerSize);
  put(out, entrySize);
  put(out, spec.imageKind);
  put(out, spec.offloadKind);
  put(out, spec.flags);
  put(out, tableAt);
  put(out, uint64_t(spec.strings.size()));
  put(out, imageAt);
  put(out, uint64_t(spec.image.size()));
  out += table;
  out += text;
  out.resize(imageAt, '\0');
  out += spec.image;
  out.resize(size, '\0');
  return out;
}

/// "major.minor" of this tree's ABI.
inline std::string abiVersion() {
  return std::to_string(IRISRT_ABI_VERSION_MAJOR) + "." +
         std::to_string(IRISRT_ABI_VERSION_MINOR);
}

/// An image of kernels for `arch` ("host", "gfx942", "sm_90a", ...) with the
/// metadata `meta` (JSON, see RuntimeABI.h).
inline EntrySpec kernelEntry(const std::string &arch, const std::string &meta,
                             const std::string &image,
                             const std::string &translation = "stride") {
  EntrySpec spec;
  bool amd = arch.compare(0, 3, "gfx") == 0;
  bool nvidia = arch.compare(0, 3, "sm_") == 0;
  bool elf = image.compare(0, 4,
                           "\x7f"
                           "ELF") == 0;
  spec.offloadKind = amd ? offloadHip : nvidia ? offloadCuda : offloadNone;
  spec.imageKind = !nvidia ? imageObject : elf ? imageCubin : imagePtx;
  spec.strings["triple"] = amd      ? "amdgcn-amd-amdhsa"
                           : nvidia ? "nvptx64-nvidia-cuda"
                                    : "x86_64-unknown-linux-gnu";
  spec.strings["arch"] = arch;
  spec.strings[IRISRT_KEY_ABI] = abiVersion();
  spec.strings[IRISRT_KEY_TRANSLATION] = translation;
  spec.strings[IRISRT_KEY_META] = meta;
  spec.image = image;
  return spec;
}

/// The `@main` program of a package: a shared object that exports
/// IRISRT_SYM_MAIN.
inline EntrySpec mainEntry(const std::string &image) {
  EntrySpec spec;
  spec.strings["triple"] = "x86_64-unknown-linux-gnu";
  spec.strings["arch"] = IRISRT_ARCH_MAIN;
  spec.strings[IRISRT_KEY_ABI] = abiVersion();
  spec.image = image;
  return spec;
}

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_PACKAGEWRITER_H
