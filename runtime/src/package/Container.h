// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Container.h - Reader of LLVM's OffloadBinary -------------*- C++ -*-===//
//
// The container of a package is LLVM's OffloadBinary, version 1, which is read
// without LLVM. An entry consists of a header, the entry record, a table of key
// and value offsets, the null-terminated strings, and the image. All offsets
// are relative to the start of the entry; all numbers are little endian.
#ifndef IRIS_RT_PACKAGE_CONTAINER_H
#define IRIS_RT_PACKAGE_CONTAINER_H

#include "iris/rt/Status.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace iris::rt {

/// The values of LLVM's ImageKind and OffloadKind that packages use.
enum : uint16_t { imageObject = 1, imageCubin = 3, imagePtx = 5 };
enum : uint16_t { producerNone = 0, producerCuda = 2, producerHip = 4 };

/// One entry; the views point into the parsed buffer.
struct ContainerEntry {
  uint16_t imageKind = 0;
  uint16_t offloadKind = 0;
  std::map<std::string_view, std::string_view> strings;
  const uint8_t *image = nullptr;
  size_t imageSize = 0;
  /// The offset of the entry in the buffer, for messages.
  size_t offset = 0;

  /// The string with the given key; the error names a missing key.
  Expected<std::string_view> string(std::string_view key) const;
};

/// Splits a buffer into its entries. Unused bytes must be zero, so that any
/// damage is detected.
Expected<std::vector<ContainerEntry>> parseContainer(const uint8_t *data,
                                                     size_t size);

/// The expected `iris.hash` of an entry: 16 lower-case hex digits.
std::string computeEntryHash(const ContainerEntry &entry);

} // namespace iris::rt

#endif // IRIS_RT_PACKAGE_CONTAINER_H
