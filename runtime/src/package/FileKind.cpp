// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FileKind.cpp - What a file is that is no package -------------------===//
#include "package/FileKind.h"

#include "iris/Text/EscapeControls.h"

#include <cstdint>
#include <elf.h>

namespace iris::rt {

static bool startsWith(std::string_view bytes, std::string_view prefix) {
  return bytes.substr(0, prefix.size()) == prefix;
}

/// The image of an ELF file, by its machine, 16 bits at byte 18.
static const char *describeElf(std::string_view bytes) {
  constexpr size_t at = 18;
  if (bytes.size() < at + 2)
    return "a truncated ELF file";
  switch (static_cast<uint8_t>(bytes[at]) | static_cast<uint8_t>(bytes[at + 1])
                                                << 8) {
  case EM_AMDGPU:
    return "an AMD code object (HSACO)";
  case EM_CUDA:
    return "a cubin";
  default:
    return "an object or program of a CPU";
  }
}

/// Whether all of the first bytes are printable.
static bool isText(std::string_view bytes) {
  bytes = bytes.substr(0, 4096);
  // A character may be cut off at the end.
  constexpr size_t longestCharacter = 4;
  for (size_t at = 0; at < bytes.size();) {
    size_t length = iristext::printableBytes(bytes, at);
    if (length == 0 && bytes[at] != '\r' && bytes[at] != '\f')
      return at + longestCharacter > bytes.size() && at > 0;
    at += length ? length : 1;
  }
  return true;
}

static bool isPTX(std::string_view text) {
  return text.find(".version") != text.npos &&
         text.find(".target") != text.npos;
}

std::string describeFile(std::string_view bytes) {
  constexpr const char *bareImage =
      "; a bare image has no metadata and no @main, and loads with "
      "hipModuleLoad, cuModuleLoad or dlopen";
  if (startsWith(bytes, ELFMAG))
    return describeElf(bytes) + std::string(bareImage);
  if (startsWith(bytes, "ML\xefR"))
    return "MLIR bytecode; iris-compile makes packages from it";
  if (isText(bytes) && isPTX(bytes))
    return std::string("PTX") + bareImage;
  if (isText(bytes))
    return "text; if it is MLIR, its name must end in .mlir for iris-run";
  return "data that do not start with the bytes 10 ff 10 ad";
}

} // namespace iris::rt
